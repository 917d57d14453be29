/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5events FILE async|multi [collective]
 *
 * The calls that came with HDF5 1.13 and 1.14: /steps/a and /steps/b of 64 x 512 doubles, rows
 * divided over the ranks, written and read back.  async: every call with an event set, in which
 * it is done at once as long as no asynchronous connector is loaded; multi: both datasets in one
 * call.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64
#define COLUMNS 512

static int rank, size;
static hid_t transfer = H5P_DEFAULT;
static hsize_t share[2] = {0, COLUMNS};
static hid_t in_file, in_memory;

static hid_t check(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return id;
}

static void spaces(void)
{
    hsize_t all[2] = {ROWS, COLUMNS};
    hsize_t start[2] = {(hsize_t)rank * share[0], 0};
    in_file = check(H5Screate_simple(2, all, NULL), "H5Screate_simple");
    in_memory = check(H5Screate_simple(2, share, NULL), "H5Screate_simple");
    check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, share, NULL), "select");
}

static void wait_for(hid_t events)
{
    size_t in_progress;
    bool failed;
    check(H5ESwait(events, H5ES_WAIT_FOREVER, &in_progress, &failed), "H5ESwait");
    if (in_progress != 0 || failed)
        MPI_Abort(MPI_COMM_WORLD, 5);
}

static void write_attribute(hid_t group, hid_t events)
{
    int value = 42;
    hid_t scalar = check(H5Screate(H5S_SCALAR), "H5Screate");
    hid_t attribute = check(H5Acreate_async(group, "version", H5T_NATIVE_INT, scalar, H5P_DEFAULT,
                                            H5P_DEFAULT, events),
                            "H5Acreate_async");
    check(H5Awrite_async(attribute, H5T_NATIVE_INT, &value, events), "H5Awrite_async");
    check(H5Aread_async(attribute, H5T_NATIVE_INT, &value, events), "H5Aread_async");
    check(H5Aclose_async(attribute, events), "H5Aclose_async");
    H5Sclose(scalar);
}

static void async_write(const char *path, hid_t access, double *data[2])
{
    static const char *const names[] = {"a", "b"};
    hid_t events = check(H5EScreate(), "H5EScreate");
    hid_t file =
        check(H5Fcreate_async(path, H5F_ACC_TRUNC, H5P_DEFAULT, access, events), "create");
    hid_t group = check(
        H5Gcreate_async(file, "steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, events), "group");
    write_attribute(group, events);
    for (int i = 0; i < 2; i++) {
        hid_t set = check(H5Dcreate_async(group, names[i], H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT,
                                          H5P_DEFAULT, H5P_DEFAULT, events),
                          "H5Dcreate_async");
        check(
            H5Dwrite_async(set, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, data[i], events),
            "H5Dwrite_async");
        check(i == 0 ? H5Dclose_async(set, events) : H5Oclose_async(set, events), "close");
    }
    check(H5Gclose_async(group, events), "H5Gclose_async");
    check(H5Fflush_async(file, H5F_SCOPE_LOCAL, events), "H5Fflush_async");
    check(H5Fclose_async(file, events), "H5Fclose_async");
    wait_for(events);
    H5ESclose(events);
}

static void async_read(const char *path, hid_t access, double *data[2])
{
    static const char *const names[] = {"/steps/a", "/steps/b"};
    hid_t events = check(H5EScreate(), "H5EScreate");
    hid_t file = check(H5Fopen_async(path, H5F_ACC_RDONLY, access, events), "H5Fopen_async");
    for (int i = 0; i < 2; i++) {
        hid_t set = check(H5Dopen_async(file, names[i], H5P_DEFAULT, events), "H5Dopen_async");
        check(H5Dread_async(set, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, data[i], events),
              "H5Dread_async");
        check(H5Dclose_async(set, events), "H5Dclose_async");
    }
    check(H5Fclose_async(file, events), "H5Fclose_async");
    wait_for(events);
    H5ESclose(events);
}

static void multi(hid_t sets[2], double *data[2], int writing)
{
    hid_t types[2] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE};
    hid_t memory[2] = {in_memory, in_memory};
    hid_t files[2] = {in_file, in_file};
    if (writing)
        check(H5Dwrite_multi(2, sets, types, memory, files, transfer, (const void **)data),
              "H5Dwrite_multi");
    else
        check(H5Dread_multi(2, sets, types, memory, files, transfer, (void **)data),
              "H5Dread_multi");
    for (int i = 0; i < 2; i++)
        H5Dclose(sets[i]);
}

static hid_t create(hid_t group, const char *name)
{
    return check(
        H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Dcreate2");
}

static void multi_write(const char *path, hid_t access, double *data[2])
{
    hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
    hid_t group = check(H5Gcreate2(file, "steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
    hid_t sets[2] = {create(group, "a"), create(group, "b")};
    multi(sets, data, 1);
    H5Gclose(group);
    check(H5Fclose(file), "H5Fclose");
}

static void multi_read(const char *path, hid_t access, double *data[2])
{
    hid_t file = check(H5Fopen(path, H5F_ACC_RDONLY, access), "H5Fopen");
    hid_t sets[2] = {check(H5Dopen2(file, "/steps/a", H5P_DEFAULT), "open"),
                     check(H5Dopen2(file, "/steps/b", H5P_DEFAULT), "open")};
    multi(sets, data, 0);
    check(H5Fclose(file), "H5Fclose");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int async = strcmp(argv[2], "async") == 0;
    share[0] = ROWS / size;
    spaces();
    hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    if (argc > 3) {
        transfer = check(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
        check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    }
    size_t count = share[0] * COLUMNS;
    double *data[2], *again[2];
    for (int i = 0; i < 2; i++) {
        data[i] = malloc(count * sizeof(double));
        again[i] = calloc(count, sizeof(double));
        for (size_t j = 0; j < count; j++)
            data[i][j] = rank * 1e6 + i * 1e5 + (double)j;
    }
    (async ? async_write : multi_write)(argv[1], access, data);
    (async ? async_read : multi_read)(argv[1], access, again);
    for (int i = 0; i < 2; i++)
        if (memcmp(data[i], again[i], count * sizeof(double)) != 0)
            MPI_Abort(MPI_COMM_WORLD, 4);
    H5Pclose(access);
    if (transfer != H5P_DEFAULT)
        H5Pclose(transfer);
    H5Sclose(in_file);
    H5Sclose(in_memory);
    MPI_Finalize();
    return 0;
}
