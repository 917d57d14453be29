/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * victim COUNTERS THREADS RANDOM: each thread writes 64 bytes to a file of its own without end,
 * and after each completed write adds one to its counter in the file COUNTERS, which is shared
 * memory: it survives the kill.  Offsets: one after the other in rows of ten, or at random.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t *counters;
static int at_random;

static off_t offset_of(uint64_t k)
{
    if (!at_random)
        return (off_t)(k % 10 * 64 + k / 10 % 100 * 1000);
    k = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (off_t)((k ^ k >> 29) % 4096 * 64);
}

static void *work(void *argument)
{
    char name[32];
    char data[64] = {0};
    intptr_t me = (intptr_t)argument;
    snprintf(name, sizeof name, "victim-%d", (int)me);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (uint64_t k = 0;; k++) {
        if (pwrite(fd, data, sizeof data, offset_of(k)) != sizeof data)
            exit(1);
        counters[me * 8] = k + 1; /* 8: a cache line each */
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int fd = open(arguments[1], O_RDWR);
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || counters == MAP_FAILED)
        return 1;
    at_random = atoi(arguments[3]);
    for (intptr_t i = 1; i < atoi(arguments[2]); i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
    }
    work(NULL);
    return 0;
}
