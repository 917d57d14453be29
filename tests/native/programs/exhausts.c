/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Writes at random with no descriptor left, and again when there are some. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 4096

static int scribble(int fd, long first)
{
    char bytes[8] = {0};
    unsigned chance = (unsigned)first;
    for (long i = 0; i < 5000; i++) {
        if (pwrite(fd, bytes, sizeof bytes, first + rand_r(&chance) % 65536) != sizeof bytes)
            return 1;
    }
    return 0;
}

int main(void)
{
    static int taken[MOST];
    int n = 0;
    int fd = open("scribbled", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (n < MOST && (taken[n] = open("/dev/null", O_RDONLY)) >= 0)
        n++;
    if (n == MOST || errno != EMFILE || scribble(fd, 1) != 0)
        return 1;
    while (n > 0)
        close(taken[--n]);
    usleep(1200000);
    return scribble(fd, 1 << 20);
}
