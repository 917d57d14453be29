/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Names that are no UTF-8, relative ones after chdir, and openat. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int touch(int directory, const char *name)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT, 0600);
    return fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0;
}

int main(void)
{
    if (mkdir("sub", 0700) != 0 || touch(AT_FDCWD, "latin-\xe9\xff") != 0)
        return 1;
    int directory = open("sub", O_RDONLY | O_DIRECTORY);
    if (touch(directory, "by-directory") != 0 || chdir("sub") != 0 ||
        touch(AT_FDCWD, ".//by-chdir") != 0)
        return 2;
    return rename("by-chdir", "renamed") | unlink("by-directory") | truncate("renamed", 0);
}
