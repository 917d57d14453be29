/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* THREADS threads write COUNT times each: shared descriptor by offset, and one's own. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define COUNT 5000

static int shared;

static void *work(void *argument)
{
    char name[32];
    char byte = 1;
    intptr_t me = (intptr_t)argument;
    snprintf(name, sizeof name, "own-%d", (int)me);
    int own = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < COUNT; i++) {
        if (pwrite(shared, &byte, 1, me * COUNT + i) != 1 || write(own, &byte, 1) != 1)
            exit(1);
    }
    close(own);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    shared = open("shared", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return close(shared);
}
