/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * adwriter FILE [engine NAME] [parameter KEY VALUE]...: STEPS steps of an array of doubles,
 * ELEMENTS a rank, written and read back with a check.  Then a second file by the same IO
 * object, to be found with the parameters that the program set itself.
 */
#include <adios2_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 3
#define ELEMENTS 8192

static int rank, size;

static void check(int wrong, const char *what)
{
    if (!wrong)
        return;
    fprintf(stderr, "%d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_file(adios2_io *io, const char *path, adios2_variable *variable, double *data)
{
    adios2_engine *engine = adios2_open(io, path, adios2_mode_write);
    adios2_step_status status;
    check(engine == NULL, "open to write");
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < ELEMENTS; i++)
            data[i] = step * 1e6 + rank * ELEMENTS + i;
        check(adios2_begin_step(engine, adios2_step_mode_append, -1, &status), "begin_step");
        check(adios2_put(engine, variable, data, adios2_mode_deferred), "put");
        check(adios2_end_step(engine), "end_step");
    }
    check(adios2_close(engine), "close");
}

static void read_file(adios2_adios *adios, const char *path, double *data)
{
    adios2_io *io = adios2_declare_io(adios, "reader");
    adios2_engine *engine = adios2_open(io, path, adios2_mode_read);
    adios2_step_status status;
    check(engine == NULL, "open to read");
    for (int step = 0; step < STEPS; step++) {
        size_t start = (size_t)rank * ELEMENTS, count = ELEMENTS;
        check(adios2_begin_step(engine, adios2_step_mode_read, -1, &status), "begin_step");
        adios2_variable *variable = adios2_inquire_variable(io, "v");
        check(variable == NULL, "inquire_variable");
        check(adios2_set_selection(variable, 1, &start, &count), "set_selection");
        check(adios2_get_by_name(engine, "v", data, adios2_mode_sync), "get");
        for (int i = 0; i < ELEMENTS; i++)
            check(data[i] != step * 1e6 + rank * ELEMENTS + i, "content");
        check(adios2_end_step(engine), "end_step");
    }
    check(adios2_close(engine), "close");
}

/* What the program sees of its own parameters. */
static void show(adios2_io *io, char **keys, int n_keys)
{
    for (int i = 0; i < n_keys && rank == 0; i++) {
        char value[256] = "";
        size_t length = 0;
        adios2_get_parameter(value, &length, io, keys[i]);
        printf("%s=%s\n", keys[i], length > 0 ? value : "");
    }
    char engine[64] = "";
    size_t length = 0;
    adios2_engine_type(engine, &length, io);
    if (rank == 0)
        printf("engine %s\n", engine);
}

int main(int argc, char **argv)
{
    char *keys[16];
    int n_keys = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    adios2_adios *adios = adios2_init_mpi(MPI_COMM_WORLD);
    adios2_io *io = adios2_declare_io(adios, "writer");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "engine") == 0) {
            check(adios2_set_engine(io, argv[++i]), "set_engine");
        } else {
            keys[n_keys++] = argv[i + 1];
            check(adios2_set_parameter(io, argv[i + 1], argv[i + 2]), "set_parameter");
            i += 2;
        }
    }
    size_t shape = (size_t)size * ELEMENTS, start = (size_t)rank * ELEMENTS, count = ELEMENTS;
    adios2_variable *variable =
        adios2_define_variable(io, "v", adios2_type_double, 1, &shape, &start, &count, 1);
    double *data = malloc(ELEMENTS * sizeof *data);
    char other[512];
    snprintf(other, sizeof other, "other-%s", argv[1]);
    write_file(io, argv[1], variable, data);
    show(io, keys, n_keys);
    write_file(io, other, variable, data);
    read_file(adios, argv[1], data);
    adios2_io *missing = adios2_declare_io(adios, "missing");
    if (rank == 0 && size == 1)
        printf("missing %d\n", adios2_open(missing, "missing.bp", adios2_mode_read) == NULL);
    check(adios2_finalize(adios), "finalize");
    free(data);
    MPI_Finalize();
    return 0;
}
