/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of capture, measured inside a program that runs under the library.
 *
 *   cost_of_capture pairs LAYER FILE BYTES PAIRS CALLS [random]
 *   cost_of_capture turns FILE BYTES CALLS [random]
 *
 * LAYER: posix, synced (with fsync), mpiio or hdf5 (those two if built with them). `pairs` makes
 * bursts of CALLS writes of BYTES through the library (the function's name) and around it (the
 * real function), in random order within each pair, and prints a line "with_ns without_ns" of
 * nanoseconds per call for each pair. What the call does below, the pwrite of an H5Dwrite, goes
 * through the library in both.
 *
 * `turns` makes CALLS POSIX writes for each line on standard input, so that several processes can
 * take turns; at the end of input it prints the time, and exits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#ifdef WITH_MPI
#include <mpi.h>
#endif
#ifdef WITH_HDF5
#include <hdf5.h>
#endif

#define REGION_BYTES (1 << 20) /* written repeatedly: stays in the page cache */

static char *data;
static size_t bytes;
static size_t slots;
static int random_order;

static size_t next_slot(void)
{
    static uint64_t state = 1;
    static size_t call;
    if (!random_order)
        return call++ % slots;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % slots;
}

/* Returns a function of the library that contains `neighbour`, which Stripewise does not wrap. */
static void *function_beside(const char *neighbour, const char *name)
{
    Dl_info where;
    void *known = dlsym(RTLD_DEFAULT, neighbour);
    if (known == NULL || dladdr(known, &where) == 0)
        return NULL;
    void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return library != NULL ? dlsym(library, name) : NULL;
}

/* ---- posix ------------------------------------------------------------------------ */

static int fd = -1;
static ssize_t (*pwrite_past)(int, const void *, size_t, off_t);
static int (*fsync_past)(int);

static int open_posix(const char *path)
{
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    *(void **)&pwrite_past = function_beside("getppid", "pwrite");
    *(void **)&fsync_past = function_beside("getppid", "fsync");
    return fd >= 0 && pwrite_past != NULL && fsync_past != NULL;
}

static int write_posix(int past)
{
    off_t offset = (off_t)(next_slot() * bytes);
    return (past ? pwrite_past : pwrite)(fd, data, bytes, offset) == (ssize_t)bytes;
}

static int write_synced(int past)
{
    return write_posix(past) && (past ? fsync_past : fsync)(fd) == 0;
}

static void close_posix(void)
{
    close(fd);
}

/* ---- MPI-IO ------------------------------------------------------------------------ */

#ifdef WITH_MPI
static MPI_File file;
static int (*write_at_past)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);

static int open_mpiio(const char *path)
{
    MPI_Init(NULL, NULL);
    *(void **)&write_at_past = function_beside("MPI_Wtick", "MPI_File_write_at");
    return write_at_past != NULL &&
           MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS;
}

static int write_mpiio(int past)
{
    return (past ? write_at_past : MPI_File_write_at)(file, (MPI_Offset)(next_slot() * bytes),
                                                      data, (int)bytes, MPI_BYTE,
                                                      MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static void close_mpiio(void)
{
    MPI_File_close(&file);
    MPI_Finalize();
}
#endif

/* ---- HDF5 ---------------------------------------------------------------------------- */

#ifdef WITH_HDF5
static hid_t h5_file, dataset, space, memory;
static herr_t (*h5dwrite_past)(hid_t, hid_t, hid_t, hid_t, hid_t, const void *);

static int open_hdf5(const char *path)
{
    hsize_t extents[2] = {slots, bytes}, count = bytes;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_sieve_buf_size(access, 0); /* as in parallel: each write goes to the file */
    h5_file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    space = H5Screate_simple(2, extents, NULL);
    memory = H5Screate_simple(1, &count, NULL);
    dataset =
        H5Dcreate2(h5_file, "data", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    *(void **)&h5dwrite_past = function_beside("H5garbage_collect", "H5Dwrite");
    return dataset >= 0 && h5dwrite_past != NULL;
}

static int write_hdf5(int past)
{
    hsize_t start[2] = {next_slot(), 0}, count[2] = {1, bytes};
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           (past ? h5dwrite_past : H5Dwrite)(dataset, H5T_NATIVE_CHAR, memory, space, H5P_DEFAULT,
                                             data) >= 0;
}

static void close_hdf5(void)
{
    H5Dclose(dataset);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(h5_file);
}
#endif

/* ---- bursts -------------------------------------------------------------------------- */

static const struct layer {
    const char *name;
    int (*open)(const char *path);
    int (*write)(int past);
    void (*close)(void);
} layers[] = {
    {"posix", open_posix, write_posix, close_posix},
    {"synced", open_posix, write_synced, close_posix},
#ifdef WITH_MPI
    {"mpiio", open_mpiio, write_mpiio, close_mpiio},
#endif
#ifdef WITH_HDF5
    {"hdf5", open_hdf5, write_hdf5, close_hdf5},
#endif
};

static double burst_ns(const struct layer *layer, int calls, int past)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        if (!layer->write(past))
            exit(1);
    return (now_ns() - start) / calls;
}

static int make_pairs(const struct layer *layer, const char *path, int pairs, int calls)
{
    if (!layer->open(path))
        return 1;
    burst_ns(layer, calls, 0);
    burst_ns(layer, calls, 1);
    srand(1);
    for (int i = 0; i < pairs; i++) {
        int past_first = (rand() >> 8) & 1;
        double first = burst_ns(layer, calls, past_first);
        double second = burst_ns(layer, calls, !past_first);
        printf("%.2f %.2f\n", past_first ? second : first, past_first ? first : second);
    }
    layer->close();
    return 0;
}

static int take_turns(const char *path, int calls)
{
    char line[16];
    if (!open_posix(path))
        return 1;
    while (read(STDIN_FILENO, line, sizeof line) > 0) {
        burst_ns(&layers[0], calls, 0);
        dprintf(STDOUT_FILENO, "done\n");
    }
    close_posix();
    dprintf(STDOUT_FILENO, "%.0f\n", now_ns()); /* at the start of exit() */
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: see the head of cost_of_capture.c\n");
    return 2;
}

static int prepare(const char *size)
{
    bytes = strtoul(size, NULL, 10);
    slots = bytes > 0 ? REGION_BYTES / bytes : 0;
    data = calloc(1, bytes);
    return slots > 0 && data != NULL;
}

int main(int count, char **arguments)
{
    if (count >= 5 && strcmp(arguments[1], "turns") == 0) {
        random_order = count > 5;
        return prepare(arguments[3]) ? take_turns(arguments[2], atoi(arguments[4])) : 1;
    }
    if (count < 7 || strcmp(arguments[1], "pairs") != 0 || !prepare(arguments[4]))
        return usage();
    random_order = count > 7;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (strcmp(layers[i].name, arguments[2]) == 0)
            return make_pairs(&layers[i], arguments[3], atoi(arguments[5]), atoi(arguments[6]));
    return usage();
}
