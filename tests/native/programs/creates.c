/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* creates FILES ["inside"]: makes, looks at and removes files in a directory, as mdtest does;
 * "inside": by names relative to it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static const char *name(int i, int inside)
{
    snprintf(path, sizeof path, inside ? "f%d" : "tree/f%d", i);
    return path;
}

int main(int count, char **arguments)
{
    int files = atoi(arguments[1]);
    int inside = count > 2;
    struct stat status;
    int bad = mkdir("tree", 0700) | (inside ? chdir("tree") : 0);
    for (int i = 0; i < files; i++) {
        int fd = open(name(i, inside), O_CREAT | O_WRONLY, 0600);
        bad |= fd < 0 || close(fd) != 0;
    }
    for (int i = 0; i < files; i++)
        bad |= stat(name(i, inside), &status);
    for (int i = 0; i < files; i++)
        bad |= unlink(name(i, inside));
    bad |= access(name(0, inside), F_OK) == 0;
    bad |= inside ? chdir("..") : 0;
    return (bad | rmdir("tree")) != 0;
}
