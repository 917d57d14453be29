/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * lowered FILE: three writes and a read with a datatype that begins 100 bytes behind the buffer's
 * address, through a view with such a filetype.
 */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    const int bytes[] = {40, 40, 40};
    const MPI_Aint places[] = {100, 180, 260};
    static char out[512];
    static char in[512];
    MPI_Datatype type;
    MPI_Request request;
    MPI_File file;
    MPI_Init(&argc, &argv);
    memset(out, 'x', sizeof out);
    MPI_Type_create_hindexed(3, bytes, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, out, 2, type, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, 240, out, 2, type, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 480, out, 2, type, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, in, 2, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Finalize();
    return in[100] == 'x' && in[99] == 0 && in[499] == 'x' && in[140] == 0 ? 0 : 1;
}
