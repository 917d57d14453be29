/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * pnposted FILE HOW: each rank posts STEPS rows of a variable, which are moved as HOW says:
 * all: by one ncmpi_wait_all; define: the same, posted in define mode; wait: by ncmpi_wait;
 * across: posted in independent mode, moved by ncmpi_wait_all; single: by one ncmpi_wait_all for
 * each; cancel: half of them are cancelled; get: written at once, read by ncmpi_iget.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 8
#define COLUMNS 128

static void check(int status, const char *what)
{
    if (status == NC_NOERR)
        return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int rank, size, file, id;
static int requests[STEPS], states[STEPS];
static float data[STEPS][COLUMNS];

static void post(int reads)
{
    for (int step = 0; step < STEPS; step++) {
        MPI_Offset start[2] = {step * size + rank, 0}, count[2] = {1, COLUMNS};
        check(reads ? ncmpi_iget_vara_float(file, id, start, count, data[step], &requests[step])
                    : ncmpi_iput_vara_float(file, id, start, count, data[step], &requests[step]),
              "post");
    }
}

static void wait_for(int how)
{
    if (how == 's') {
        for (int step = 0; step < STEPS; step++)
            check(ncmpi_wait_all(file, 1, &requests[step], &states[step]), "wait_all");
    } else if (how == 'w') {
        check(ncmpi_wait(file, STEPS, requests, states), "wait");
    } else {
        check(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL), "wait_all");
    }
}

int main(int argc, char **argv)
{
    int dims[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *how = argv[2];
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file), "create");
    check(ncmpi_def_dim(file, "row", (MPI_Offset)STEPS * size, &dims[0]), "row");
    check(ncmpi_def_dim(file, "column", COLUMNS, &dims[1]), "column");
    check(ncmpi_def_var(file, "v", NC_FLOAT, 2, dims, &id), "var");
    if (strcmp(how, "define") == 0)
        post(0);
    check(ncmpi_enddef(file), "enddef");
    if (how[0] == 'w' || strcmp(how, "across") == 0)
        check(ncmpi_begin_indep_data(file), "begin");
    if (strcmp(how, "define") != 0)
        post(0);
    if (strcmp(how, "across") == 0)
        check(ncmpi_end_indep_data(file), "end");
    if (how[0] == 'c')
        check(ncmpi_cancel(file, STEPS / 2, requests, states), "cancel");
    wait_for(how[0]);
    if (how[0] == 'g') {
        post(1);
        wait_for('a');
    }
    check(ncmpi_close(file), "close");
    MPI_Finalize();
    return 0;
}
