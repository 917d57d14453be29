/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A second preloaded tool, in the manner of I/O profilers: it wraps the same names, finds the
 * next ones with RTLD_NEXT, looks whether a file is a regular one, and counts at exit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int opens, writes, closes, fopens;

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (real == NULL)
        real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    opens++;
    return real(path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        writes++;
    return real(fd, data, bytes);
}

int close(int fd)
{
    static int (*real)(int);
    if (real == NULL)
        real = (int (*)(int))dlsym(RTLD_NEXT, "close");
    closes++;
    return real(fd);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (real == NULL)
        real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    fopens++;
    return real(path, mode);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("INTERPOSER_LOG");
    FILE *log = path != NULL ? fopen(path, "w") : NULL;
    if (log == NULL)
        return;
    fprintf(log, "%d %d %d\n", opens, writes, closes);
    fclose(log);
}
