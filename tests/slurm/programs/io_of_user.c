/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* write|read FILE BYTES CALLS FIRST STRIDE | names DIRECTORY FILES */
int main(int argc, char **argv)
{
    const char *procid = getenv("SLURM_PROCID");
    long rank = procid ? atol(procid) : 0;
    if (strcmp(argv[1], "names") == 0) {
        char path[4096];
        struct stat status;
        for (long i = 0; i < atol(argv[3]); i++) {
            snprintf(path, sizeof path, "%s/%ld-%ld", argv[2], rank, i);
            int fd = open(path, O_CREAT | O_WRONLY, 0644);
            if (fd < 0 || close(fd) || stat(path, &status) || unlink(path))
                return 1;
        }
        return 0;
    }
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
