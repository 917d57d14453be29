/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The operations: one function each, applied to a path. */
#include "metadata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int trouble(struct sw_rank *rank, const char *call, const char *path)
{
    return sw_fail(rank->failure, call, path, errno, "");
}

/* Returns the start of each file, by which a reader recognises whose it is. */
static uint64_t stamp_of(int owner, int64_t number)
{
    return (uint64_t)owner << 40 ^ (uint64_t)(number + 1);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static int fill(struct sw_rank *rank, int fd, const char *path, int64_t number)
{
    int64_t bytes = rank->options->file_bytes;
    uint64_t stamp = stamp_of(rank->owner, number);
    memcpy(rank->buffer, &stamp, sizeof stamp); /* the buffer is at least that large */
    for (int64_t done = 0; done < bytes;) {
        ssize_t moved = write(fd, rank->buffer + done, (size_t)(bytes - done));
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return trouble(rank, "write", path);
        done += moved;
    }
    if (rank->options->fsync && fsync(fd) != 0)
        return trouble(rank, "fsync", path);
    return 0;
}

static int create_file(struct sw_rank *rank, const char *path, int64_t number)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    int result = 0;
    if (fd < 0)
        return trouble(rank, "open", path);
    if (rank->options->file_bytes > 0 || rank->options->fsync)
        result = fill(rank, fd, path, number);
    if (close(fd) != 0 && result == 0)
        result = trouble(rank, "close", path);
    return result;
}

static int stat_path(struct sw_rank *rank, const char *path, int64_t number)
{
    struct stat status;
    (void)number;
    return stat(path, &status) == 0 ? 0 : trouble(rank, "stat", path);
}

static int check(struct sw_rank *rank, const char *path, int64_t number, int64_t bytes)
{
    uint64_t found = 0;
    uint64_t stamp = stamp_of(rank->owner, number);
    size_t known = bytes < (int64_t)sizeof stamp ? (size_t)bytes : sizeof stamp;
    if (bytes != rank->options->file_bytes)
        return sw_fail(rank->failure, "read", path, 0,
                       "the file is shorter than it was written; see that the file system works");
    memcpy(&found, rank->buffer, sizeof found);
    return memcmp(&found, &stamp, known) == 0
               ? 0
               : sw_fail(rank->failure, "read", path, 0,
                         "the file does not hold what was written; see that the file system "
                         "works");
}

static int read_file(struct sw_rank *rank, const char *path, int64_t number)
{
    int64_t bytes = rank->options->file_bytes;
    int64_t done = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return trouble(rank, "open", path);
    while (done < bytes) {
        ssize_t moved = read(fd, rank->buffer + done, (size_t)(bytes - done));
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0) {
            trouble(rank, "read", path);
            close(fd);
            return -1;
        }
        if (moved == 0)
            break;
        done += moved;
    }
    if (close(fd) != 0)
        return trouble(rank, "close", path);
    return bytes > 0 ? check(rank, path, number, done) : 0;
}

static int rename_file(struct sw_rank *rank, const char *path, int64_t number)
{
    const char *to = sw_name_of(&rank->others, number);
    return rename(path, to) == 0 ? 0 : trouble(rank, "rename", path);
}

static int remove_file(struct sw_rank *rank, const char *path, int64_t number)
{
    (void)number;
    return unlink(path) == 0 ? 0 : trouble(rank, "unlink", path);
}

/* ---- directories ------------------------------------------------------------------------------
 */

static int make_directory(struct sw_rank *rank, const char *path, int64_t number)
{
    (void)number;
    return mkdir(path, 0755) == 0 ? 0 : trouble(rank, "mkdir", path);
}

static int remove_directory(struct sw_rank *rank, const char *path, int64_t number)
{
    (void)number;
    return rmdir(path) == 0 ? 0 : trouble(rank, "rmdir", path);
}

static int list_directory(struct sw_rank *rank, const char *path, int64_t number)
{
    DIR *stream = opendir(path);
    (void)number;
    if (stream == NULL)
        return trouble(rank, "opendir", path);
    errno = 0;
    while (readdir(stream) != NULL)
        continue;
    int result = errno == 0 ? 0 : trouble(rank, "readdir", path);
    closedir(stream);
    return result;
}

const struct sw_operation_row sw_operation_rows[SW_OPERATIONS] = {
    [SW_CREATE_TREE] = {"create-tree", "make the directories of the tree", false, false, false,
                        make_directory},
    [SW_CREATE_DIRECTORY] = {"create-directory", "make a directory", true, false, false,
                             make_directory},
    [SW_STAT_DIRECTORY] = {"stat-directory", "stat a directory", true, true, true, stat_path},
    [SW_REMOVE_DIRECTORY] = {"remove-directory", "remove a directory", true, true, false,
                             remove_directory},
    [SW_CREATE] = {"create", "make a file, write --file-bytes, close it", true, false, false,
                   create_file},
    [SW_STAT] = {"stat", "stat a file", true, true, true, stat_path},
    [SW_READ_FILE] = {"read-file", "open a file, read --file-bytes, close it", true, true, true,
                      read_file},
    [SW_RENAME] = {"rename", "rename a file in its directory", false, false, false, rename_file},
    [SW_LIST] = {"list", "read all names of a directory of the tree", false, true, false,
                 list_directory},
    [SW_REMOVE] = {"remove", "remove a file", true, true, false, remove_file},
    [SW_REMOVE_TREE] = {"remove-tree", "remove the directories of the tree", false, false, false,
                        remove_directory},
};
