/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of counting, measured inside a program that runs under the library.
 *
 *   cost_per_call calls  FILE BYTES BLOCKS CALLS THREADED
 *   cost_per_call synced FILE BYTES CALLS
 *   cost_per_call idle   FILES
 *   cost_per_call held   FILE BYTES CALLS FIRST STRIDE MOMENT
 *
 * `calls` alternates blocks of writes through the library (the name `pwrite`) and around it
 * (libc's own function), in random order within each pair, and prints one line "with_ns
 * without_ns" of nanoseconds per call for each pair. `synced` writes and syncs CALLS times and
 * prints the seconds. `idle` opens FILES files and prints its resident kilobytes, then exits.
 * `held` makes CALLS writes from offset FIRST on, STRIDE bytes apart, beginning at MOMENT
 * (CLOCK_MONOTONIC, nanoseconds), and prints when each ended relative to it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define REGION_BYTES (1 << 20) /* written repeatedly: stays in the page cache */

typedef ssize_t (*pwrite_function)(int, const void *, size_t, off_t);

static void *return_at_once(void *argument)
{
    return argument;
}

/* After the first thread, the C library and the counters never take the single-threaded path
 * again. */
static void become_threaded(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, return_at_once, NULL) == 0)
        pthread_join(thread, NULL);
}

static double block_ns(pwrite_function function, int fd, const char *data, size_t bytes, int calls)
{
    off_t offset = 0;
    double start = now_ns();
    for (int i = 0; i < calls; i++) {
        if (function(fd, data, bytes, offset) != (ssize_t)bytes)
            exit(1);
        offset = (offset + (off_t)bytes) % REGION_BYTES;
    }
    return (now_ns() - start) / calls;
}

static int run_calls(const char *path, size_t bytes, int blocks, int calls, int threaded)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    pwrite_function direct = libc != NULL ? (pwrite_function)dlsym(libc, "pwrite") : NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *data = calloc(1, bytes);
    if (direct == NULL || fd < 0 || data == NULL)
        return 1;
    if (threaded)
        become_threaded();
    block_ns(pwrite, fd, data, bytes, calls);
    block_ns(direct, fd, data, bytes, calls);
    srand((unsigned)getpid());
    for (int i = 0; i < blocks; i++) {
        int with_first = (rand() >> 8) & 1;
        double first = block_ns(with_first ? pwrite : direct, fd, data, bytes, calls);
        double second = block_ns(with_first ? direct : pwrite, fd, data, bytes, calls);
        printf("%.2f %.2f\n", with_first ? first : second, with_first ? second : first);
    }
    close(fd);
    free(data);
    return 0;
}

static int run_synced(const char *path, size_t bytes, int calls)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *data = calloc(1, bytes);
    if (fd < 0 || data == NULL)
        return 1;
    double start = now_ns();
    for (int i = 0; i < calls; i++) {
        if (pwrite(fd, data, bytes, (off_t)i * (off_t)bytes) != (ssize_t)bytes || fsync(fd) != 0)
            return 1;
    }
    printf("%.9f\n", (now_ns() - start) / 1e9);
    close(fd);
    free(data);
    return 0;
}

static long resident_kilobytes(void)
{
    long kilobytes = 0;
    char line[256];
    FILE *status = fopen("/proc/self/smaps_rollup", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0)
            kilobytes = strtol(line + 4, NULL, 10);
    }
    if (status != NULL)
        fclose(status);
    return kilobytes;
}

static int run_idle(int files)
{
    char path[64];
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "idle-%d", i);
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (fd < 0 || pwrite(fd, path, 1, 0) != 1)
            return 1;
        close(fd);
    }
    printf("%ld\n", resident_kilobytes());
    fflush(stdout);
    printf("%.0f\n", now_ns()); /* at the start of exit() */
    return 0;
}

static int run_held(const char *path, size_t bytes, int calls, off_t first, off_t stride,
                    double moment_ns)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    char *data = calloc(1, bytes);
    double *ends = calloc((size_t)calls, sizeof *ends);
    struct timespec moment = {(time_t)(moment_ns / 1e9), (long)fmod(moment_ns, 1e9)};
    if (fd < 0 || data == NULL || ends == NULL)
        return 1;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
    for (int i = 0; i < calls; i++) {
        if (pwrite(fd, data, bytes, first + i * stride) != (ssize_t)bytes)
            return 1;
        ends[i] = now_ns() - moment_ns;
    }
    for (int i = 0; i < calls; i++)
        printf("%.0f\n", ends[i]);
    free(ends);
    free(data);
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 8 && strcmp(arguments[1], "held") == 0)
        return run_held(arguments[2], strtoul(arguments[3], NULL, 10), atoi(arguments[4]),
                        atoll(arguments[5]), atoll(arguments[6]), strtod(arguments[7], NULL));
    if (count == 7 && strcmp(arguments[1], "calls") == 0)
        return run_calls(arguments[2], strtoul(arguments[3], NULL, 10), atoi(arguments[4]),
                         atoi(arguments[5]), atoi(arguments[6]));
    if (count == 5 && strcmp(arguments[1], "synced") == 0)
        return run_synced(arguments[2], strtoul(arguments[3], NULL, 10), atoi(arguments[4]));
    if (count == 3 && strcmp(arguments[1], "idle") == 0)
        return run_idle(atoi(arguments[2]));
    fprintf(stderr, "usage: see the head of cost_per_call.c\n");
    return 2;
}
