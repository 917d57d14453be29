/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5order FILE MODE: ranks write interleaved rows of one dataset with independent transfers.
 *
 * matched   all ranks call alike
 * uneven    rank 0 alone writes
 * chained   each rank waits for the one before it, and writes: the numbers of calls are the
 *           same on all ranks, but forced collective transfer deadlocks
 */
#include <hdf5.h>
#include <mpi.h>
#include <string.h>

#define ROWS 128
#define COLUMNS 2048

static int rows[COLUMNS];

static void write_rows(hid_t dataset, hid_t file_space, int rank, int size)
{
    hsize_t count[2] = {1, COLUMNS};
    hid_t memory = H5Screate_simple(2, count, NULL);
    for (int row = rank; row < ROWS; row += size) {
        for (int i = 0; i < COLUMNS; i++)
            rows[i] = row * COLUMNS + i;
        hsize_t start[2] = {(hsize_t)row, 0};
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL);
        H5Dwrite(dataset, H5T_NATIVE_INT, memory, file_space, H5P_DEFAULT, rows);
    }
    H5Sclose(memory);
}

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t shape[2] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, shape, NULL);
    hid_t dataset =
        H5Dcreate2(file, "/rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (strcmp(argv[2], "uneven") == 0) {
        if (rank == 0)
            write_rows(dataset, space, 0, 1);
    } else if (strcmp(argv[2], "chained") == 0) {
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        write_rows(dataset, space, rank, size);
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    } else {
        write_rows(dataset, space, rank, size);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(access);
    H5Fclose(file);
    MPI_Finalize();
    return 0;
}
