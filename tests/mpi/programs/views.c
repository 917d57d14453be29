/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * views FILE: every way in which MPI-IO moves data, once, at known places.  The view after the
 * first calls: from byte 1024 on, pairs of ints, those of the ranks alternate.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void check(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void set_view(MPI_File file)
{
    MPI_Datatype pair, alternating;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 2 * size * (int)sizeof(int), &alternating);
    MPI_Type_commit(&alternating);
    check(MPI_File_set_view(file, 1024 + 2 * rank * (int)sizeof(int), MPI_INT, alternating,
                            "native", MPI_INFO_NULL),
          "set_view");
    MPI_Type_free(&alternating);
    MPI_Type_free(&pair);
}

static void through_the_view(MPI_File file, int *data)
{
    MPI_Request requests[2];
    set_view(file);
    check(MPI_File_write_at_all(file, 40, data, 8, MPI_INT, MPI_STATUS_IGNORE), "write_at_all");
    for (int i = 0; i < 3; i++)
        check(MPI_File_write_all(file, data, 4, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    check(MPI_File_iwrite_at(file, 16, data, 2, MPI_INT, &requests[0]), "iwrite_at");
    check(MPI_File_iwrite(file, data, 6, MPI_INT, &requests[1]), "iwrite");
    check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "waitall");
    check(MPI_File_write_all_begin(file, data, 4, MPI_INT), "begin");
    check(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE), "end");
    set_view(file); /* the same again */
    check(MPI_File_read_at(file, 3, data, 3, MPI_INT, MPI_STATUS_IGNORE), "read_at");
}

int main(int argc, char **argv)
{
    MPI_File file;
    int *data = calloc(64, sizeof *data);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file),
          "open");
    check(MPI_File_set_size(file, 4096), "set_size");
    check(MPI_File_write_at(file, 64 * rank, data, 64, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
    check(MPI_File_seek(file, 256 * (rank + 1), MPI_SEEK_SET), "seek");
    check(MPI_File_write(file, data, 16, MPI_INT, MPI_STATUS_IGNORE), "write");
    check(MPI_File_read(file, data, 8, MPI_INT, MPI_STATUS_IGNORE), "read");
    through_the_view(file, data);
    check(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "bytes");
    check(MPI_File_write_ordered(file, data, 8, MPI_BYTE, MPI_STATUS_IGNORE), "ordered");
    check(MPI_File_write_shared(file, data, 4, MPI_INT, MPI_STATUS_IGNORE), "shared");
    check(MPI_File_sync(file), "sync");
    if (MPI_File_write_at(file, 7, data, -1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return 1;
    check(MPI_File_close(&file), "close");
    MPI_Finalize();
    free(data);
    return 0;
}
