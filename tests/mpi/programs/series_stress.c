/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * series_stress SEED: a program that is right, and opens files at random on random communicators:
 * parts of the world, copies, single ranks, no communicator at all; some opens fail, some files
 * stay open, some ranks pass other hints or other spellings of a name, some open more than others.
 * What was written is read back through MPI-IO.  All ranks draw the same numbers; `own` are a
 * rank's.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 14
#define BLOCK 512
#define MOST_BLOCKS 16
#define MOST_OPEN (2 * STEPS) /* all of them: ranks must not differ in which they keep open */

static unsigned long long shared_state;
static unsigned long long own_state;
static int world_rank;
static MPI_File open_files[MOST_OPEN];
static int n_open;

static unsigned draw(unsigned long long *state, unsigned below)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33) % below;
}

static unsigned all(unsigned below)
{
    return draw(&shared_state, below);
}

static unsigned own(unsigned below)
{
    return draw(&own_state, below);
}

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", world_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

/* The communicator of a step; MPI_COMM_NULL on ranks that have none. */
static MPI_Comm choose(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    unsigned kind = all(6);
    unsigned parts = 1 + all(3);
    unsigned left_out = all(4);
    int color = (int)((unsigned)world_rank % parts);
    if (kind == 0)
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    else if (kind == 1)
        MPI_Comm_split(MPI_COMM_WORLD, (unsigned)world_rank == left_out ? MPI_UNDEFINED : color,
                       -world_rank, &comm);
    else if (kind == 2)
        MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static MPI_Info hints(unsigned kind)
{
    MPI_Info info = MPI_INFO_NULL;
    if (kind == 0 || (kind == 1 && own(2))) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "access_style", "write_once");
        if (kind == 0)
            MPI_Info_set(info, "cb_buffer_size", "32768");
    }
    return info;
}

static void move(MPI_Comm comm, MPI_File file, unsigned blocks, unsigned way, int writing)
{
    int rank, size;
    static char data[BLOCK * MOST_BLOCKS], found[BLOCK * MOST_BLOCKS];
    MPI_Datatype type;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int count = (int)blocks * BLOCK;
    for (int i = 0; i < count; i++)
        data[i] = (char)(rank * 31 + i * 7);
    char *buffer = writing ? data : found;
    if (way < 2) {
        MPI_Type_vector((int)blocks, BLOCK, BLOCK * size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_BYTE, type, "native", MPI_INFO_NULL);
        if (writing)
            MPI_File_write_all(file, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_all(file, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    } else if (writing)
        MPI_File_write_at(file, (MPI_Offset)rank * count, buffer, count, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    else
        MPI_File_read_at(file, (MPI_Offset)rank * count, buffer, count, MPI_BYTE,
                         MPI_STATUS_IGNORE);
    if (!writing && memcmp(data, found, (size_t)count) != 0)
        fail("read back what was not written");
}

/* The name of a step's file: with a number; each part of the ranks has its own. */
static void name_of(char name[100], MPI_Comm comm, unsigned family, int step, unsigned spelling)
{
    int lowest = world_rank;
    MPI_Allreduce(&world_rank, &lowest, 1, MPI_INT, MPI_MIN, comm);
    snprintf(name, 100, "%sfamily%c_%d_%d", spelling == 0 && own(2) ? "./" : "",
             (char)('a' + family), lowest, step);
}

static void close_one(MPI_File *file, unsigned keep)
{
    if (keep == 0 && n_open < MOST_OPEN)
        open_files[n_open++] = *file;
    else
        MPI_File_close(file);
}

static void step_on(MPI_Comm comm, int step)
{
    char name[100];
    MPI_File file;
    unsigned family = all(2), blocks = 1 + all(MOST_BLOCKS), way = all(3), again = all(2);
    unsigned keep = all(7);
    MPI_Info info = hints(all(12));
    unsigned spelling = all(12);
    if (comm == MPI_COMM_NULL) {
        if (own(2))
            MPI_File_open(comm, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    } else {
        name_of(name, comm, family, step, spelling);
        if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) != MPI_SUCCESS)
            fail("cannot open its file");
        move(comm, file, blocks, way, 1);
        close_one(&file, keep);
        if (again && keep != 0) {
            MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
            move(comm, file, blocks, way, 0);
            MPI_File_close(&file);
        }
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

/* What other programs do between two files. */
static void disturb(int step)
{
    MPI_File file;
    char name[50];
    unsigned kind = all(14);
    if (kind == 0 && MPI_File_open(MPI_COMM_WORLD, "nowhere/f", MPI_MODE_RDONLY, MPI_INFO_NULL,
                                   &file) == MPI_SUCCESS)
        fail("opened a file that is not there");
    if (kind == 1 && own(4) == 0) { /* on some ranks only */
        snprintf(name, sizeof name, "alone%d_%d", world_rank, step);
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file);
        MPI_File_close(&file);
    }
    if (kind == 2 && MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                   MPI_INFO_NULL, &file) == MPI_SUCCESS)
        fail("opened with a mode that there is not");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    shared_state = strtoull(argv[1], NULL, 10) * 2654435761ULL + 1;
    own_state = shared_state + (unsigned long long)(world_rank + 1) * 40503;
    for (int step = 0; step < STEPS; step++) {
        MPI_Comm comm = choose();
        disturb(step);
        step_on(comm, step);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    for (int i = 0; i < n_open; i++)
        MPI_File_close(&open_files[i]);
    MPI_Finalize();
    return 0;
}
