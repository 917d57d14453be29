/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded behind the library: each pwrite takes 40 ms longer. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    const struct timespec pause = {.tv_nsec = 40000000};
    nanosleep(&pause, NULL);
    return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
}
