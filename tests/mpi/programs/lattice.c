/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* lattice ELEMENTS STRIDE LENGTH COLLECTIVE [--hint KEY=VALUE]...: each rank has ELEMENTS
 * successive doubles of data.dat, and writes LENGTH of every STRIDE of them in one call through a
 * view. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Info info;
    MPI_File file;
    MPI_Datatype pieces, view;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int elements = atoi(argv[1]), stride = atoi(argv[2]), length = atoi(argv[3]);
    int count = elements / stride;
    MPI_Info_create(&info);
    for (int i = 6; i < argc; i += 2) {
        char *equals = strchr(argv[i], '=');
        *equals = '\0';
        MPI_Info_set(info, argv[i], equals + 1);
    }
    MPI_File_open(MPI_COMM_WORLD, "data.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Type_vector(count, length, stride, MPI_DOUBLE, &pieces);
    MPI_Type_create_resized(pieces, 0, (MPI_Aint)elements * ranks * 8, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)rank * elements * 8, MPI_DOUBLE, view, "native",
                      MPI_INFO_NULL);
    double *data = calloc((size_t)count * (size_t)length, sizeof *data);
    if (atoi(argv[4]))
        MPI_File_write_at_all(file, 0, data, count * length, MPI_DOUBLE, MPI_STATUS_IGNORE);
    else
        MPI_File_write_at(file, 0, data, count * length, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Info_free(&info);
    MPI_Type_free(&pieces);
    MPI_Type_free(&view);
    free(data);
    MPI_Finalize();
    return 0;
}
