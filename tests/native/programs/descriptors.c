/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Copies, closes in bulk and low numbers. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    char data[100] = {0};
    int fd = open("low", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int copy = dup(fd);
    int far = fcntl(fd, F_DUPFD, 300);
    if (dup2(fd, 700) != 700 || dup3(fd, 701, O_CLOEXEC) != 701)
        return 1;
    if (write(fd, data, 100) != 100 || write(copy, data, 100) != 100 ||
        write(far, data, 100) != 100 || write(700, data, 100) != 100 ||
        write(701, data, 100) != 100)
        return 2;
    close(fd);
    close_range(600, 800, 0);
    if (write(700, data, 1) != -1 || write(far, data, 100) != 100)
        return 3;
    closefrom(far);
    int other = open("other", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (write(other, data, 50) != 50 || write(other, data, 50) != 50)
        return 4;
    if (chdir("/") != 0)
        return 5;
    struct stat status;
    return fstat(copy, &status) != 0 || status.st_size != 600;
}
