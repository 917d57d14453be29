/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves an HDF5 dataset with certain types and properties: typed_hdf5 FILE WORD...
 *
 *   double, big_endian, int_double, float_double   types in memory and in the file
 *   compound, members, padded, reordered           of a struct of 8 members, of which some or all
 *   collective, read, many                         calls, and reading again, and 12 datasets
 *   coll_metadata, alignment, meta_block, latest, deflate   properties
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 512
#define MEMBERS 8

static int n_words;
static char **all_words;
static double data[N * (MEMBERS + 2)];

static int has(const char *word)
{
    for (int i = 0; i < n_words; i++)
        if (strcmp(all_words[i], word) == 0)
            return 1;
    return 0;
}

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Members `from` to before `to`, in this or the reverse order, with room behind them. */
static hid_t compound(int from, int to, int reversed, size_t room)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, (size_t)(to - from) * 8 + room);
    for (int i = from; i < to; i++) {
        char name[16];
        int place = reversed ? to - 1 - i : i - from;
        snprintf(name, sizeof name, "m%d", i);
        H5Tinsert(type, name, (size_t)place * 8, H5T_NATIVE_DOUBLE);
    }
    return type;
}

static hid_t file_type(void)
{
    if (has("big_endian"))
        return H5Tcopy(H5T_IEEE_F64BE);
    if (has("int_double") || has("float_double") || has("double"))
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    return compound(0, MEMBERS, 0, 0);
}

static hid_t access_list(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL);
    if (has("coll_metadata")) {
        H5Pset_coll_metadata_write(list, 1);
        H5Pset_all_coll_metadata_ops(list, 1);
    }
    if (has("alignment"))
        H5Pset_alignment(list, 1024, 65536);
    if (has("meta_block"))
        H5Pset_meta_block_size(list, 65536);
    if (has("latest"))
        H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    return list;
}

static void move(hid_t dataset, hid_t type, int rank, int writes)
{
    hsize_t start = (hsize_t)rank * N, count = N;
    hid_t list = H5Pcreate(H5P_DATASET_XFER), space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, &count, NULL);
    if (has("collective"))
        H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    check(
        (writes ? H5Dwrite : (herr_t(*)(hid_t, hid_t, hid_t, hid_t, hid_t, const void *))H5Dread)(
            dataset, type, memory, space, list, data) >= 0,
        "transfer");
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(list);
}

static void move_all(hid_t dataset, int rank, int writes)
{
    hid_t types[4];
    int n = 1;
    if (has("members")) {
        n = 4; /* all first: a member is written into an element that is there */
        types[0] = compound(0, MEMBERS, 0, 0);
        types[1] = compound(2, 3, 0, 0);
        types[2] = compound(4, 7, 0, 0);
        types[3] = compound(0, 1, 0, 0);
    } else if (has("padded") || has("reordered") || has("compound"))
        types[0] = compound(0, MEMBERS, has("reordered"), has("padded") ? 8 : 0);
    else
        types[0] = H5Tcopy(has("int_double")     ? H5T_NATIVE_INT
                           : has("float_double") ? H5T_NATIVE_FLOAT
                                                 : H5T_NATIVE_DOUBLE);
    for (int i = 0; i < n; i++) {
        move(dataset, types[i], rank, writes);
        H5Tclose(types[i]);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n_words = argc - 2;
    all_words = argv + 2;
    hsize_t extent = (hsize_t)size * N, chunk = N;
    hid_t list = access_list(), type = file_type(), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, list);
    check(file >= 0, "H5Fcreate");
    if (has("deflate")) {
        H5Pset_chunk(creation, 1, &chunk);
        H5Pset_deflate(creation, 4);
    }
    for (int i = 0; i < (has("many") ? 12 : 1); i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        hid_t space = H5Screate_simple(1, &extent, NULL);
        hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        check(dataset >= 0, "H5Dcreate2");
        move_all(dataset, rank, 1);
        if (has("read"))
            move_all(dataset, rank, 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Pclose(creation);
    H5Tclose(type);
    H5Pclose(list);
    check(H5Fclose(file) >= 0, "H5Fclose");
    MPI_Finalize();
    return 0;
}
