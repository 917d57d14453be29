/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Data1 and Data2, 24 x 24 of 32-bit integers each, rows dealt out in blocks: h5two FILE.
 */
#include <hdf5.h>
#include <mpi.h>

#define SIDE 24

static void write_one(hid_t file, const char *name, int rank, int n_ranks)
{
    hsize_t whole[2] = {SIDE, SIDE};
    hsize_t start[2] = {(hsize_t)(rank * SIDE / n_ranks), 0};
    hsize_t count[2] = {(hsize_t)(SIDE / n_ranks), SIDE};
    int data[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i] = rank + 1;
    hid_t space = H5Screate_simple(2, whole, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t set =
        H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    int rank, n_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    write_one(file, "Data1", rank, n_ranks);
    write_one(file, "Data2", rank, n_ranks);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
