/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * h5answers FILE CASE
 *
 * Rows of one dataset, divided over the ranks, are written in CALLS transfers.  The case says what
 * is in the way of a collective transfer, or that nothing is.  Prints, for each rank and call,
 * what HDF5 itself answered: mode, local and global causes.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define CALLS 4
#define ROWS 8 /* of a rank, in one call */
#define COLUMNS 64

struct pair {
    double a;
    double b;
    int c;
};

static int rank, size;
static const char *kind;
static double values[ROWS * COLUMNS];
static float singles[ROWS * COLUMNS];

static int is(const char *name)
{
    return strcmp(kind, name) == 0;
}

static hid_t compound(int from, int to)
{
    static const char *const names[] = {"a", "b", "c"};
    size_t bytes = to - from == 3 ? sizeof(struct pair) : sizeof(double);
    hid_t type = H5Tcreate(H5T_COMPOUND, bytes);
    for (int i = from; i < to; i++)
        H5Tinsert(type, names[i], to - from == 3 ? (size_t)i * 8 : 0,
                  i == 2 ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE);
    return type;
}

static hid_t creation_list(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[2] = {ROWS, COLUMNS};
    if (is("chunks") || is("deflate"))
        H5Pset_chunk(list, 2, chunk);
    if (is("deflate"))
        H5Pset_deflate(list, 1);
    if (is("compact"))
        H5Pset_layout(list, H5D_COMPACT);
    return list;
}

static hid_t transfer_list(int call)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    int collective = !is("independent") && !is("scattered") && !(is("mixed") && call % 2 == 1);
    H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    if (is("transform"))
        H5Pset_data_transform(list, "x * 2");
    return list;
}

static void select_points(hid_t space, hsize_t first)
{
    hsize_t points[ROWS * COLUMNS][2];
    for (hsize_t i = 0; i < ROWS * COLUMNS; i++) {
        points[i][0] = first + i / COLUMNS;
        points[i][1] = COLUMNS - 1 - i % COLUMNS;
    }
    H5Sselect_elements(space, H5S_SELECT_SET, ROWS * COLUMNS, &points[0][0]);
}

static void select_every_other(hid_t space, hid_t memory, const hsize_t *start)
{
    hsize_t stride[2] = {1, 2};
    hsize_t count[2] = {ROWS, COLUMNS / 2};
    hsize_t none[2] = {0, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, none, NULL, count, NULL);
}

static void transfer(hid_t dataset, hid_t type, hsize_t rows, int call)
{
    hsize_t start[2] = {((hsize_t)call * (hsize_t)size + (hsize_t)rank) * ROWS, 0};
    hsize_t count[2] = {ROWS, COLUMNS};
    hsize_t extent[2] = {rows, COLUMNS};
    unsigned local = 0, global = 0;
    H5D_mpio_actual_io_mode_t mode;
    hid_t space = H5Screate_simple(2, extent, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    if (is("compact"))
        start[0] = (hsize_t)rank * ROWS;
    if (is("points"))
        select_points(space, start[0]);
    else if (is("scattered"))
        select_every_other(space, memory, start);
    else
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    hid_t list = transfer_list(call);
    const void *buffer = is("floats") ? (const void *)singles : values;
    if (H5Dwrite(dataset, type, memory, space, list, buffer) < 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    H5Pget_mpio_actual_io_mode(list, &mode);
    H5Pget_mpio_no_collective_cause(list, &local, &global);
    printf("%d %d %d %u %u\n", rank, call, (int)mode, local, global);
    H5Pclose(list);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kind = argv[2];
    int members = is("members");
    hsize_t rows = (hsize_t)(is("compact") ? 1 : CALLS) * (hsize_t)size * ROWS;
    hsize_t extent[2] = {rows, COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, extent, NULL);
    hid_t whole = compound(0, 3);
    hid_t in_file = members ? whole : is("swapped") ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
    hid_t creation = creation_list();
    hid_t dataset = H5Dcreate2(file, "q", in_file, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    for (int call = 0; call < CALLS; call++) {
        hid_t type = members ? compound(call % 2, call % 2 + 1)
                             : H5Tcopy(is("floats") ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
        transfer(dataset, type, rows, call);
        H5Tclose(type);
    }
    H5Pclose(creation);
    H5Dclose(dataset);
    H5Tclose(whole);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
