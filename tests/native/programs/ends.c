/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Makes a number of calls, then ends in a way that the second argument names. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;

static void call(unsigned long i)
{
    char byte = 0;
    if (pwrite(fd, &byte, 1, (off_t)(i * 2654435761u % 100000)) != 1)
        exit(1);
}

static volatile int begun;

static void *keep_on(void *unused)
{
    for (unsigned long i = 0;; i++) {
        call(i);
        begun = 1;
    }
    return unused;
}

static void *call_once(void *unused)
{
    call(1);
    return unused;
}

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* An exec that fails: the process has come to its end, and goes on.  Prints how long that took. */
static void fail_to_exec(void)
{
    char text[32];
    char *arguments[] = {NULL};
    long start = now_us();
    execv("/nonexistent", arguments);
    int length = snprintf(text, sizeof text, "%ld\n", now_us() - start);
    (void)!write(1, text, (size_t)length);
    call(7);
}

static void fork_one(void)
{
    if (fork() == 0) {
        call(1);
        _exit(0);
    }
    wait(NULL);
}

int main(int count, char **arguments)
{
    const char *ending = count > 2 ? arguments[2] : "";
    pthread_t thread;
    fd = open("ended", O_RDWR | O_CREAT, 0600);
    for (long i = 0; i < atol(arguments[1]); i++)
        call((unsigned long)i);
    if (strcmp(ending, "exec") == 0)
        fail_to_exec();
    else if (strcmp(ending, "fork") == 0)
        fork_one();
    else if (strcmp(ending, "thread") == 0 || strcmp(ending, "joined") == 0) {
        if (pthread_create(&thread, NULL, ending[0] == 't' ? keep_on : call_once, NULL) != 0)
            return 1;
        if (ending[0] == 'j')
            pthread_join(thread, NULL);
        else
            while (!begun)
                usleep(1000);
    } else if (strcmp(ending, "shell") == 0)
        execl("/bin/sh", "sh", "-c", "echo x > of-the-shell", (char *)NULL);
    (void)!write(1, "end\n", 4);
    if (strcmp(ending, "_exit") == 0)
        _exit(0);
    return 0;
}
