/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Tries to change FILE in the way that is asked for; exits with errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static int try_to(const char *how, const char *path)
{
    if (strcmp(how, "write") == 0)
        return open(path, O_WRONLY);
    if (strcmp(how, "append") == 0)
        return open(path, O_RDWR | O_APPEND | O_CREAT, 0600);
    if (strcmp(how, "truncate-open") == 0)
        return open(path, O_RDONLY | O_TRUNC);
    if (strcmp(how, "creat") == 0)
        return creat(path, 0600);
    if (strcmp(how, "read") == 0)
        return open(path, O_RDONLY);
    if (strcmp(how, "fopen") == 0)
        return fopen(path, "r+") != NULL ? 0 : -1;
    if (strcmp(how, "fopen-new") == 0)
        return fopen(path, "w") != NULL ? 0 : -1;
    if (strcmp(how, "exclusive") == 0)
        return open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (strcmp(how, "fopen-exclusive") == 0)
        return fopen(path, "wx") != NULL ? 0 : -1;
    if (strcmp(how, "nameless") == 0)
        return open(path, O_RDWR | O_TMPFILE, 0600);
    if (strcmp(how, "truncate") == 0)
        return truncate(path, 0);
    if (strcmp(how, "unlink") == 0)
        return unlink(path);
    if (strcmp(how, "remove") == 0)
        return remove(path);
    if (strcmp(how, "rename-away") == 0)
        return rename(path, "elsewhere");
    if (strcmp(how, "rename-over") == 0)
        return close(creat("replacement", 0600)) | rename("replacement", path);
    if (strcmp(how, "chmod") == 0)
        return chmod(path, 0640);
    if (strcmp(how, "utimes") == 0)
        return utimes(path, NULL);
    if (strcmp(how, "fchmod") == 0)
        return fchmod(open(path, O_RDONLY), 0640);
    if (strcmp(how, "link") == 0)
        return link(path, "second-name");
    return -1;
}

int main(int count, char **arguments)
{
    errno = 0;
    return count == 3 && try_to(arguments[1], arguments[2]) < 0 ? errno : 0;
}
