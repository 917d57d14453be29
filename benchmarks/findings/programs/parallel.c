// SPDX-FileCopyrightText: 2026 The Stripewise developers
// SPDX-License-Identifier: BSD-3-Clause
// MPI programs with a planted fault, and the same without: parallel CASE bad|good
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static int rank, ranks;

static void check(int failed, const char *what)
{
    if (!failed)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static char *memory(size_t bytes)
{
    char *all = calloc(1, bytes);
    check(!all, "calloc");
    return all;
}

static MPI_File open_shared(const char *path, int mode)
{
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file), path);
    return file;
}

// The columns of all ranks lie between one another: a file view for the collective call.
static void interleave(MPI_File file, int piece, int pieces)
{
    MPI_Datatype column;
    MPI_Type_vector(pieces, piece, piece * ranks, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, column, "native", MPI_INFO_NULL);
    MPI_Type_free(&column);
}

// Columns of a shared array, a call for each of their pieces; good: one collective call.
static void columns(int bad, int piece, int pieces, int writing)
{
    char *all = memory((size_t)piece * pieces);
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_File file = open_shared("columns.dat", mode);
    if (!writing) {
        check(MPI_File_write_at_all(file, (MPI_Offset)rank * piece * pieces, all, piece * pieces,
                                    MPI_BYTE, MPI_STATUS_IGNORE),
              "write");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!bad)
        interleave(file, piece, pieces);
    for (int i = 0; bad && i < pieces; i++) {
        const MPI_Offset at = ((MPI_Offset)i * ranks + rank) * piece;
        char *part = all + (size_t)i * piece;
        check(writing ? MPI_File_write_at(file, at, part, piece, MPI_BYTE, MPI_STATUS_IGNORE)
                      : MPI_File_read_at(file, at, part, piece, MPI_BYTE, MPI_STATUS_IGNORE),
              "columns.dat");
    }
    if (!bad)
        check(writing ? MPI_File_write_all(file, all, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE)
                      : MPI_File_read_all(file, all, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE),
              "columns.dat");
    MPI_File_close(&file);
    free(all);
}

// Records of many fields: each rank updates its own fields in all of them, without the others.
static void fields(int bad)
{
    (void)bad;
    const int field = 48, records = 250000;
    char *all = memory((size_t)field * records);
    MPI_File file = open_shared("fields.dat", MPI_MODE_CREATE | MPI_MODE_RDWR);
    interleave(file, field, records);
    for (int step = 0; step < 3; step++) {
        check(MPI_File_write_at(file, 0, all, field * records, MPI_BYTE, MPI_STATUS_IGNORE),
              "fields.dat");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    free(all);
}

static void columns_write(int bad)
{
    columns(bad, 64, 400000, 1);
}

static void columns_read(int bad)
{
    columns(bad, 64, 600000, 0);
}

// Large pieces already: collective calls would gain nothing.
static void blocks(int bad)
{
    (void)bad;
    columns(1, 4 * MIB, 60, 1);
}

// A record of each rank into its own file, by a call of its own.
static void own_files(int bad)
{
    char name[32], record[100] = {0};
    snprintf(name, sizeof name, "rank.%d", rank);
    int file = bad ? open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1;
    FILE *stream = bad ? NULL : fopen(name, "wb");
    if (stream)
        setvbuf(stream, NULL, _IOFBF, MIB);
    for (int i = 0; i < 400000; i++)
        check(bad ? write(file, record, 100) != 100 : fwrite(record, 100, 1, stream) != 1, name);
    check(bad ? close(file) : fclose(stream), name);
}

#ifdef OPEN_MPI
enum { STEPS = 1500 }; // an open takes it 2 ms
#else
enum { STEPS = 15000 };
#endif

// A shared file that is opened for every step.
static void steps(int bad)
{
    char block[8192] = {0};
    const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
    MPI_File file = bad ? MPI_FILE_NULL : open_shared("steps.dat", mode);
    for (int i = 0; i < STEPS; i++) {
        if (bad)
            file = open_shared("steps.dat", mode);
        const MPI_Offset at = ((MPI_Offset)i * ranks + rank) * (MPI_Offset)sizeof block;
        check(MPI_File_write_at(file, at, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE),
              "write");
        if (bad)
            MPI_File_close(&file);
    }
    if (!bad)
        MPI_File_close(&file);
}

// Every step is forced to the disk.
static void synced_steps(int bad)
{
    char *block = memory(64 << 10);
    MPI_File file = open_shared("synced.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    for (int i = 0; i < 1000; i++) {
        const MPI_Offset at = ((MPI_Offset)i * ranks + rank) * (64 << 10);
        check(MPI_File_write_at(file, at, block, 64 << 10, MPI_BYTE, MPI_STATUS_IGNORE), "write");
        if (bad)
            MPI_File_sync(file);
    }
    MPI_File_sync(file);
    MPI_File_close(&file);
    free(block);
}

// Each rank reads the whole input again in each step.
static void reread(int bad)
{
    const size_t bytes = 48 * MIB;
    char *all = memory(bytes);
    if (rank == 0) {
        FILE *made = fopen("input.dat", "wb");
        check(!made || fwrite(all, 1, bytes, made) != bytes || fclose(made), "input.dat");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < (bad ? 40 : 1); step++) {
        const int file = open("input.dat", O_RDONLY);
        for (size_t at = 0; at < bytes; at += 4 * MIB)
            check(read(file, all + at, 4 * MIB) != 4 * MIB, "read");
        check(close(file), "input.dat");
    }
    free(all);
}

// The ranks ask again and again whether the input is there.
static void asking(int bad)
{
    struct stat found;
    for (int i = 0; i < (bad ? 400000 : 1); i++)
        check(stat(".", &found), "stat");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int bad);
    } cases[] = {{"columns-write", columns_write},
                 {"columns-read", columns_read},
                 {"fields", fields},
                 {"blocks", blocks},
                 {"own-files", own_files},
                 {"steps", steps},
                 {"synced-steps", synced_steps},
                 {"reread", reread},
                 {"asking", asking}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int known = 0;
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            cases[i].run(!strcmp(argv[2], "bad")), known = 1;
    if (!known && rank == 0)
        fprintf(stderr, "usage: parallel CASE bad|good\n");
    MPI_Finalize();
    return known ? 0 : 2;
}
