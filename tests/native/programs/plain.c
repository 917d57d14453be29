/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Writes ten times 100 bytes and ends in the way that is asked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    char data[100] = {0};
    const char *how = count > 1 ? arguments[1] : "";
    int fd = open("plain", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 10; i++) {
        if (write(fd, data, sizeof data) != sizeof data)
            return 1;
    }
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(0);
    return 0;
}
