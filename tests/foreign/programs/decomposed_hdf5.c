/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Moves parts of HDF5 datasets: decomposed_hdf5 SCRIPT FILE */
#include "decomposed.h"

#include <hdf5.h>

static hid_t file, dataset[64];
static int n_datasets, n_dims[64], now;
static hsize_t extents[64][DIMS];

static void numbers(int n, hsize_t *values)
{
    for (int d = 0; d < n; d++)
        values[d] = (hsize_t)number();
}

static void define(void)
{
    char name[64];
    check(word(name), "name");
    int grows = (int)number();
    int n = n_dims[n_datasets] = (int)number();
    hsize_t *sizes = extents[n_datasets], most[DIMS], chunk[DIMS];
    numbers(n, sizes);
    memcpy(most, sizes, sizeof most);
    memcpy(chunk, sizes, sizeof chunk);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (grows) {
        most[0] = H5S_UNLIMITED;
        chunk[0] = (hsize_t)grows;
        H5Pset_chunk(list, n, chunk);
    }
    hid_t space = H5Screate_simple(n, sizes, most);
    dataset[n_datasets] =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    check(dataset[n_datasets] >= 0, "H5Dcreate2");
    H5Sclose(space);
    H5Pclose(list);
    n_datasets++;
}

static void select_boxes(hid_t space, int combined)
{
    int n = (int)number(), n_boxes = (int)number();
    hsize_t start[DIMS], count[DIMS];
    H5Sselect_none(space);
    for (int b = 0; b < n_boxes; b++) {
        numbers(n, start);
        numbers(n, count);
        if (!combined || b == 0) {
            H5Sselect_hyperslab(space, b ? H5S_SELECT_OR : H5S_SELECT_SET, start, NULL, count,
                                NULL);
            continue;
        }
        hid_t other = H5Scopy(space);
        H5Sselect_hyperslab(other, H5S_SELECT_SET, start, NULL, count, NULL);
        check(H5Smodify_select(space, H5S_SELECT_OR, other) >= 0, "H5Smodify_select");
        H5Sclose(other);
    }
}

static void choose(hid_t space)
{
    char kind[64];
    hsize_t start[DIMS], stride[DIMS], count[DIMS], block[DIMS];
    check(word(kind), "selection");
    if (is(kind, "slab")) {
        int n = (int)number();
        numbers(n, start);
        numbers(n, stride);
        numbers(n, count);
        numbers(n, block);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
    } else if (is(kind, "boxes") || is(kind, "combined")) {
        select_boxes(space, is(kind, "combined"));
    } else if (is(kind, "points")) {
        int n = (int)number(), m = (int)number();
        hsize_t *at = malloc((size_t)n * (size_t)m * sizeof *at);
        numbers(n * m, at);
        H5Sselect_elements(space, H5S_SELECT_SET, (size_t)m, at);
        free(at);
    } else if (is(kind, "none")) {
        H5Sselect_none(space);
    }
}

static void move(int writes)
{
    char mode[64];
    check(word(mode), "mode");
    hid_t list = H5Pcreate(H5P_DATASET_XFER), space = H5Dget_space(dataset[now]);
    if (is(mode, "collective"))
        H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    choose(space);
    hsize_t points = (hsize_t)H5Sget_select_npoints(space), room = points ? points : 1;
    hid_t memory = H5Screate_simple(1, &room, NULL);
    if (!points)
        H5Sselect_none(memory);
    check((writes ? H5Dwrite(dataset[now], H5T_NATIVE_DOUBLE, memory, space, list, data)
                  : H5Dread(dataset[now], H5T_NATIVE_DOUBLE, memory, space, list, data)) >= 0,
          "transfer");
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(list);
}

int main(int argc, char **argv)
{
    char what[64];
    int closed = 0;
    begin(&argc, &argv);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
    file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, list);
    check(file >= 0, "H5Fcreate");
    H5Pclose(list);
    while (word(what)) {
        if (is(what, "dataset"))
            define();
        else if (is(what, "open"))
            now = (int)number();
        else if (is(what, "extend")) {
            extents[now][0] = (hsize_t)number();
            check(H5Dset_extent(dataset[now], extents[now]) >= 0, "H5Dset_extent");
        } else if (is(what, "close"))
            closed = 1;
        else
            move(is(what, "write"));
    }
    for (int i = 0; closed && i < n_datasets; i++)
        H5Dclose(dataset[i]);
    if (closed)
        H5Fclose(file);
    MPI_Finalize();
    return 0;
}
