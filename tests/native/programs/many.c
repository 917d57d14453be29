/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Opens COUNT files, one after another. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int files = count > 1 ? atoi(arguments[1]) : 0;
    for (int i = 0; i < files; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0 || unlink(name) != 0)
            return 1;
    }
    puts("done");
    return 0;
}
