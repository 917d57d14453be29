/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A child writes at an offset as the first thing that it does with an inherited descriptor. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int status = 1;
    int fd = open("inherited", O_CREAT | O_WRONLY, 0600);
    pid_t child = fork();
    if (child == 0) {
        ssize_t written = pwrite(fd, "text", 4, 0);
        _exit(close(fd) != 0 || written != 4);
    }
    waitpid(child, &status, 0);
    return status != 0;
}
