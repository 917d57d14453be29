/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Empties its environment, then needs more room for records. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    clearenv();
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "clear-%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        if (fd < 0 || close(fd) != 0)
            return 1;
    }
    return 0;
}
