/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * series MODE N: writes N files in series, each rank every other block of 1000 bytes through a
 * file view, all of it by collective calls.  MODE: plain     on MPI_COMM_WORLD split     even and
 * odd ranks on communicators of their own others    rank 0 opens one more file by itself, before
 * the second one info      rank 0 alone passes a hint missing   every third open is of a file that
 * does not exist null      before each open, one on MPI_COMM_NULL and on an intercommunicator open
 * files are closed at the very end threads   two threads of each rank, on communicators of their
 * own spawn     merged with two spawned processes
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1000
#define BLOCKS 8
#define MOST_FILES 64

static MPI_File left_open[MOST_FILES];
static const char *mode;

static void fill(char *data, int number, int rank)
{
    for (int i = 0; i < BLOCK * BLOCKS; i++)
        data[i] = (char)(number * 7 + rank * 31 + i);
}

static void move(MPI_Comm comm, MPI_File file, int number)
{
    int rank, size;
    char data[BLOCK * BLOCKS];
    MPI_Datatype type;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    fill(data, number, rank);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, BLOCK * BLOCKS, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

static MPI_Info info_of(void)
{
    int rank;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "info") == 0 && rank == 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "access_style", "write_once");
    }
    return info;
}

static void write_one(MPI_Comm comm, const char *prefix, int number)
{
    char name[100];
    MPI_File file;
    MPI_Info info = info_of();
    snprintf(name, sizeof name, "%s%03d.dat", prefix, number);
    if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    move(comm, file, number);
    if (strcmp(mode, "open") == 0)
        left_open[number % MOST_FILES] = file;
    else
        MPI_File_close(&file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

static void open_missing(MPI_Comm comm)
{
    MPI_File file;
    if (MPI_File_open(comm, "nowhere/f", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 4);
}

static void open_what_is_none(void)
{
    MPI_File file;
    MPI_Comm half, between;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_NULL, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &between);
    MPI_File_open(between, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void open_alone(void)
{
    MPI_File file;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    MPI_File_open(MPI_COMM_SELF, "own", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
}

static void before(MPI_Comm comm, int number)
{
    if (strcmp(mode, "others") == 0 && number == 1)
        open_alone();
    if (strcmp(mode, "missing") == 0 && number % 3 == 1)
        open_missing(comm);
    if (strcmp(mode, "null") == 0)
        open_what_is_none();
}

static void write_series(MPI_Comm comm, const char *prefix, int n_files)
{
    for (int number = 0; number < n_files; number++) {
        before(comm, number);
        write_one(comm, prefix, number);
    }
    for (int number = 0; number < n_files && strcmp(mode, "open") == 0; number++)
        MPI_File_close(&left_open[number]);
}

struct work {
    MPI_Comm comm;
    const char *prefix;
    int n_files;
};

static void *in_thread(void *given)
{
    struct work *work = given;
    write_series(work->comm, work->prefix, work->n_files);
    return NULL;
}

static void write_in_threads(int n_files)
{
    pthread_t thread;
    struct work other = {MPI_COMM_NULL, "second", n_files};
    MPI_Comm_dup(MPI_COMM_WORLD, &other.comm);
    pthread_create(&thread, NULL, in_thread, &other);
    write_series(MPI_COMM_WORLD, "first", n_files);
    pthread_join(thread, NULL);
    MPI_Comm_free(&other.comm);
}

static void write_merged(char *program, int n_files)
{
    MPI_Comm parent, between, merged;
    char *arguments[] = {(char *)mode, "0", NULL};
    char number[8];
    snprintf(number, sizeof number, "%d", n_files);
    arguments[1] = number;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        write_series(MPI_COMM_WORLD, "before", n_files);
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    } else
        between = parent;
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &merged);
    write_series(merged, "merged", n_files);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
}

int main(int argc, char **argv)
{
    int rank, provided;
    if (argc < 3)
        return 2;
    mode = argv[1];
    int n_files = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "split") == 0) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        write_series(half, rank % 2 ? "odd" : "even", n_files);
        MPI_Comm_free(&half);
    } else if (strcmp(mode, "threads") == 0 && provided == MPI_THREAD_MULTIPLE)
        write_in_threads(n_files);
    else if (strcmp(mode, "spawn") == 0)
        write_merged(argv[0], n_files);
    else
        write_series(MPI_COMM_WORLD, "out", n_files);
    MPI_Finalize();
    return 0;
}
