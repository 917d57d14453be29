/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Determines which settings apply to a path, by globs on trailing components. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adopt/adopt.h"

static size_t count_slashes(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '/';
    return count;
}

/* Returns the last `components` components of a path (all of it if it has fewer). */
static const char *trailing(const char *path, size_t components)
{
    const char *start = path + strlen(path);
    while (start > path) {
        if (start[-1] == '/' && components-- == 1)
            return start;
        start--;
    }
    return start;
}

bool sw_match(const char *pattern, const char *path)
{
    if (pattern[0] == '/')
        return fnmatch(pattern, path, FNM_PATHNAME) == 0;
    size_t components = count_slashes(pattern) + 1;
    return fnmatch(pattern, trailing(path, components), FNM_PATHNAME) == 0;
}

bool sw_match_cray(const char *pattern, const char *path)
{
    return sw_match(pattern, path) || fnmatch(pattern, path, 0) == 0;
}

/* Skips "ufs:", "lustre:", "nfs:": letters and digits before the first colon, without a slash. A
 * single letter is kept, as in ROMIO (a drive). */
static const char *without_prefix(const char *name)
{
    const char *end = name;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    return *end == ':' && end - name > 1 ? end + 1 : name;
}

bool sw_match_path(const char *name, char *path, size_t bytes)
{
    int saved_errno = errno;
    size_t used = 0;
    bool ok = true;
    name = without_prefix(name);
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (name[0] != '/') {
        ok = getcwd(path, bytes) != NULL;
        used = ok ? strlen(path) : 0;
        if (ok && used > 0 && path[used - 1] != '/' && used + 1 < bytes)
            path[used++] = '/';
    }
    size_t length = strlen(name);
    ok = ok && used + length < bytes;
    if (ok)
        memcpy(path + used, name, length + 1);
    errno = saved_errno;
    return ok;
}
