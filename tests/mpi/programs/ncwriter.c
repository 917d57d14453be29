/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* ncwriter FILE: a netCDF-4 file, written together. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

#define ELEMENTS 1024

int main(int argc, char **argv)
{
    int file, dimension, variable, rank, size, status;
    static double data[ELEMENTS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t start = (size_t)rank * ELEMENTS, count = ELEMENTS;
    status = nc_create_par(argv[1], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file);
    if (status == NC_NOERR)
        status = nc_def_dim(file, "x", (size_t)size * ELEMENTS, &dimension);
    if (status == NC_NOERR)
        status = nc_def_var(file, "v", NC_DOUBLE, 1, &dimension, &variable);
    if (status == NC_NOERR)
        status = nc_enddef(file);
    if (status == NC_NOERR)
        status = nc_var_par_access(file, variable, NC_COLLECTIVE);
    if (status == NC_NOERR)
        status = nc_put_vara_double(file, variable, &start, &count, data);
    if (status == NC_NOERR)
        status = nc_close(file);
    if (status != NC_NOERR)
        fprintf(stderr, "%s\n", nc_strerror(status));
    MPI_Finalize();
    return status != NC_NOERR;
}
