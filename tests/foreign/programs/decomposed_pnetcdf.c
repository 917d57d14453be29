/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves parts of PnetCDF variables: decomposed_pnetcdf SCRIPT FILE. Further selections: "boxes"
 * (ncmpi_put_varn); further modes: "posted" (ncmpi_iput_vara, and one wait for all at the end).
 */
#include "decomposed.h"

#include <pnetcdf.h>

static int file, variable[64], n_variables, now, state; /* 0: defining, 1: data */
static int independent, posted;

static void good(int status, const char *what)
{
    if (status != NC_NOERR)
        fprintf(stderr, "%s\n", ncmpi_strerror(status));
    check(status == NC_NOERR, what);
}

static void define(void)
{
    char name[64], dimension[160];
    int dims[DIMS];
    check(word(name), "name");
    int grows = (int)number(), n = (int)number();
    for (int d = 0; d < n; d++) {
        MPI_Offset size = (MPI_Offset)number();
        snprintf(dimension, sizeof dimension, "%s_%d", name, d);
        good(ncmpi_def_dim(file, dimension, grows && d == 0 ? NC_UNLIMITED : size, &dims[d]),
             "ncmpi_def_dim");
    }
    good(ncmpi_def_var(file, name, NC_DOUBLE, n, dims, &variable[n_variables++]), "ncmpi_def_var");
}

static void several(int writes)
{
    int n = (int)number(), m = (int)number();
    MPI_Offset *numbers = malloc((size_t)(2 * n * m + 1) * sizeof *numbers);
    MPI_Offset **lists = malloc((size_t)(2 * m + 1) * sizeof *lists);
    for (int i = 0; i < 2 * n * m; i++)
        numbers[i] = (MPI_Offset)number();
    for (int i = 0; i < m; i++) {
        lists[i] = numbers + 2 * n * i;
        lists[m + i] = numbers + 2 * n * i + n;
    }
    if (writes)
        good(ncmpi_put_varn_double_all(file, variable[now], m, lists, lists + m, data), "varn");
    else
        good(ncmpi_get_varn_double_all(file, variable[now], m, lists, lists + m, data), "varn");
    free(lists);
    free(numbers);
}

#define MOVE(put, get, ...)                                                                       \
    (writes ? ncmpi_##put(file, v, start, __VA_ARGS__) : ncmpi_##get(file, v, start, __VA_ARGS__))

static void one(const char *mode, int writes)
{
    MPI_Offset start[DIMS] = {0}, count[DIMS] = {0}, stride[DIMS];
    int n = (int)number(), strided = 0, request, status;
    for (int d = 0; d < n; d++)
        start[d] = (MPI_Offset)number();
    for (int d = 0; d < n; d++)
        stride[d] = (MPI_Offset)number();
    for (int d = 0; d < n; d++)
        count[d] = (MPI_Offset)number();
    for (int d = 0; d < n; d++) {
        MPI_Offset block = (MPI_Offset)number();
        if (count[d] == 1 || stride[d] == block) {
            count[d] *= block;
            stride[d] = 1;
        }
        strided |= stride[d] > 1;
    }
    int v = variable[now];
    if (is(mode, "posted")) {
        posted = 1;
        status = MOVE(iput_vara_double, iget_vara_double, count, data, &request);
    } else if (is(mode, "collective")) {
        status = strided ? MOVE(put_vars_double_all, get_vars_double_all, count, stride, data)
                         : MOVE(put_vara_double_all, get_vara_double_all, count, data);
    } else {
        status = strided ? MOVE(put_vars_double, get_vars_double, count, stride, data)
                         : MOVE(put_vara_double, get_vara_double, count, data);
    }
    good(status, "transfer");
}

static void move(int writes)
{
    char mode[64], kind[64];
    check(word(mode) && word(kind), "selection");
    if (is(mode, "independent") != independent) {
        good(independent ? ncmpi_end_indep_data(file) : ncmpi_begin_indep_data(file), "mode");
        independent = !independent;
    }
    if (is(kind, "boxes"))
        several(writes);
    else
        one(mode, writes);
}

int main(int argc, char **argv)
{
    char what[64];
    int closed = 0;
    begin(&argc, &argv);
    good(ncmpi_create(MPI_COMM_WORLD, argv[2], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
         "ncmpi_create");
    while (word(what)) {
        if (is(what, "dataset")) {
            define();
            continue;
        }
        if (!state++)
            good(ncmpi_enddef(file), "ncmpi_enddef");
        if (is(what, "open"))
            now = (int)number();
        else if (is(what, "extend"))
            (void)number(); /* a record grows by being written */
        else if (is(what, "close"))
            closed = 1;
        else
            move(is(what, "write"));
    }
    if (posted)
        good(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL), "ncmpi_wait_all");
    if (closed)
        good(ncmpi_close(file), "ncmpi_close");
    MPI_Finalize();
    return 0;
}
