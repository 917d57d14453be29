/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* 300 threads, one after the other, write three times each. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define THREADS 300

static int fd;

static void *work(void *argument)
{
    char bytes[8] = {0};
    for (int i = 0; i < 3; i++)
        (void)!pwrite(fd, bytes, sizeof bytes, (intptr_t)argument * 100 + i * 8);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    fd = open("many", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (intptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return close(fd);
}
