/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what one rank has to do from the words of a file:
 *
 *   dataset NAME GROWS N EXTENT...              defined by all ranks
 *   open N / extend N                           number of the dataset that later calls concern
 *   write|read collective|independent SELECTION
 *   close                                       otherwise the handles are leaked
 *
 * SELECTION: slab N START... STRIDE... COUNT... BLOCK..., boxes N M (START... COUNT...)...,
 * combined (as boxes), points N M (COORDINATE...)..., none, all; see each program for its own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMS 8
#define MOST_BYTES (1 << 22)

static FILE *script;
static int rank;
static double data[MOST_BYTES / 8];

static inline int word(char *text)
{
    return fscanf(script, "%63s", text) == 1;
}

static inline long long number(void)
{
    long long value = 0;
    if (fscanf(script, "%lld", &value) != 1) {
        fprintf(stderr, "a number is missing\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return value;
}

static inline int is(const char *text, const char *name)
{
    return strcmp(text, name) == 0;
}

static inline void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %d: %s failed\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Opens the words of this rank: PREFIX.RANK. */
static inline void begin(int *argc, char ***argv)
{
    char path[4096];
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", (*argv)[1], rank);
    script = fopen(path, "r");
    check(script != NULL, "opening the script");
}
