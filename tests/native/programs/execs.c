/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Replaces itself by `sh -c "exit 5"`, in the way that is asked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments)
{
    char *const vector[] = {"sh", "-c", "exit 5", NULL};
    const char *how = count > 1 ? arguments[1] : "";
    int fd = open("before", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (write(fd, "x", 1) != 1)
        return 1;
    if (strcmp(how, "execve") == 0)
        execve("/bin/sh", vector, environ);
    if (strcmp(how, "execvp") == 0)
        execvp("sh", vector);
    if (strcmp(how, "execvpe") == 0)
        execvpe("sh", vector, environ);
    if (strcmp(how, "execl") == 0)
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
    if (strcmp(how, "execlp") == 0)
        execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
    if (strcmp(how, "execle") == 0)
        execle("/bin/sh", "sh", "-c", "exit 5", (char *)NULL, environ);
    if (strcmp(how, "fexecve") == 0)
        fexecve(open("/bin/sh", O_RDONLY), vector, environ);
    return 1;
}
