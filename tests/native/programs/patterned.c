/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of files, each used by a call of its own; stops with the number of the first word that
 * fails, and prints the errno.
 *
 *   patterned WORD...
 *     create:NAME continue:NAME exclusive:NAME open:NAME openat:DIRECTORY:NAME fopen:NAME
 *     append:NAME read:NAME stat:NAME access:NAME truncate:NAME unlink:NAME rename:NAME:NAME
 *     link:NAME:NAME symlink:TEXT:NAME readlink:NAME mkdir:NAME rmdir:NAME chdir:NAME
 *
 * What is opened for writing gets the bytes "new"; read prints what is there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(int fd)
{
    return fd < 0 || write(fd, "new", 3) != 3 || close(fd) != 0;
}

static int put_stream(const char *name, const char *mode)
{
    FILE *stream = fopen(name, mode);
    return stream == NULL || fputs("new", stream) < 0 || fclose(stream) != 0;
}

static int show(const char *name)
{
    char bytes[100];
    int fd = open(name, O_RDONLY);
    ssize_t length = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    if (length < 0)
        return 1;
    printf("%.*s\n", (int)length, bytes);
    return close(fd);
}

static int openat_in(const char *directory, const char *name)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    return fd < 0 || put(openat(fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600)) || close(fd);
}

static int one(const char *what, const char *name, const char *more)
{
#define IS(word) (strcmp(what, word) == 0)
    struct stat status;
    char text[100];
    if (IS("create"))
        return put(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    if (IS("continue"))
        return put(open(name, O_RDWR | O_CREAT, 0600));
    if (IS("exclusive"))
        return put(open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
    if (IS("open"))
        return put(open(name, O_WRONLY));
    if (IS("openat"))
        return openat_in(name, more);
    if (IS("fopen"))
        return put_stream(name, "w");
    if (IS("append"))
        return put_stream(name, "a");
    if (IS("read"))
        return show(name);
    if (IS("stat"))
        return stat(name, &status);
    if (IS("access"))
        return access(name, R_OK);
    if (IS("truncate"))
        return truncate(name, 0);
    if (IS("unlink"))
        return unlink(name);
    if (IS("rename"))
        return rename(name, more);
    if (IS("link"))
        return link(name, more);
    if (IS("symlink"))
        return symlink(name, more);
    if (IS("readlink"))
        return readlink(name, text, sizeof text) < 0;
    if (IS("mkdir"))
        return mkdir(name, 0700);
    if (IS("rmdir"))
        return rmdir(name);
    return IS("chdir") ? chdir(name) : 1;
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        char *what = strtok(arguments[i], ":");
        char *name = strtok(NULL, ":");
        char *more = strtok(NULL, "");
        if (one(what, name, more) != 0) {
            fprintf(stderr, "%d\n", errno);
            return i;
        }
    }
    return 0;
}
