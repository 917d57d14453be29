/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* h5series PREFIX N: writes PREFIX1.h5 to PREFIXN.h5, each one dataset of doubles whose columns
 * are divided over the ranks: pieces of 2048 bytes, by one collective call. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 128
#define COLUMNS 256 /* of one rank */

static double values[ROWS * COLUMNS];

static void write_file(const char *name, int rank, int size)
{
    hsize_t all[2] = {ROWS, (hsize_t)COLUMNS * (hsize_t)size};
    hsize_t start[2] = {0, (hsize_t)COLUMNS * (hsize_t)rank};
    hsize_t count[2] = {ROWS, COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, all, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0); /* equal files are compared */
    hid_t set =
        H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (file < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, values) < 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(transfer);
    H5Pclose(access);
}

int main(int argc, char **argv)
{
    int rank, size;
    char name[200];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = rank + i;
    for (int number = 1; argc > 2 && number <= atoi(argv[2]); number++) {
        snprintf(name, sizeof name, "%s%d.h5", argv[1], number);
        write_file(name, rank, size);
    }
    MPI_Finalize();
    return 0;
}
