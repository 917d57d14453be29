/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * together: files of all ranks, of some and of one; a file that is made by rank 0, read by
 * all and removed; one that was there before (`input`).  Needs two ranks or more.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void write_together(MPI_Comm comm, const char *path, int times)
{
    MPI_File file;
    char data[600] = {0};
    int place;
    MPI_Comm_rank(comm, &place);
    check(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS,
          path);
    for (int i = 0; i < times; i++)
        check(MPI_File_write_at_all(file, (i * size + place) * (int)sizeof data, data,
                                    (int)sizeof data, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
              path);
    check(MPI_File_close(&file) == MPI_SUCCESS, path);
}

static void by_one_for_all(void)
{
    char line[64];
    if (rank == 0) {
        FILE *stream = fopen("table.txt", "w");
        check(stream != NULL, "fopen");
        for (int i = 0; i < 200; i++)
            fprintf(stream, "%d of 200\n", i);
        check(fclose(stream) == 0, "fclose");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open("table.txt", O_RDONLY);
    check(fd >= 0 && read(fd, line, sizeof line) == (ssize_t)sizeof line, "read");
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        check(unlink("table.txt") == 0, "unlink");
}

static void from_before(void)
{
    char data[1000];
    int fd = open("input", O_RDONLY);
    check(fd >= 0, "input");
    for (int i = 0; i < 8; i++)
        check(pread(fd, data, sizeof data, 4096L * (i + rank)) == (ssize_t)sizeof data, "pread");
    close(fd);
}

int main(int argc, char **argv)
{
    char own[32];
    MPI_Comm most;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    from_before();
    write_together(MPI_COMM_WORLD, "all.dat", 3);
    snprintf(own, sizeof own, "own.%d", rank);
    write_together(MPI_COMM_SELF, own, 1 + rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &most);
    write_together(most, rank > 0 ? "most.dat" : "first.dat", 2);
    MPI_Comm_free(&most);
    by_one_for_all();
    MPI_Finalize();
    return 0;
}
