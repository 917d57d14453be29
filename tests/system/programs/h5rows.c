/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* h5rows FILE: two datasets of 64 x 1024 doubles, rows divided over the ranks, collectively. */
#include <hdf5.h>
#include <mpi.h>
#include <stdlib.h>

#define ROWS 64
#define COLUMNS 1024

static hid_t check(hid_t id)
{
    if (id < 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return id;
}

static void write_one(hid_t file, const char *name, const double *data, int rank, int size)
{
    hsize_t all[2] = {ROWS, COLUMNS};
    hsize_t mine[2] = {ROWS / size, COLUMNS};
    hsize_t start[2] = {rank * mine[0], 0};
    hid_t space = check(H5Screate_simple(2, all, NULL));
    hid_t memory = check(H5Screate_simple(2, mine, NULL));
    hid_t transfer = check(H5Pcreate(H5P_DATASET_XFER));
    hid_t set = check(
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, mine, NULL));
    check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data));
    H5Dclose(set);
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *data = malloc(sizeof(double) * ROWS / size * COLUMNS);
    for (int i = 0; i < ROWS / size * COLUMNS; i++)
        data[i] = rank * 1e6 + i;
    hid_t access = check(H5Pcreate(H5P_FILE_ACCESS));
    check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    hid_t file = check(H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access));
    write_one(file, "a", data, rank, size);
    write_one(file, "b", data, rank, size);
    H5Fclose(file);
    H5Pclose(access);
    free(data);
    MPI_Finalize();
    return 0;
}
