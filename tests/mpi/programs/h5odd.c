/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5odd FILE: transfers that a layer could stumble over: nothing, scalars, text of any length,
 * datatypes that grow, extents without bound, identifiers that came by other ways.  After each
 * one HDF5's error stack must be empty, and its handler the program's.
 */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static int mistakes;

static herr_t own_handler(hid_t stack, void *data)
{
    (void)stack;
    fprintf(stderr, "an error was reported: %s\n", (const char *)data);
    mistakes++;
    return 0;
}

static void check(herr_t status, const char *what)
{
    H5E_auto2_t function = NULL;
    void *data = NULL;
    ssize_t entries = H5Eget_num(H5E_DEFAULT);
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    if (status >= 0 && entries == 0 && function == own_handler && strcmp(data, "own") == 0)
        return;
    fprintf(stderr, "%s: status %d, %d errors\n", what, (int)status, (int)entries);
    mistakes++;
}

static hid_t dataset(hid_t file, const char *name, hid_t type, hid_t space, hid_t list)
{
    return H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
}

static void nothing(hid_t file)
{
    hsize_t none[2] = {0, 4}, most[2] = {H5S_UNLIMITED, 4}, chunk[2] = {2, 4};
    int value = 7;
    hid_t null = H5Screate(H5S_NULL), scalar = H5Screate(H5S_SCALAR);
    hid_t empty = H5Screate_simple(2, none, most), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, chunk);
    hid_t a = dataset(file, "null", H5T_NATIVE_INT, null, H5P_DEFAULT);
    hid_t b = dataset(file, "scalar", H5T_NATIVE_INT, scalar, H5P_DEFAULT);
    hid_t c = dataset(file, "empty", H5T_NATIVE_INT, empty, list);
    check(H5Dwrite(a, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "null");
    check(H5Dwrite(b, H5T_NATIVE_INT, scalar, scalar, H5P_DEFAULT, &value), "scalar");
    check(H5Dwrite(b, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "scalar, all");
    check(H5Dwrite(c, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "empty");
    H5Sselect_none(scalar);
    check(H5Dread(b, H5T_NATIVE_INT, scalar, scalar, H5P_DEFAULT, &value), "none of a scalar");
    H5Dclose(a);
    H5Dclose(b);
    H5Dclose(c);
    H5Pclose(list);
    H5Sclose(null);
    H5Sclose(scalar);
    H5Sclose(empty);
}

static void growing_types(hid_t file)
{
    const char *words[2] = {"one", "and two"};
    char fixed[64] = "fixed";
    hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    hid_t text = H5Tcopy(H5T_C_S1), own = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_size(own, 8);
    hid_t a = dataset(file, "text", text, space, H5P_DEFAULT);
    hid_t b = dataset(file, "fixed", own, space, H5P_DEFAULT);
    check(H5Dwrite(a, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, words), "text");
    check(H5Dwrite(b, own, H5S_ALL, H5S_ALL, H5P_DEFAULT, fixed), "eight bytes");
    H5Tset_size(own, 32);
    check(H5Dwrite(b, own, H5S_ALL, H5S_ALL, H5P_DEFAULT, fixed), "32 bytes");
    H5Dclose(a);
    H5Dclose(b);
    H5Tclose(text);
    H5Tclose(own);
    H5Sclose(space);
}

static void by_other_ways(hid_t file)
{
    hsize_t extents[2] = {4, 4}, start[2] = {0, 0}, count[2] = {2, 2}, more[2] = {3, 3};
    hsize_t n = 5, at[4] = {3, 3, 0, 1}, points = 2;
    double data[16] = {0};
    hid_t space = H5Screate_simple(2, extents, NULL), memory = H5Screate_simple(1, &n, NULL);
    hid_t few = H5Screate_simple(1, &points, NULL);
    H5Dclose(dataset(file, "square", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT));
    hid_t set = H5Oopen(file, "square", H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, more, NULL, (hsize_t[]){1, 1}, NULL);
    check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data), "irregular");
    H5Sselect_elements(space, H5S_SELECT_SET, 2, at);
    check(H5Dwrite(set, H5T_NATIVE_DOUBLE, few, space, H5P_DEFAULT, data), "points");
    check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, space, H5P_DEFAULT, data), "memory as in file");
    check(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "converted");
    H5Oclose(set);
    H5Sclose(few);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    char own[] = "own";
    if (argc < 2)
        return 2;
    H5Eset_auto2(H5E_DEFAULT, own_handler, own);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    nothing(file);
    growing_types(file);
    by_other_ways(file);
    H5Fclose(file);
    return mistakes;
}
