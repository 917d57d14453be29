/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* write|read FILE BYTES CALLS FIRST STRIDE | until FILE BYTES STOP | names DIRECTORY FILES */

/* A directory of the process's own, with files that come and go. */
static int names(const char *top, long rank, long files)
{
    char home[4000], path[4096], other[4096];
    struct stat status;
    snprintf(home, sizeof home, "%s/of-%ld", top, rank);
    if (mkdir(home, 0755))
        return 1;
    for (long i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/%ld", home, i);
        snprintf(other, sizeof other, "%s/%ld.moved", home, i);
        int fd = open(path, O_CREAT | O_WRONLY, 0644);
        if (fd < 0 || close(fd) || stat(path, &status) || access(path, R_OK))
            return 1;
        if (stat(other, &status) == 0 || chmod(path, 0600) || rename(path, other) || unlink(other))
            return 1;
    }
    return rmdir(home) ? 1 : 0;
}

/* Small writes over the same 64 MiB, until there is a file. */
static int until(const char *file, long rank, long bytes, const char *stop)
{
    char path[4096];
    char *data = calloc(1, bytes);
    snprintf(path, sizeof path, "%s-%ld", file, rank);
    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    if (fd < 0)
        return 2;
    for (long i = 0; access(stop, F_OK) != 0; i++) {
        if (pwrite(fd, data, bytes, i % 64 << 20) != bytes)
            return 3;
    }
    return close(fd);
}

int main(int argc, char **argv)
{
    const char *procid = getenv("SLURM_PROCID");
    long rank = procid ? atol(procid) : 0;
    if (strcmp(argv[1], "names") == 0)
        return names(argv[2], rank, atol(argv[3]));
    if (strcmp(argv[1], "until") == 0)
        return until(argv[2], rank, atol(argv[3]), argv[4]);
    long bytes = atol(argv[3]), calls = atol(argv[4]), first = atol(argv[5]),
         stride = atol(argv[6]);
    int writes = strcmp(argv[1], "write") == 0;
    char *data = calloc(1, bytes);
    int fd = open(argv[2], writes ? O_CREAT | O_WRONLY : O_RDONLY, 0644);
    if (fd < 0)
        return 2;
    for (long i = 0; i < calls; i++) {
        long at = first * rank + i * stride;
        long moved = writes ? pwrite(fd, data, bytes, at) : pread(fd, data, bytes, at);
        if (moved != bytes)
            return 3;
    }
    return close(fd);
}
