/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Where a file really is, for members that judge by directory. */
#ifndef STRIPEWISE_PLACES_H
#define STRIPEWISE_PLACES_H

#include <stdio.h>
#include <string.h>

#include "../core/system.h"

/* Writes the path behind a descriptor, with links resolved, to `out`; returns its length or 0. */
static inline size_t sw_real_path(int fd, char *out, size_t room)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = sw_sys_readlinkat(AT_FDCWD, link, out, room - 1);
    if (length <= 0 || (size_t)length >= room - 1)
        return 0;
    out[length] = '\0';
    return (size_t)length;
}

/* Writes a directory's real path to `out`, or the given one if it cannot be opened; returns false
 * if there is no room. */
static inline bool sw_real_directory(const char *text, size_t bytes, char *out, size_t room)
{
    if (bytes >= room)
        return false;
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    int fd = sw_sys_openat(AT_FDCWD, out, O_PATH | O_CLOEXEC | O_DIRECTORY, 0);
    if (fd < 0)
        return true;
    if (sw_real_path(fd, out, room) == 0)
        memcpy(out, text, bytes + 1);
    sw_sys_close(fd);
    return true;
}

static inline bool sw_is_below(const char *path, const char *directory)
{
    size_t bytes = strlen(directory);
    return strncmp(path, directory, bytes) == 0 &&
           (path[bytes] == '/' || path[bytes] == '\0' || directory[bytes - 1] == '/');
}

#endif
