/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* fork without exec: parent and child write through the same descriptor. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    char data[1000] = {0};
    int fd = open("both", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, data, 1000) != 1000)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        int own = open("child", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        _exit(write(fd, data, 500) != 500 || write(own, data, 10) != 10);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 2;
    if (write(fd, data, 250) != 250)
        return 3;
    pid_t idle = fork();
    if (idle == 0) {
        close(fd);
        _exit(0);
    }
    waitpid(idle, &status, 0);
    return close(fd);
}
