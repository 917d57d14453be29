/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain loop that the kernel is compared with: open, write, close, and nothing else.
 *
 *   kernel_overhead independent|collective|process FILE VARIABLES BYTES STEPS SYNC
 *
 * In each step, every rank appends BYTES of each variable: to one file, at its offset in the
 * variable's region, or to a file of its own. Rank 0 prints the longest time of a rank in each
 * step, in seconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
    const char *path;
    const char *data;
    int rank;
    int n_ranks;
    int n_variables;
    int bytes;
    int sync;
    int step;
};

static void require(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_shared(const struct work *work, int collective)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, work->path, MPI_MODE_RDWR | MPI_MODE_CREATE,
                             MPI_INFO_NULL, &file);
    require(code == MPI_SUCCESS, "MPI_File_open");
    for (int v = 0; v < work->n_variables; v++) {
        MPI_Offset region = (MPI_Offset)work->step * work->n_variables + v;
        MPI_Offset place = (region * work->n_ranks + work->rank) * work->bytes;
        const float *data = (const float *)(work->data + (size_t)v * (size_t)work->bytes);
        int count = work->bytes / (int)sizeof *data;
        code = collective
                   ? MPI_File_write_at_all(file, place, data, count, MPI_FLOAT, MPI_STATUS_IGNORE)
                   : MPI_File_write_at(file, place, data, count, MPI_FLOAT, MPI_STATUS_IGNORE);
        require(code == MPI_SUCCESS, "MPI_File_write_at");
    }
    if (work->sync)
        MPI_File_sync(file);
    MPI_File_close(&file);
}

static void write_own(const struct work *work)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%06d", work->path, work->rank);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    require(fd >= 0, "open");
    off_t start = (off_t)work->step * work->n_variables * work->bytes;
    for (int v = 0; v < work->n_variables; v++) {
        size_t before = (size_t)v * (size_t)work->bytes;
        require(pwrite(fd, work->data + before, (size_t)work->bytes, start + (off_t)before) ==
                    work->bytes,
                "pwrite");
    }
    if (work->sync)
        require(fsync(fd) == 0, "fsync");
    require(close(fd) == 0, "close");
}

/* Makes fresh data, like the kernel, then one timed write. */
static double run_step(const struct work *work, float *data, const char *mode)
{
    size_t n = (size_t)work->n_variables * (size_t)work->bytes / sizeof *data;
    for (size_t i = 0; i < n; i++)
        data[i] = (float)((i + (size_t)work->step) % (1 << 24));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (strcmp(mode, "process") == 0)
        write_own(work);
    else
        write_shared(work, strcmp(mode, "collective") == 0);
    double seconds = MPI_Wtime() - start;
    MPI_Reduce(work->rank == 0 ? MPI_IN_PLACE : &seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    return seconds;
}

int main(int argc, char **argv)
{
    struct work work = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &work.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &work.n_ranks);
    require(argc == 7, "kernel_overhead MODE FILE VARIABLES BYTES STEPS SYNC");
    work.path = argv[2];
    work.n_variables = atoi(argv[3]);
    work.bytes = atoi(argv[4]);
    work.sync = atoi(argv[6]);
    float *data = malloc((size_t)work.n_variables * (size_t)work.bytes);
    require(data != NULL, "malloc");
    work.data = (const char *)data;
    for (work.step = 0; work.step < atoi(argv[5]); work.step++) {
        double seconds = run_step(&work, data, argv[1]);
        if (work.rank == 0)
            printf("%.9f\n", seconds);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
