/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * edges FILE: MPI-IO where a question would be an error that ends the program (every error is
 * fatal here), then from four threads at a time, each through its own part of one file and
 * through the pointer of a file of its own.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define CALLS 50

static MPI_File shared;
static const char *name;

static MPI_Comm comms[THREADS]; /* threads may not open files at once on one communicator */

static MPI_File open_file(MPI_Comm comm, const char *path, int mode)
{
    MPI_File file;
    MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    return file;
}

static void sequential(void)
{
    char data[16] = "sequential";
    MPI_File file =
        open_file(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    MPI_File_write_shared(file, data, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void nothing(void)
{
    int data = 0;
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_File file = open_file(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    MPI_File_write(file, &data, 0, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(file, &data, 3, empty, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 4, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&empty);
}

static void *work(void *number)
{
    char path[4096], data[64] = "thread";
    int thread = (int)(size_t)number;
    snprintf(path, sizeof path, "%s.%d", name, thread);
    MPI_File own = open_file(comms[thread], path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(own, 64 * thread, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (int i = 0; i < CALLS; i++) {
        MPI_Offset at = (MPI_Offset)(thread * CALLS + i) * 64;
        MPI_File_write_at(shared, at, data, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write(own, data, 64, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&own);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    name = argv[1];
    sequential();
    nothing();
    if (provided == MPI_THREAD_MULTIPLE) {
        shared = open_file(MPI_COMM_SELF, name, MPI_MODE_RDWR);
        for (size_t i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            MPI_Comm_free(&comms[i]);
        }
        MPI_File_close(&shared);
    }
    MPI_Finalize();
    return provided == MPI_THREAD_MULTIPLE ? 0 : 1;
}
