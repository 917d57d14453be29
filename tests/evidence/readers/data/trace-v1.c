/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the golden traces were made of: two ranks, HDF5 collectively, MPI-IO through a comb, POSIX.
 */
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

static void write_dataset(int rank, int size)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate("golden.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t extents[2] = {(hsize_t)size * 8, 6}, block[2] = {8, 6},
            start[2] = {(hsize_t)rank * 8, 0};
    hid_t space = H5Screate_simple(2, extents, NULL), memory = H5Screate_simple(2, block, NULL);
    hid_t data = H5Dcreate2(file, "/values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT);
    double values[48] = {0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL);
    H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, values);
    H5Dclose(data);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(transfer);
    H5Pclose(access);
}

static void write_comb(int rank, int size)
{
    static char data[4 * 16 * 4];
    MPI_Datatype comb;
    MPI_File file;
    MPI_Type_vector(4, 4, 4 * size, MPI_INT, &comb);
    MPI_Type_commit(&comb);
    MPI_File_open(MPI_COMM_WORLD, "comb.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 16 * rank, MPI_INT, comb, "native", MPI_INFO_NULL);
    for (int i = 0; i < 4; i++)
        MPI_File_write_at(file, i * 16, data, 16, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&comb);
}

static void write_own(int rank)
{
    char name[] = "own.0", data[512] = {0};
    name[4] = (char)('0' + rank);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 10; i++)
        if (pwrite(fd, data, sizeof data, i * 1024) != (ssize_t)sizeof data)
            break;
    close(fd);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    write_dataset(rank, size);
    write_comb(rank, size);
    write_own(rank);
    MPI_Finalize();
    return 0;
}
