/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source: ADIOS2 2.12, the comments at the end of BP5Engine.h and GetBPSubStreamName of the BP4
 * format name the files: md.idx, md.N, mmd.N, data.N; profiling.json and active come and go.
 * md.idx is there from the open on, with both: a directory without it is no output.
 */
#include "../kernel.h"

#include "bp_directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX "md.idx"

/* "md." and digits, for one. */
static bool is_numbered(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] == '\0')
        return false;
    for (const char *c = name + length; *c != '\0'; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    return true;
}

static bool is_ours(int directory, const char *name)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    return strcmp(name, INDEX) == 0 || strcmp(name, "profiling.json") == 0 ||
           strcmp(name, "active") == 0 || is_numbered(name, "md.") || is_numbered(name, "mmd.") ||
           is_numbered(name, "data.");
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directory behind a path, opened; NULL with errno. */
static DIR *open_directory(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (directory == NULL && descriptor >= 0)
        close(descriptor);
    return directory;
}

/* The next entry but the dots; NULL at the end, or with errno set. */
static const struct dirent *next_entry(DIR *directory)
{
    const struct dirent *entry = NULL;
    do {
        errno = 0;
        entry = readdir(directory);
    } while (entry != NULL && is_dots(entry->d_name));
    return entry;
}

static bool is_output(DIR *directory, char *stranger, size_t bytes)
{
    const struct dirent *entry = NULL;
    while ((entry = next_entry(directory)) != NULL) {
        if (is_ours(dirfd(directory), entry->d_name))
            continue;
        snprintf(stranger, bytes, "%s", entry->d_name);
        errno = ENOTEMPTY;
        return false;
    }
    if (errno != 0)
        return false;
    if (is_ours(dirfd(directory), INDEX))
        return true;
    errno = EEXIST;
    return false;
}

/* What came since the first look, and is not ours, is left to rmdir to refuse.  The index goes
 * last: what an interruption leaves is still known for an output. */
static bool remove_entries(DIR *directory)
{
    const struct dirent *entry = NULL;
    rewinddir(directory);
    while ((entry = next_entry(directory)) != NULL)
        if (strcmp(entry->d_name, INDEX) != 0 && is_ours(dirfd(directory), entry->d_name) &&
            unlinkat(dirfd(directory), entry->d_name, 0) != 0)
            return false;
    return errno == 0 && unlinkat(dirfd(directory), INDEX, 0) == 0;
}

bool sw_bp_remove(const char *path, char *stranger, size_t bytes)
{
    char target[PATH_MAX];
    stranger[0] = '\0';
    if (realpath(path, target) == NULL)
        return errno == ENOENT;
    DIR *directory = open_directory(target);
    if (directory == NULL)
        return errno == ENOENT;
    bool done = is_output(directory, stranger, bytes) && remove_entries(directory);
    int error = errno;
    closedir(directory);
    errno = error;
    return done && rmdir(target) == 0;
}

bool sw_bp_sync(const char *path)
{
    char target[PATH_MAX];
    const struct dirent *entry = NULL;
    DIR *directory = realpath(path, target) != NULL ? open_directory(target) : NULL;
    int error = directory == NULL ? errno : 0;
    while (error == 0 && (entry = next_entry(directory)) != NULL) {
        int file = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (file < 0 || fsync(file) != 0)
            error = errno;
        if (file >= 0)
            close(file);
    }
    if (error == 0)
        error = errno; /* of the last entry */
    if (directory != NULL && error == 0 && fsync(dirfd(directory)) != 0)
        error = errno;
    if (directory != NULL)
        closedir(directory);
    errno = error;
    return error == 0;
}
