/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a script of calls on the file "played": lines of a letter and two numbers.
 *   w OFFSET BYTES  pwrite      r OFFSET BYTES  pread
 *   W 0 BYTES       write       s OFFSET 0      lseek
 *   f 0 0           fsync       t BYTES 0       ftruncate
 * Each further script is played by a thread of its own, one after the other, on the same file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fd;
static char data[1 << 16];

static long play(char what, long first, long bytes)
{
    switch (what) {
    case 'w':
        return pwrite(fd, data, (size_t)bytes, first);
    case 'r':
        return pread(fd, data, (size_t)bytes, first);
    case 'W':
        return write(fd, data, (size_t)bytes);
    case 's':
        return lseek(fd, first, SEEK_SET);
    case 'f':
        return fsync(fd);
    default:
        return ftruncate(fd, first);
    }
}

static void *play_script(void *path)
{
    char what;
    long first;
    long bytes;
    FILE *script = fopen(path, "r");
    if (script == NULL)
        exit(1);
    while (fscanf(script, " %c %ld %ld", &what, &first, &bytes) == 3) {
        if (play(what, first, bytes) < 0)
            exit(1);
    }
    fclose(script);
    return NULL;
}

int main(int count, char **arguments)
{
    fd = open("played", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || count < 2)
        return 1;
    play_script(arguments[1]);
    for (int i = 2; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, play_script, arguments[i]) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return close(fd);
}
