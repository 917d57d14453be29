/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5errors FILE: calls that fail, with every way of reporting: printed automatically, through
 * a function of version 1 and of version 2, and walked by hand.  What reaches standard error
 * must not depend on who listens.
 */
#include <hdf5.h>
#include <stdio.h>

static herr_t told_1(void *data)
{
    fprintf(stderr, "version 1: %s\n", (const char *)data);
    return 0;
}

static herr_t told_2(hid_t stack, void *data)
{
    fprintf(stderr, "version 2: %s, %d entries\n", (const char *)data, (int)H5Eget_num(stack));
    return 0;
}

static herr_t walk(unsigned n, const H5E_error2_t *error, void *data)
{
    (void)data;
    fprintf(stderr, "%u %s: %s\n", n, error->func_name, error->desc);
    return 0;
}

static void failing_calls(const char *path)
{
    hsize_t extent[1] = {8};
    double data[8] = {0};
    hid_t space = H5Screate_simple(1, extent, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t set =
        H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Fopen("there/is/no/such.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Fcreate("there/is/no/such.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dopen2(file, "nothing", H5P_DEFAULT);
    H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dcreate2(file, NULL, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, -1, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dwrite(-5, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dread(file, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Gclose(set);
    H5Dclose(space);
    H5Fclose(set);
    H5Dclose(set);
    H5Fclose(file);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    H5E_auto2_t usual;
    void *usual_data;
    if (argc < 2)
        return 2;
    H5Eget_auto2(H5E_DEFAULT, &usual, &usual_data);
    failing_calls(argv[1]);
    H5Eset_auto2(H5E_DEFAULT, told_2, "two");
    failing_calls(argv[1]);
    H5Eset_auto1(told_1, "one");
    failing_calls(argv[1]);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    failing_calls(argv[1]);
    H5Fopen("there/is/no/such.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, walk, NULL);
    H5Eset_auto2(H5E_DEFAULT, usual, usual_data);
    H5Fopen("there/is/no/such.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    return 0;
}
