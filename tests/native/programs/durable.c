/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Makes new names durable, as databases do: syncs the directory after each file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    int problem = mkdir("kept", 0700);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept/%d", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        problem |= write(fd, "data", 4) != 4 || fdatasync(fd) != 0 || close(fd) != 0;
        int directory = open("kept", O_RDONLY | O_DIRECTORY);
        problem |= i % 2 != 0 ? fsync(directory) : fdatasync(directory);
        close(directory);
    }
    return problem;
}
