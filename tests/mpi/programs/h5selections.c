/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5selections FILE: one dataset of 16 x 24 floats, written and read with every kind of selection,
 * an extensible one, a scalar, attributes and groups.  Two ranks.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 16
#define COLUMNS 24

static int rank, size;

static hid_t check(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return id;
}

static hid_t block(hsize_t count)
{
    return check(H5Screate_simple(1, &count, NULL), "memory space");
}

static void add_slab(hid_t space, H5S_seloper_t how, hsize_t row, hsize_t column, hsize_t rows,
                     hsize_t columns)
{
    hsize_t start[2] = {row, column}, count[2] = {1, 1}, part[2] = {rows, columns};
    check(H5Sselect_hyperslab(space, how, start, NULL, count, part), "hyperslab");
}

/* Rows of this rank; every second pair of columns; an L; points; nothing; everything. */
static void choose(hid_t space, int which)
{
    hsize_t start[2] = {(hsize_t)rank * ROWS / 2, 0}, stride[2] = {1, 4}, count[2] = {8, 6};
    hsize_t parts[2] = {1, 2};
    hsize_t points[3][2] = {{9, 3}, {2, (hsize_t)rank}, {15, 23}};
    switch (which) {
    case 0:
        add_slab(space, H5S_SELECT_SET, (hsize_t)rank * 8, 0, 8, COLUMNS);
        break;
    case 1:
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, parts), "strided");
        break;
    case 2:
        add_slab(space, H5S_SELECT_SET, 2, (hsize_t)rank * 12, 3, 2);
        add_slab(space, H5S_SELECT_OR, 7, (hsize_t)rank * 12 + 5, 1, 4);
        break;
    case 3:
        check(H5Sselect_elements(space, H5S_SELECT_SET, 3, &points[0][0]), "points");
        break;
    case 4:
        check(H5Sselect_none(space), "none");
        break;
    default:
        break;
    }
}

static void transfer_all(hid_t dataset, float *data, hid_t list)
{
    for (int which = 0; which <= 5; which++) {
        hid_t space = check(H5Dget_space(dataset), "space");
        choose(space, which);
        hssize_t elements = H5Sget_select_npoints(space);
        hid_t memory = block(elements > 0 ? (hsize_t)elements : 1);
        if (elements == 0)
            H5Sselect_none(memory);
        check(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, list, data), "write");
        check(H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, data), "read");
        H5Sclose(memory);
        H5Sclose(space);
    }
    check(
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, (double *)(void *)data),
        "all");
}

/* Without times, so that two files can be compared. */
static hid_t creation_list(void)
{
    hid_t list = check(H5Pcreate(H5P_DATASET_CREATE), "list");
    check(H5Pset_obj_track_times(list, 0), "times");
    return list;
}

/* Three rows more in every step. */
static void extend(hid_t file, float *data)
{
    hsize_t now[2] = {3, 8}, most[2] = {H5S_UNLIMITED, 8}, chunk[2] = {3, 4};
    hid_t space = H5Screate_simple(2, now, most);
    hid_t list = creation_list();
    H5Pset_chunk(list, 2, chunk);
    hid_t dataset =
        check(H5Dcreate2(file, "growing", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT),
              "growing");
    hid_t memory = block(12);
    for (int step = 0; step < 4; step++) {
        now[0] = 3 * (hsize_t)(step + 1);
        check(H5Dset_extent(dataset, now), "extent");
        hid_t in_file = H5Dget_space(dataset);
        add_slab(in_file, H5S_SELECT_SET, 3 * (hsize_t)step, 4 * (hsize_t)rank, 3, 4);
        check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, in_file, H5P_DEFAULT, data), "step");
        H5Sclose(in_file);
    }
    H5Sclose(memory);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
}

static void annotate(hid_t file)
{
    int value = 7;
    hid_t space = check(H5Screate(H5S_SCALAR), "scalar");
    hid_t group = check(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
    hid_t attribute =
        check(H5Acreate2(group, "note", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT), "note");
    check(H5Awrite(attribute, H5T_NATIVE_INT, &value), "H5Awrite");
    H5Aclose(attribute);
    hid_t list = creation_list();
    hid_t scalar =
        check(H5Dcreate2(group, "scalar", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT),
              "scalar");
    check(H5Dwrite(scalar, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "scalar");
    H5Dclose(scalar);
    H5Pclose(list);
    H5Gclose(group);
    group = check(H5Gopen2(file, "group", H5P_DEFAULT), "H5Gopen2");
    attribute = check(H5Aopen(group, "note", H5P_DEFAULT), "H5Aopen");
    check(H5Aread(attribute, H5T_NATIVE_INT, &value), "H5Aread");
    H5Aclose(attribute);
    H5Gclose(group);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    hsize_t extents[2] = {ROWS, COLUMNS};
    float *data = calloc(2 * ROWS * COLUMNS, sizeof *data);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    hid_t file = check(H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    hid_t space = H5Screate_simple(2, extents, NULL);
    hid_t creation = creation_list();
    hid_t dataset = check(
        H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT),
        "dataset");
    transfer_all(dataset, data, list);
    H5Dclose(dataset);
    H5Pclose(creation);
    extend(file, data);
    annotate(file);
    H5Sclose(space);
    H5Pclose(list);
    H5Pclose(access);
    check(H5Fclose(file), "close");
    MPI_Finalize();
    free(data);
    return 0;
}
