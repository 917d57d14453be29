/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preloaded layer that makes one hint look good or bad on purpose.  It looks at what
 * MPI_File_get_info reports of the file, not at what anybody asked for.
 *
 * PLANTED_KEY       the hint; without one no file is looked at, and the first large write of each
 *                   process takes the time, so that noise does not matter
 * PLANTED_SLEEP     "value=milliseconds,...,=milliseconds": how long each large write takes
 *                   under a value; the entry without a value is for all others
 * PLANTED_FLIP      under this value one bit of each large write is flipped
 * PLANTED_HANG      under this value rank 1 never comes back from MPI_File_open
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LARGE 4096

#pragma weak MPI_File_get_info
#pragma weak MPI_Info_get
#pragma weak MPI_Info_free
#pragma weak MPI_Comm_rank

typedef int open_function(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
typedef ssize_t pwrite_function(int, const void *, size_t, off64_t);
typedef ssize_t pwritev_function(int, const struct iovec *, int, off64_t);

static char current[MPI_MAX_INFO_VAL + 1];
static int opened;

static int is_current(const char *variable)
{
    const char *value = getenv(variable);
    return opened && value != NULL && strcmp(value, current) == 0;
}

static long sleep_milliseconds(void)
{
    char text[256];
    long others = 0;
    char *rest = NULL;
    const char *given = getenv("PLANTED_SLEEP");
    if (given == NULL)
        return 0;
    strncpy(text, given, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *entry = strtok_r(text, ",", &rest); entry; entry = strtok_r(NULL, ",", &rest)) {
        char *number = strchr(entry, '=');
        if (number == NULL)
            continue;
        *number++ = '\0';
        if (*entry == '\0')
            others = atol(number);
        else if (strcmp(entry, current) == 0)
            return atol(number);
    }
    return others;
}

static int is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether a write takes its time. */
static int is_meant(int fd, size_t size)
{
    static int slept;
    if (size < LARGE || !is_file(fd))
        return 0;
    return getenv("PLANTED_KEY") != NULL ? opened : !slept++;
}

static ssize_t planted_write(const char *name, int fd, const void *data, size_t size, off64_t at)
{
    pwrite_function *next = (pwrite_function *)dlsym(RTLD_NEXT, name);
    if (!is_meant(fd, size))
        return next(fd, data, size, at);
    usleep((useconds_t)sleep_milliseconds() * 1000);
    if (!is_current("PLANTED_FLIP"))
        return next(fd, data, size, at);
    char *copy = malloc(size);
    memcpy(copy, data, size);
    copy[size / 2] ^= 1;
    ssize_t written = next(fd, copy, size, at);
    free(copy);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return planted_write("pwrite", fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return planted_write("pwrite64", fd, data, size, at);
}

/* Open MPI's own way to a file. */
static ssize_t planted_writev(const char *name, int fd, const struct iovec *parts, int n,
                              off64_t at)
{
    pwritev_function *next = (pwritev_function *)dlsym(RTLD_NEXT, name);
    size_t size = 0;
    for (int i = 0; i < n; i++)
        size += parts[i].iov_len;
    if (is_meant(fd, size))
        usleep((useconds_t)sleep_milliseconds() * 1000);
    return next(fd, parts, n, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    return planted_writev("pwritev", fd, parts, n, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at)
{
    return planted_writev("pwritev64", fd, parts, n, at);
}

static void look(MPI_File file)
{
    MPI_Info info;
    int found = 0;
    const char *key = getenv("PLANTED_KEY");
    if (key == NULL || MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, current, &found);
    MPI_Info_free(&info);
    if (!found)
        current[0] = '\0';
    opened = 1;
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    open_function *next = (open_function *)dlsym(RTLD_NEXT, "MPI_File_open");
    int rank = 0;
    int code = next(comm, name, mode, info, file);
    if (code != MPI_SUCCESS)
        return code;
    look(*file);
    MPI_Comm_rank(comm, &rank);
    while (rank == 1 && is_current("PLANTED_HANG"))
        sleep(1);
    return code;
}
