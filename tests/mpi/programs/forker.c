/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* forker FILE: an MPI program whose rank 0 forks children that write and run a shell. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(const char *path, int number)
{
    char name[1024];
    snprintf(name, sizeof name, "%s.child%d", path, number);
    FILE *file = fopen(name, "w");
    fprintf(file, "child %d\n", number);
    return fclose(file);
}

int main(int argc, char **argv)
{
    MPI_File file;
    int rank, status = 0, all = 0;
    char data[4096] = {1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    for (int i = 0; rank == 0 && i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(argv[1], i));
        waitpid(pid, &status, 0);
        all |= status;
    }
    if (rank == 0)
        all |= system("true");
    MPI_File_write_at(file, rank * (MPI_Offset)sizeof data, data, sizeof data, MPI_BYTE,
                      MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return all;
}
