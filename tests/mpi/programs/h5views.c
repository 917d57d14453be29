/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5views FILE STEPS: a collective write of a column, 70000 pieces; such writes of two half rows,
 * at another place in each step, so that HDF5 sets a new file view each time; at the end an
 * independent one.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdlib.h>

#define COLUMNS 16
#define ROWS 70000

static hid_t set, in_file, collective;

static int write_part(hid_t list, const hsize_t *start, const hsize_t *count, const int *data)
{
    hsize_t n = count[0] * count[1];
    hid_t memory = H5Screate_simple(1, &n, NULL);
    int failed = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                 H5Dwrite(set, H5T_NATIVE_INT, memory, in_file, list, data) < 0;
    H5Sclose(memory);
    return failed;
}

int main(int argc, char **argv)
{
    hsize_t extents[2] = {ROWS, COLUMNS};
    int rank, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *data = calloc(ROWS, sizeof *data);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    in_file = H5Screate_simple(2, extents, NULL);
    set = H5Dcreate2(file, "data", H5T_NATIVE_INT, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    collective = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
    failed |= write_part(collective, (hsize_t[]){0, (hsize_t)rank}, (hsize_t[]){ROWS, 1}, data);
    for (int step = 0; step < atoi(argv[2]); step++)
        failed |= write_part(collective, (hsize_t[]){(hsize_t)step, (hsize_t)rank * COLUMNS / 2},
                             (hsize_t[]){2, COLUMNS / 2}, data);
    failed |= write_part(H5P_DEFAULT, (hsize_t[]){(hsize_t)rank, 0}, (hsize_t[]){1, 4}, data);
    H5Pclose(collective);
    H5Dclose(set);
    H5Sclose(in_file);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    free(data);
    return failed;
}
