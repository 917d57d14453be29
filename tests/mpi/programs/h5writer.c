/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5writer FILE OPTION...
 *
 * Two datasets /steps/a and /steps/b of 64 x 512 doubles, rows divided over the ranks, with an
 * attribute; written, flushed, closed, opened again and read back.  Options: serial (each rank
 * its own FILE.<rank>), collective, align=N (the program's own alignment), chunk (the
 * program's own chunks of 4 x 512), partial (only rank 0 writes).
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64
#define COLUMNS 512

static int rank, size;
static int serial, collective, chunked, partial;
static long alignment;

static hid_t check(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return id;
}

static void parse(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        serial |= strcmp(argv[i], "serial") == 0;
        collective |= strcmp(argv[i], "collective") == 0;
        chunked |= strcmp(argv[i], "chunk") == 0;
        partial |= strcmp(argv[i], "partial") == 0;
        if (strncmp(argv[i], "align=", 6) == 0)
            alignment = atol(argv[i] + 6);
    }
}

static hid_t access_list(void)
{
    if (serial && alignment == 0)
        return H5P_DEFAULT;
    hid_t list = check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    if (!serial)
        check(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    if (alignment > 0)
        check(H5Pset_alignment(list, 1, (hsize_t)alignment), "H5Pset_alignment");
    return list;
}

/* Files are compared byte for byte, so no object says when it was made. */
static hid_t timeless(hid_t class)
{
    hid_t list = check(H5Pcreate(class), "H5Pcreate");
    check(H5Pset_obj_track_times(list, 0), "H5Pset_obj_track_times");
    return list;
}

static hid_t transfer_list(void)
{
    if (!collective)
        return H5P_DEFAULT;
    hid_t list = check(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    check(H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    return list;
}

static hsize_t share[2] = {0, COLUMNS};

static hid_t my_rows(void)
{
    hsize_t all[2] = {ROWS, COLUMNS};
    hsize_t start[2] = {serial ? 0 : (hsize_t)rank * share[0], 0};
    hid_t space = check(H5Screate_simple(2, all, NULL), "H5Screate_simple");
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, share, NULL), "select");
    return space;
}

static void write_one(hid_t group, const char *name, const double *data)
{
    hid_t space = my_rows();
    hid_t memory = check(H5Screate_simple(2, share, NULL), "memory space");
    hid_t creation = timeless(H5P_DATASET_CREATE);
    if (chunked) {
        hsize_t chunk[2] = {4, COLUMNS};
        check(H5Pset_chunk(creation, 2, chunk), "H5Pset_chunk");
    }
    hid_t set = check(
        H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
        "H5Dcreate2");
    hid_t transfer = transfer_list();
    if (!partial || rank == 0)
        check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data), "H5Dwrite");
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    if (transfer != H5P_DEFAULT)
        H5Pclose(transfer);
    H5Pclose(creation);
}

static void write_attribute(hid_t group)
{
    int value = 42;
    hid_t scalar = check(H5Screate(H5S_SCALAR), "H5Screate");
    hid_t attribute = check(
        H5Acreate2(group, "version", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT), "attr");
    check(H5Awrite(attribute, H5T_NATIVE_INT, &value), "H5Awrite");
    H5Aclose(attribute);
    H5Sclose(scalar);
}

static void read_one(hid_t file, const char *name, const double *data)
{
    double *again = malloc(share[0] * COLUMNS * sizeof *again);
    hid_t set = check(H5Dopen2(file, name, H5P_DEFAULT), "H5Dopen2");
    hid_t space = my_rows();
    hid_t memory = check(H5Screate_simple(2, share, NULL), "memory space");
    hid_t transfer = transfer_list();
    check(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, transfer, again), "H5Dread");
    if ((!partial || rank == 0) && memcmp(again, data, share[0] * COLUMNS * sizeof *again) != 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    if (transfer != H5P_DEFAULT)
        H5Pclose(transfer);
    free(again);
}

int main(int argc, char **argv)
{
    char path[1024];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    parse(argc, argv);
    share[0] = serial ? ROWS : ROWS / size;
    snprintf(path, sizeof path, serial ? "%s.%d" : "%s", argv[1], rank);
    double *data = malloc(share[0] * COLUMNS * sizeof *data);
    for (size_t i = 0; i < share[0] * COLUMNS; i++)
        data[i] = rank * 1e6 + (double)i;
    hid_t access = access_list();
    hid_t root = timeless(H5P_FILE_CREATE);
    hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, root, access), "H5Fcreate");
    hid_t made = timeless(H5P_GROUP_CREATE);
    hid_t group = check(H5Gcreate2(file, "steps", H5P_DEFAULT, made, H5P_DEFAULT), "H5Gcreate2");
    H5Pclose(made);
    H5Pclose(root);
    write_attribute(group);
    write_one(group, "a", data);
    write_one(group, "b", data);
    H5Gclose(group);
    check(H5Fflush(file, H5F_SCOPE_LOCAL), "H5Fflush");
    check(H5Fclose(file), "H5Fclose");
    file = check(H5Fopen(path, H5F_ACC_RDONLY, access), "H5Fopen");
    read_one(file, "/steps/a", data);
    read_one(file, "/steps/b", data);
    check(H5Fclose(file), "H5Fclose");
    if (access != H5P_DEFAULT)
        H5Pclose(access);
    free(data);
    MPI_Finalize();
    return 0;
}
