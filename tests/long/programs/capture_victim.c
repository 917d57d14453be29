/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * capture_victim COUNTERS THREADS: each thread of each rank writes 64 bytes to a file of its own
 * without end, and after each completed write adds one to its counter in the file COUNTERS, which
 * is shared memory: it survives the kill.  Through MPI-IO, or HDF5 with -DVICTIM_HDF5 (one
 * thread). With -DVICTIM_POSIX there is no MPI.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef VICTIM_POSIX
#include <mpi.h>
#endif
#ifdef VICTIM_HDF5
#include <hdf5.h>
#endif

#define ROWS 4096
#define THREADS 4

static volatile uint64_t *counters;
static int rank;

/* Row of write k: one after the other in rows of ten, then at random, in turns. */
static uint64_t row_of(uint64_t k)
{
    if (k / 1000 % 2 == 0)
        return k % 10 + k / 10 % 100 * 16;
    k = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (k ^ k >> 29) % ROWS;
}

static void completed(intptr_t thread, uint64_t k)
{
    counters[(rank * THREADS + thread) * 8] = k + 1; /* 8: a cache line each */
}

static const char *name_of(intptr_t thread)
{
    static __thread char name[32];
    snprintf(name, sizeof name, "victim-%d", rank * THREADS + (int)thread);
    return name;
}

#if defined VICTIM_POSIX
static void *work(void *thread)
{
    char data[64] = {0};
    int fd = open(name_of((intptr_t)thread), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (uint64_t k = 0;; k++) {
        if (pwrite(fd, data, sizeof data, (off_t)row_of(k) * 64) != sizeof data)
            exit(1);
        completed((intptr_t)thread, k);
    }
    return NULL;
}
#elif defined VICTIM_HDF5
static void *work(void *thread)
{
    char data[64] = {0};
    hsize_t extents[2] = {ROWS, 64};
    hsize_t count[2] = {1, 64};
    hid_t file = H5Fcreate(name_of((intptr_t)thread), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, extents, NULL);
    hid_t row = H5Screate_simple(2, count, NULL);
    hid_t dataset =
        H5Dcreate2(file, "rows", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (uint64_t k = 0;; k++) {
        hsize_t start[2] = {row_of(k), 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        if (H5Dwrite(dataset, H5T_NATIVE_CHAR, row, space, H5P_DEFAULT, data) < 0)
            exit(1);
        completed((intptr_t)thread, k);
    }
    return NULL;
}
#else
static MPI_File files[THREADS];

/* MPI_File_open is collective: threads may not make it at the same time on one communicator. */
static void open_files(int threads)
{
    for (intptr_t i = 0; i < threads; i++)
        MPI_File_open(MPI_COMM_SELF, name_of(i), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &files[i]);
}

static void *work(void *thread)
{
    char data[64] = {0};
    MPI_File file = files[(intptr_t)thread];
    for (uint64_t k = 0;; k++) {
        if (MPI_File_write_at(file, (MPI_Offset)row_of(k) * 64, data, 64, MPI_BYTE,
                              MPI_STATUS_IGNORE) != MPI_SUCCESS)
            exit(1);
        completed((intptr_t)thread, k);
    }
    return NULL;
}
#endif

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
#ifndef VICTIM_POSIX
    int provided;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    int fd = open(arguments[1], O_RDWR);
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || counters == MAP_FAILED)
        return 1;
    counters[(rank * THREADS) * 8 + 1] = (uint64_t)getpid();
#if !defined VICTIM_POSIX && !defined VICTIM_HDF5
    open_files(atoi(arguments[2]));
#endif
    for (intptr_t i = 1; i < atoi(arguments[2]); i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
    }
    work(NULL);
    return 0;
}
