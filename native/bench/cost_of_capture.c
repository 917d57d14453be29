/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What capture costs, seen from inside a program that runs under the library, or without it.
 *
 *   cost_of_capture WHAT FILE BYTES CALLS [random]
 *
 * WHAT: posix, synced (with fsync), mpiio or hdf5 (those two if built with them).  For each line
 * on standard input it makes CALLS writes of BYTES and prints the nanoseconds that one took, so
 * that several of these can take turns.  At the end of input it prints the clock, and exits.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#ifdef WITH_HDF5
#include <hdf5.h>
#endif

#define REGION_BYTES (1 << 20) /* written over and over: stays in the page cache */

static char *data;
static size_t bytes;
static size_t slots;
static int random_order;
static size_t call;
static int fd = -1;
#ifdef WITH_MPI
static MPI_File file;
#endif
#ifdef WITH_HDF5
static hid_t h5_file, dataset, space, memory;
#endif

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static size_t next_slot(void)
{
    static uint64_t state = 1;
    if (!random_order)
        return call++ % slots;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % slots;
}

/* ---- posix ------------------------------------------------------------------------ */

static int open_posix(const char *path)
{
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    return fd >= 0;
}

static int write_posix(void)
{
    return pwrite(fd, data, bytes, (off_t)(next_slot() * bytes)) == (ssize_t)bytes;
}

static int write_synced(void)
{
    return write_posix() && fsync(fd) == 0;
}

static void close_posix(void)
{
    close(fd);
}

/* ---- MPI-IO and HDF5 --------------------------------------------------------------- */

#ifdef WITH_MPI
static int open_mpiio(const char *path)
{
    MPI_Init(NULL, NULL);
    return MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS;
}

static int write_mpiio(void)
{
    return MPI_File_write_at(file, (MPI_Offset)(next_slot() * bytes), data, (int)bytes, MPI_BYTE,
                             MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static void close_mpiio(void)
{
    MPI_File_close(&file);
    MPI_Finalize();
}
#endif

#ifdef WITH_HDF5
static int open_hdf5(const char *path)
{
    hsize_t extents[2] = {slots, bytes}, count = bytes;
    h5_file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    space = H5Screate_simple(2, extents, NULL);
    memory = H5Screate_simple(1, &count, NULL);
    dataset =
        H5Dcreate2(h5_file, "data", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return dataset >= 0;
}

static int write_hdf5(void)
{
    hsize_t start[2] = {next_slot(), 0}, count[2] = {1, bytes};
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           H5Dwrite(dataset, H5T_NATIVE_CHAR, memory, space, H5P_DEFAULT, data) >= 0;
}

static void close_hdf5(void)
{
    H5Dclose(dataset);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(h5_file);
}
#endif

static const struct way {
    const char *name;
    int (*open)(const char *path);
    int (*write)(void);
    void (*close)(void);
} ways[] = {
    {"posix", open_posix, write_posix, close_posix},
    {"synced", open_posix, write_synced, close_posix},
#ifdef WITH_MPI
    {"mpiio", open_mpiio, write_mpiio, close_mpiio},
#endif
#ifdef WITH_HDF5
    {"hdf5", open_hdf5, write_hdf5, close_hdf5},
#endif
};

static int take_turns(const struct way *way, int calls)
{
    char line[16];
    while (read(STDIN_FILENO, line, sizeof line) > 0) {
        double start = now_ns();
        for (int i = 0; i < calls; i++)
            if (!way->write())
                return 1;
        dprintf(STDOUT_FILENO, "%.2f\n", (now_ns() - start) / calls);
    }
    way->close();
    dprintf(STDOUT_FILENO, "%.0f\n", now_ns()); /* of the beginning of exit() */
    return 0;
}

int main(int count, char **arguments)
{
    for (size_t i = 0; count >= 5 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, arguments[1]) != 0)
            continue;
        bytes = strtoul(arguments[3], NULL, 10);
        slots = REGION_BYTES / bytes;
        random_order = count > 5;
        data = calloc(1, bytes);
        if (data == NULL || !ways[i].open(arguments[2]))
            return 1;
        return take_turns(&ways[i], atoi(arguments[4]));
    }
    fprintf(stderr, "usage: see the head of cost_of_capture.c\n");
    return 2;
}
