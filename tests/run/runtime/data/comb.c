/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes a comb of 4 KiB pieces into shared.dat, collectively. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File file;
    MPI_Datatype comb;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "write_once");
    int bytes = 4096, pieces = 256;
    char *data = malloc((size_t)bytes * pieces);
    memset(data, rank + 1, (size_t)bytes * pieces);
    MPI_Type_vector(pieces, bytes, bytes * size, MPI_BYTE, &comb);
    MPI_Type_commit(&comb);
    MPI_File_open(MPI_COMM_WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
    MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, comb, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, bytes * pieces, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
