/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* 64 processes, each with its own file, whose traces grow at once. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 64
#define CALLS 2000

static int scribble(unsigned chance)
{
    char name[32];
    char bytes[8] = {0};
    snprintf(name, sizeof name, "crowd-%u", chance);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < CALLS; i++) {
        if (pwrite(fd, bytes, sizeof bytes, rand_r(&chance) % 65536) != sizeof bytes)
            return 1;
    }
    return close(fd);
}

int main(void)
{
    int status;
    int failed = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (fork() == 0)
            _exit(scribble(i));
    }
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
