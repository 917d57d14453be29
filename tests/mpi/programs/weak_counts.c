/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Asks by weak references whether this MPI has large counts, as mpi4py's wheels do, and uses them
 * if they are there: weak_counts FILE.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define BYTES 4096

#pragma weak MPI_File_write_all_c
#pragma weak MPI_File_write_at_c
#pragma weak MPI_File_iwrite_at_c
#pragma weak MPI_File_write_at_all_begin_c
#if MPI_VERSION < 4
int MPI_File_write_all_c(MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Status *);
int MPI_File_write_at_c(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *);
int MPI_File_iwrite_at_c(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype,
                         MPI_Request *);
int MPI_File_write_at_all_begin_c(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype);
#endif

static int write_all(MPI_File file, const char *data)
{
    if (MPI_File_write_all_c)
        return MPI_File_write_all_c(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    return MPI_File_write_all(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int write_at(MPI_File file, MPI_Offset offset, const char *data)
{
    if (MPI_File_write_at_c)
        return MPI_File_write_at_c(file, offset, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    return MPI_File_write_at(file, offset, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int write_later(MPI_File file, MPI_Offset offset, const char *data)
{
    MPI_Request request;
    int result = MPI_File_iwrite_at_c
                     ? MPI_File_iwrite_at_c(file, offset, data, BYTES, MPI_BYTE, &request)
                     : MPI_File_iwrite_at(file, offset, data, BYTES, MPI_BYTE, &request);
    return result != MPI_SUCCESS ? result : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int write_split(MPI_File file, MPI_Offset offset, const char *data)
{
    int result = MPI_File_write_at_all_begin_c
                     ? MPI_File_write_at_all_begin_c(file, offset, data, BYTES, MPI_BYTE)
                     : MPI_File_write_at_all_begin(file, offset, data, BYTES, MPI_BYTE);
    return result != MPI_SUCCESS ? result
                                 : MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, n_ranks, result;
    char data[BYTES];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    memset(data, 'a' + rank, sizeof data);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Offset row = (MPI_Offset)n_ranks * BYTES, mine = (MPI_Offset)rank * BYTES;
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    result = write_all(file, data);
    result |= write_at(file, row + mine, data);
    result |= write_later(file, 2 * row + mine, data);
    result |= write_split(file, 3 * row + mine, data);
    MPI_File_close(&file);
    if (result != MPI_SUCCESS)
        fprintf(stderr, "rank %d: a write failed\n", rank);
    MPI_Finalize();
    return result != MPI_SUCCESS;
}
