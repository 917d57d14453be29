/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "refused.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "../core/system.h"
#include "stripewise/environment.h"

/* The file is read by people: a script that repeats refused calls must not fill the disk. */
#define MAX_FILE_BYTES (256 << 10)

static char file[PATH_MAX]; /* the program may change its environment */

void sw_refused_load(void)
{
    const char *value = getenv(SW_ENV_REFUSED);
    if (value != NULL && *value == '/' && strlen(value) < sizeof file)
        memcpy(file, value, strlen(value) + 1);
}

bool sw_refused_wanted(void)
{
    return file[0] != '\0';
}

void sw_refused_tell(enum sw_refused what, const char *path)
{
    char kind = (char)what;
    struct iovec parts[2] = {{&kind, 1}, {(void *)(uintptr_t)path, strlen(path) + 1}};
    struct stat status;
    int fd = file[0] == '\0'
                 ? -1
                 : sw_sys_openat(AT_FDCWD, file,
                                 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (sw_sys_fstat(fd, &status) == 0 && status.st_size < MAX_FILE_BYTES)
        (void)!syscall(SYS_writev, fd, parts, 2);
    sw_sys_close(fd);
}
