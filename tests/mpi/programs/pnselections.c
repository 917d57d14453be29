/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * pnselections FILE: a variable of 8 x 12 floats and a record variable of 6 shorts, written and
 * read by every kind of access.  Two ranks.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

static int rank;

static void check(int status, const char *what)
{
    if (status == NC_NOERR)
        return;
    fprintf(stderr, "%d: %s: %s\n", rank, what, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void of_the_field(int file, int id, float *data)
{
    MPI_Offset start[2] = {4 * rank, 0}, count[2] = {4, 12}, stride[2] = {2, 3};
    MPI_Offset few[2] = {2, 4}, none[2] = {0, 12}, first[2] = {rank, 2}, second[2] = {6, 5};
    MPI_Offset two[2] = {2, 3}, one[2] = {1, 2};
    MPI_Offset *starts[2] = {first, second}, *counts[2] = {two, one};
    int requests[2], states[2];
    check(ncmpi_put_vara_float_all(file, id, start, count, data), "vara");
    check(ncmpi_put_vars_float_all(file, id, start, few, stride, data), "vars");
    check(ncmpi_get_vara_float_all(file, id, start, none, data), "nothing");
    check(ncmpi_get_var_float_all(file, id, data), "var");
    check(ncmpi_get_varn_float_all(file, id, 2, starts, counts, data), "varn");
    check(ncmpi_get_varn_float_all(file, id, 2, starts, NULL, data), "points");
    check(ncmpi_iput_vara_float(file, id, start, count, data, &requests[0]), "iput");
    check(ncmpi_iget_var1_float(file, id, start, data, &requests[1]), "iget");
    check(ncmpi_wait_all(file, 2, requests, states), "wait_all");
    check(ncmpi_begin_indep_data(file), "begin_indep");
    check(ncmpi_get_vara(file, id, start, few, data, 8, MPI_FLOAT), "flexible");
    check(ncmpi_end_indep_data(file), "end_indep");
}

static void of_the_records(int file, int id)
{
    short values[6] = {0};
    for (int record = 0; record < 4; record++) {
        MPI_Offset start[2] = {record, 3 * rank}, count[2] = {1, 3};
        check(ncmpi_put_vara_short_all(file, id, start, count, values), "record");
    }
}

int main(int argc, char **argv)
{
    int file, field, series, x, y, time, sides[2];
    float data[96];
    memset(data, 0, sizeof data);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file), "create");
    check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time), "time");
    check(ncmpi_def_dim(file, "y", 8, &y), "y");
    check(ncmpi_def_dim(file, "x", 12, &x), "x");
    sides[0] = y;
    sides[1] = x;
    check(ncmpi_def_var(file, "field", NC_FLOAT, 2, sides, &field), "field");
    check(ncmpi_def_dim(file, "z", 6, &x), "z");
    sides[0] = time;
    sides[1] = x;
    check(ncmpi_def_var(file, "series", NC_SHORT, 2, sides, &series), "series");
    check(ncmpi_enddef(file), "enddef");
    of_the_field(file, field, data);
    of_the_records(file, series);
    check(ncmpi_close(file), "close");
    MPI_Finalize();
    return 0;
}
