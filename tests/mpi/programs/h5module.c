/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A library that writes and reads a file with the HDF5 that it is linked with; in the
 * middle of that it calls `between`. */
#include <hdf5.h>

int (*between)(void);

int write_file(const char *path)
{
    hsize_t extent[1] = {100};
    double data[100] = {1.0};
    hid_t space = H5Screate_simple(1, extent, NULL);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t set =
        H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (between != NULL && between() != 0)
        return 1;
    herr_t status = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Pclose(access);
    H5Sclose(space);
    return H5Fclose(file) < 0 || status < 0;
}
