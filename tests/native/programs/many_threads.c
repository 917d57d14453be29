/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Threads, one after the other, write three times each. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 300 /* unless the first argument says otherwise */

static int fd;

static void *work(void *argument)
{
    char bytes[8] = {0};
    for (int i = 0; i < 3; i++)
        (void)!pwrite(fd, bytes, sizeof bytes, (intptr_t)argument * 100 + i * 8);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    intptr_t threads = count > 1 ? atol(arguments[1]) : THREADS;
    fd = open("many", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (intptr_t i = 0; i < threads; i++) {
        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return close(fd);
}
