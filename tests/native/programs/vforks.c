/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A child of vfork closes and replaces descriptors in its own table only. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
    char data[1000] = {0};
    char *arguments[] = {"/bin/true", NULL};
    int status;
    int fd = open("kept", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, data, 1000) != 1000)
        return 1;
    pid_t child = vfork();
    if (child == 0) {
        int other = open("/dev/null", O_WRONLY);
        dup2(other, fd);
        close(fd);
        execv("/bin/true", arguments);
        _exit(9);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 2;
    child = vfork();
    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0)
        return 3;
    waitpid(child, &status, 0);
    if (system("exit 3") >> 8 != 3)
        return 4;
    if (write(fd, data, 1000) != 1000 || execl("/missing", "missing", (char *)NULL) != -1)
        return 5;
    if (write(fd, data, 1000) != 1000)
        return 6;
    return close(fd);
}
