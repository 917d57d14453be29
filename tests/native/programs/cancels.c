/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Threads are cancelled amid their writes, wherever they are; the others write on. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 60

static int fd;

static void *work(void *argument)
{
    char bytes[8] = {0};
    unsigned chance = (unsigned)(intptr_t)argument;
    pthread_setcanceltype(chance % 2 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED,
                          NULL);
    for (;;)
        (void)!pwrite(fd, bytes, sizeof bytes, rand_r(&chance) % 65536);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char byte = 0;
    fd = open("cancelled", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (intptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 1;
        usleep((useconds_t)(500 + i * 17));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        if (pwrite(fd, &byte, 1, i) != 1)
            return 1;
    }
    return close(fd);
}
