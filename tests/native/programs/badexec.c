/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Starts programs with environments that cannot be read: 0 if that fails with EFAULT. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

int main(void)
{
    volatile intptr_t nowhere = 16;
    char *const arguments[] = {"true", NULL};
    char *const bad[] = {(char *)nowhere, NULL};
    errno = 0;
    if (execve("/bin/true", arguments, (char *const *)nowhere) == 0 || errno != EFAULT)
        return 1;
    errno = 0;
    if (execve("/bin/true", arguments, bad) == 0 || errno != EFAULT)
        return 2;
    return 0;
}
