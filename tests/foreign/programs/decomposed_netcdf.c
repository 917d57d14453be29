/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Moves parts of NetCDF-4 variables: decomposed_netcdf SCRIPT FILE */
#include "decomposed.h"

#include <netcdf.h>
#include <netcdf_par.h>

static int file, variable[64], n_variables, now, defining = 1;

static void define(void)
{
    char name[64], dimension[160];
    int dims[DIMS];
    check(word(name), "name");
    int grows = (int)number(), n = (int)number();
    for (int d = 0; d < n; d++) {
        size_t size = (size_t)number();
        snprintf(dimension, sizeof dimension, "%s_%d", name, d);
        check(nc_def_dim(file, dimension, grows && d == 0 ? NC_UNLIMITED : size, &dims[d]) == 0,
              "nc_def_dim");
    }
    check(nc_def_var(file, name, NC_DOUBLE, n, dims, &variable[n_variables++]) == 0, "nc_def_var");
}

static void move(int writes)
{
    char mode[64], kind[64];
    size_t start[DIMS] = {0}, count[DIMS] = {0};
    ptrdiff_t stride[DIMS];
    check(word(mode) && word(kind), "selection");
    check(is(kind, "slab"), "a hyperslab");
    int n = (int)number(), strided = 0;
    for (int d = 0; d < n; d++)
        start[d] = (size_t)number();
    for (int d = 0; d < n; d++)
        stride[d] = (ptrdiff_t)number();
    for (int d = 0; d < n; d++)
        count[d] = (size_t)number();
    for (int d = 0; d < n; d++) {
        size_t block = (size_t)number();
        if (count[d] == 1 || (size_t)stride[d] == block) {
            count[d] *= block;
            stride[d] = 1;
        }
        strided |= stride[d] > 1;
    }
    nc_var_par_access(file, variable[now],
                      is(mode, "collective") ? NC_COLLECTIVE : NC_INDEPENDENT);
    int status;
    if (strided)
        status = writes ? nc_put_vars_double(file, variable[now], start, count, stride, data)
                        : nc_get_vars_double(file, variable[now], start, count, stride, data);
    else
        status = writes ? nc_put_vara_double(file, variable[now], start, count, data)
                        : nc_get_vara_double(file, variable[now], start, count, data);
    check(status == 0, nc_strerror(status));
}

int main(int argc, char **argv)
{
    char what[64];
    int closed = 0;
    begin(&argc, &argv);
    check(nc_create_par(argv[2], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file) ==
              0,
          "nc_create_par");

    while (word(what)) {
        if (is(what, "dataset")) {
            define();
            continue;
        }
        if (defining)
            nc_enddef(file);
        defining = 0;
        if (is(what, "open"))
            now = (int)number();
        else if (is(what, "extend"))
            (void)number(); /* a record grows by being written */
        else if (is(what, "close"))
            closed = 1;
        else
            move(is(what, "write"));
    }
    if (closed)
        check(nc_close(file) == 0, "nc_close");
    MPI_Finalize();
    return 0;
}
