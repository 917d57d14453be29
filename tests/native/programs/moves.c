/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* moves CONTAINER OTHER CALLS: half of the writes, puts OTHER in the container's place (which
 * keeps its contents as CONTAINER.moved), the other half. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int write_some(int fd, int calls)
{
    for (int i = 0; i < calls; i++)
        if (pwrite(fd, "12345678", 8, rand() % 4096) != 8)
            return 0;
    return 1;
}

int main(int count, char **arguments)
{
    char moved[4096];
    if (count != 4)
        return 2;
    int calls = atoi(arguments[3]);
    int fd = open("moves", O_RDWR | O_CREAT, 0600);
    snprintf(moved, sizeof moved, "%s.moved", arguments[1]);
    if (fd < 0 || !write_some(fd, calls / 2) || rename(arguments[1], moved) != 0 ||
        rename(arguments[2], arguments[1]) != 0)
        return 1;
    return write_some(fd, calls - calls / 2) ? 0 : 1;
}
