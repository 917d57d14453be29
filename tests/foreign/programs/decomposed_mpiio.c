/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves what views of a file of doubles show: decomposed_mpiio SCRIPT FILE, with the words
 *
 *   size BYTES
 *   view DISPLACEMENT darray RANKS RANK N GSIZE... b|c|n... DARG... PSIZE... C|F
 *   view DISPLACEMENT subarray N SIZE... SUBSIZE... START... C|F
 *   view DISPLACEMENT indexed|hindexed M LENGTH... PLACE... (elements, bytes)
 *   view DISPLACEMENT vector COUNT LENGTH STRIDE
 *   view DISPLACEMENT plain
 *   write|read collective|independent OFFSET COUNT (in elements of the view)
 */
#include "decomposed.h"

static MPI_File file;

static void ints(int n, int *values)
{
    for (int i = 0; i < n; i++)
        values[i] = (int)number();
}

static int order(void)
{
    char text[64];
    check(word(text), "order");
    return is(text, "F") ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
}

static MPI_Datatype darray(void)
{
    int gsizes[DIMS], kinds[DIMS], args[DIMS], psizes[DIMS];
    int ranks = (int)number(), mine = (int)number(), n = (int)number();
    MPI_Datatype type;
    char kind[64];
    ints(n, gsizes);
    for (int d = 0; d < n; d++) {
        check(word(kind), "distribution");
        kinds[d] = is(kind, "b")   ? MPI_DISTRIBUTE_BLOCK
                   : is(kind, "c") ? MPI_DISTRIBUTE_CYCLIC
                                   : MPI_DISTRIBUTE_NONE;
    }
    ints(n, args);
    for (int d = 0; d < n; d++)
        if (args[d] <= 0)
            args[d] = MPI_DISTRIBUTE_DFLT_DARG;
    ints(n, psizes);
    MPI_Type_create_darray(ranks, mine, n, gsizes, kinds, args, psizes, order(), MPI_DOUBLE,
                           &type);
    return type;
}

static MPI_Datatype subarray(void)
{
    int sizes[DIMS], parts[DIMS], starts[DIMS];
    int n = (int)number();
    MPI_Datatype type;
    ints(n, sizes);
    ints(n, parts);
    ints(n, starts);
    MPI_Type_create_subarray(n, sizes, parts, starts, order(), MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype indexed(int bytes)
{
    int n = (int)number();
    int *lengths = malloc((size_t)(n + 1) * sizeof *lengths);
    int *places = malloc((size_t)(n + 1) * sizeof *places);
    MPI_Aint *far = malloc((size_t)(n + 1) * sizeof *far);
    MPI_Datatype type;
    ints(n, lengths);
    ints(n, places);
    for (int i = 0; i < n; i++)
        far[i] = places[i];
    if (bytes)
        MPI_Type_create_hindexed(n, lengths, far, MPI_DOUBLE, &type);
    else
        MPI_Type_indexed(n, lengths, places, MPI_DOUBLE, &type);
    free(lengths);
    free(places);
    free(far);
    return type;
}

static void view(void)
{
    char kind[64];
    MPI_Datatype type = MPI_DOUBLE;
    MPI_Offset displacement = (MPI_Offset)number();
    check(word(kind), "view");
    if (is(kind, "darray"))
        type = darray();
    else if (is(kind, "subarray"))
        type = subarray();
    else if (is(kind, "indexed") || is(kind, "hindexed"))
        type = indexed(is(kind, "hindexed"));
    else if (is(kind, "vector")) {
        int count = (int)number(), length = (int)number(), stride = (int)number();
        MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type);
    }
    if (type != MPI_DOUBLE)
        MPI_Type_commit(&type);
    check(MPI_File_set_view(file, displacement, MPI_DOUBLE, type, "native", MPI_INFO_NULL) == 0,
          "MPI_File_set_view");
    if (type != MPI_DOUBLE)
        MPI_Type_free(&type);
}

static void move(int writes)
{
    char mode[64];
    MPI_Status status;
    check(word(mode), "mode");
    MPI_Offset at = (MPI_Offset)number();
    int count = (int)number();
    int (*call)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) =
        is(mode, "collective") ? MPI_File_read_at_all : MPI_File_read_at;
    if (!writes)
        check(call(file, at, data, count, MPI_DOUBLE, &status) == 0, "reading");
    else if (is(mode, "collective"))
        check(MPI_File_write_at_all(file, at, data, count, MPI_DOUBLE, &status) == 0, "writing");
    else
        check(MPI_File_write_at(file, at, data, count, MPI_DOUBLE, &status) == 0, "writing");
}

int main(int argc, char **argv)
{
    char what[64];
    int closed = 0;
    begin(&argc, &argv);
    check(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == 0,
          "MPI_File_open");
    while (word(what)) {
        if (is(what, "size"))
            MPI_File_set_size(file, (MPI_Offset)number());
        else if (is(what, "view"))
            view();
        else if (is(what, "close"))
            closed = 1;
        else
            move(is(what, "write"));
    }
    if (closed)
        MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
