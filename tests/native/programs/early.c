/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Constructors that run before the library's own, destructors after. */
#include <fcntl.h>
#include <unistd.h>

static int fd;

__attribute__((constructor)) static void begin(void)
{
    fd = open("early", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, "first", 5) != 5)
        _exit(9);
}

__attribute__((destructor)) static void end(void)
{
    if (write(fd, "last", 4) != 4)
        _exit(8);
    close(fd);
}
