/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * pnwriter FILE [post] [nothing] [align BYTES] [errors]: two variables of ROWS x COLUMNS doubles,
 * rows shared among the ranks, written in every way that PnetCDF has and read back with a check.
 * Prints the offsets of the variables.  With `nothing`: nothing is written too, in ways in which
 * PnetCDF does not look at the datatype.  With `errors`: what fails must fail as it does alone.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64
#define COLUMNS 128

static int rank, size;

static void check(int status, const char *what)
{
    if (status == NC_NOERR)
        return;
    fprintf(stderr, "%d: %s: %s\n", rank, what, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_blocking(int file, const int ids[2], const MPI_Offset *start,
                           const MPI_Offset *count, const double *data)
{
    MPI_Offset one_row[2] = {1, COLUMNS};
    check(ncmpi_put_vara_double_all(file, ids[0], start, count, data), "put_vara_double_all");
    check(ncmpi_begin_indep_data(file), "begin_indep_data");
    for (MPI_Offset row = 0; row < count[0]; row++) {
        MPI_Offset at[2] = {start[0] + row, 0};
        check(ncmpi_put_vara(file, ids[1], at, one_row, data + row * COLUMNS, COLUMNS, MPI_DOUBLE),
              "put_vara");
    }
    check(ncmpi_end_indep_data(file), "end_indep_data");
}

static void write_posted(int file, const int ids[2], const MPI_Offset *start,
                         const MPI_Offset *count, const double *data)
{
    int requests[2], states[2];
    MPI_Offset *starts[1] = {(MPI_Offset *)start}, *counts[1] = {(MPI_Offset *)count};
    check(ncmpi_buffer_attach(file, count[0] * count[1] * (MPI_Offset)sizeof *data), "attach");
    /* Copied at once; the other may be swapped in place until the wait. */
    check(ncmpi_bput_vara_double(file, ids[1], start, count, data, &requests[1]), "bput");
    check(ncmpi_iput_varn_double(file, ids[0], 1, starts, counts, data, &requests[0]), "iput");
    check(ncmpi_wait_all(file, 2, requests, states), "wait_all");
    check(ncmpi_buffer_detach(file), "detach");
}

static void write_nothing(int file, int id)
{
    MPI_Datatype none = (MPI_Datatype)(intptr_t)64; /* as a variable that was never set */
    MPI_Offset start[2] = {0, 0}, zero[2] = {0, 0}, one[2] = {1, COLUMNS};
    double unused[COLUMNS] = {0};
    MPI_Datatype row;
    int requests[2], states[2];
    check(ncmpi_put_varn_all(file, id, 0, NULL, NULL, unused, 5, none), "put_varn_all");
    check(ncmpi_put_vard_all(file, id, MPI_DATATYPE_NULL, unused, 1, none), "put_vard_all");
    MPI_Type_contiguous(COLUMNS, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    check(ncmpi_put_vard_all(file, id, row, unused, 0, none), "put_vard_all");
    MPI_Type_free(&row);
    check(ncmpi_iput_vara(file, id, start, zero, unused, 0, none, &requests[0]), "iput_vara");
    check(ncmpi_iput_vara(file, id, start, one, unused, 0, none, &requests[1]), "iput_vara");
    check(ncmpi_wait_all(file, 2, requests, states), "wait_all");
}

static void read_back(int file, const int ids[2], const MPI_Offset *start, const MPI_Offset *count,
                      const double *data)
{
    size_t bytes = (size_t)(count[0] * count[1]) * sizeof *data;
    double *found = malloc(bytes);
    int varids[1] = {ids[1]};
    MPI_Offset *starts[1] = {(MPI_Offset *)start}, *counts[1] = {(MPI_Offset *)count};
    double *buffers[1] = {found};
    check(ncmpi_get_vara_all(file, ids[0], start, count, found, 0, MPI_DATATYPE_NULL),
          "get_vara_all");
    if (memcmp(found, data, bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(found, 0, bytes);
    check(ncmpi_mget_vara_double_all(file, 1, varids, starts, counts, buffers), "mget");
    if (memcmp(found, data, bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    free(found);
}

static void try_errors(const char *path)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    int file = -1, dimension;
    double value = 1;
    MPI_Offset at = 7;
    printf("%d: open %d\n", rank,
           ncmpi_open(MPI_COMM_WORLD, "missing.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
    printf("%d: close %d\n", rank, ncmpi_close(77));
    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file), "create");
    printf("%d: put in define mode %d\n", rank, ncmpi_put_var1_double_all(file, 0, &at, &value));
    check(ncmpi_def_dim(file, "x", 4, &dimension), "def_dim");
    int id;
    check(ncmpi_def_var(file, "v", NC_BYTE, 1, &dimension, &id), "def_var");
    check(ncmpi_enddef(file), "enddef");
    printf("%d: put outside %d\n", rank, ncmpi_put_var1_double_all(file, id, &at, &value));
    at = 1;
    value = 1e9;
    printf("%d: put too large %d\n", rank, ncmpi_put_var1_double_all(file, id, &at, &value));
    check(ncmpi_close(file), "close");
    MPI_Errhandler after;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    printf("%d: handler %d\n", rank, after == handler && handler == MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    int posted = 0, errors = 0, nothing = 0, file, dimensions[2], ids[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 2; i < argc; i++) {
        posted |= strcmp(argv[i], "post") == 0;
        errors |= strcmp(argv[i], "errors") == 0;
        nothing |= strcmp(argv[i], "nothing") == 0;
        if (strcmp(argv[i], "align") == 0) {
            MPI_Info_create(&info);
            MPI_Info_set(info, "nc_var_align_size", argv[++i]);
        }
    }
    if (errors) {
        try_errors(argv[1]);
        MPI_Finalize();
        return 0;
    }
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, info, &file),
          "create");
    check(ncmpi_def_dim(file, "row", ROWS, &dimensions[0]), "def_dim");
    check(ncmpi_def_dim(file, "column", COLUMNS, &dimensions[1]), "def_dim");
    check(ncmpi_def_var(file, "a", NC_DOUBLE, 2, dimensions, &ids[0]), "def_var");
    check(ncmpi_def_var(file, "b", NC_DOUBLE, 2, dimensions, &ids[1]), "def_var");
    check(ncmpi_put_att_text(file, NC_GLOBAL, "title", 4, "test"), "put_att");
    check(ncmpi_enddef(file), "enddef");
    MPI_Offset count[2] = {ROWS / size, COLUMNS}, start[2] = {rank * count[0], 0};
    double *data = malloc((size_t)(count[0] * count[1]) * sizeof *data);
    for (MPI_Offset i = 0; i < count[0] * count[1]; i++)
        data[i] = (double)(start[0] * COLUMNS + i);
    (posted ? write_posted : write_blocking)(file, ids, start, count, data);
    if (nothing)
        write_nothing(file, ids[0]);
    check(ncmpi_sync(file), "sync");
    read_back(file, ids, start, count, data);
    for (int i = 0; i < 2 && rank == 0; i++) {
        MPI_Offset offset;
        check(ncmpi_inq_varoffset(file, ids[i], &offset), "inq_varoffset");
        printf("%s %lld\n", i == 0 ? "a" : "b", (long long)offset);
    }
    check(ncmpi_close(file), "close");
    free(data);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
