/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Files whose old content goes: by a stream, by ftruncate to nothing; and one that is cut. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int cut(const char *path, off_t bytes)
{
    int fd = open(path, O_RDWR);
    return fd < 0 || write(fd, "new", 3) != 3 || ftruncate(fd, bytes) != 0 || close(fd) != 0;
}

int main(void)
{
    FILE *stream = fopen("by_stream", "w");
    if (stream == NULL || fputs("new\n", stream) < 0 || fclose(stream) != 0)
        return 1;
    return cut("by_size", 0) != 0 || cut("cut", 2) != 0;
}
