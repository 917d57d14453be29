/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls that move no bytes: position, sync, size, status, names. */
#define _GNU_SOURCE
#include <stdio.h>

#include "posix.h"

/* ---- on a descriptor ------------------------------------------------------------------ */

#define SW_ON_DESCRIPTOR(type, name, op, parameters, arguments)                                   \
    SW_EXPORT type name parameters;                                                               \
    SW_EXPORT type name parameters                                                                \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);                                  \
        type result = sw_posix()->name arguments;                                                 \
        if (entry != NULL)                                                                        \
            sw_posix_leave(&call, entry, op, result != 0);                                        \
        return result;                                                                            \
    }

SW_ON_DESCRIPTOR(int, fsync, SW_OP_SYNC, (int fd), (fd))
SW_ON_DESCRIPTOR(int, fdatasync, SW_OP_SYNC, (int fd), (fd))
SW_ON_DESCRIPTOR(int, sync_file_range, SW_OP_SYNC,
                 (int fd, off64_t offset, off64_t bytes, unsigned flags),
                 (fd, offset, bytes, flags))
SW_ON_DESCRIPTOR(int, fstat, SW_OP_META, (int fd, struct stat *status), (fd, status))
SW_ON_DESCRIPTOR(int, fstat64, SW_OP_META, (int fd, struct stat64 *status), (fd, status))
SW_ON_DESCRIPTOR(int, __fxstat, SW_OP_META, (int version, int fd, struct stat *status),
                 (version, fd, status))
SW_ON_DESCRIPTOR(int, __fxstat64, SW_OP_META, (int version, int fd, struct stat64 *status),
                 (version, fd, status))

/* These change the file: it has to be synced.  `size`: what the file gets, if that is told. */
#define SW_ON_DESCRIPTOR_CHANGING(name, size, parameters, arguments, file_flags)                  \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);                                  \
        int result = sw_posix()->name arguments;                                                  \
        if (entry != NULL) {                                                                      \
            sw_fd_wrote(entry);                                                                   \
            sw_file_flag(sw_fd_posix(entry), result == 0 ? (file_flags) : 0);                     \
            call.position = size;                                                                 \
            sw_posix_leave(&call, entry, SW_OP_META, result != 0);                                \
        }                                                                                         \
        return result;                                                                            \
    }

/* Without mode: the file reaches to there at least. */
#define SW_REACHED(mode) ((mode) == 0 ? offset + bytes : SW_POSITION_OF_CALL)

SW_ON_DESCRIPTOR_CHANGING(ftruncate, bytes, (int fd, off_t bytes), (fd, bytes),
                          bytes == 0 ? SW_FILE_TRUNCATED : 0)
SW_ON_DESCRIPTOR_CHANGING(ftruncate64, bytes, (int fd, off64_t bytes), (fd, bytes),
                          bytes == 0 ? SW_FILE_TRUNCATED : 0)
SW_ON_DESCRIPTOR_CHANGING(fallocate, SW_REACHED(mode),
                          (int fd, int mode, off_t offset, off_t bytes), (fd, mode, offset, bytes),
                          0)
SW_ON_DESCRIPTOR_CHANGING(fallocate64, SW_REACHED(mode),
                          (int fd, int mode, off64_t offset, off64_t bytes),
                          (fd, mode, offset, bytes), 0)
SW_ON_DESCRIPTOR_CHANGING(posix_fallocate, SW_REACHED(0), (int fd, off_t offset, off_t bytes),
                          (fd, offset, bytes), 0)
SW_ON_DESCRIPTOR_CHANGING(posix_fallocate64, SW_REACHED(0),
                          (int fd, off64_t offset, off64_t bytes), (fd, offset, bytes), 0)

#define SW_SEEK(name)                                                                             \
    SW_EXPORT off_t name(int fd, off_t offset, int whence)                                        \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter(&call, fd);                                          \
        off_t result = sw_posix()->name(fd, offset, whence);                                      \
        if (entry != NULL) {                                                                      \
            if (result >= 0)                                                                      \
                sw_fd_set_position(entry, result);                                                \
            sw_posix_leave(&call, entry, SW_OP_META, result < 0);                                 \
        }                                                                                         \
        return result;                                                                            \
    }

SW_SEEK(lseek)
SW_SEEK(lseek64)

/* ---- on a name -------------------------------------------------------------------------- */

/* Looks only at files that are known already: a walk over a million names leaves no
 * million records. */
static struct sw_file *known_file(int directory, const char *path)
{
    return sw_thread.inside == 0 ? sw_file_get_at(SW_LAYER_POSIX, directory, path, false) : NULL;
}

static void leave_name(struct sw_call *call, struct sw_file *file, int result)
{
    if (result != 0)
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, file, SW_OP_META);
}

#define SW_ON_NAME(name, directory, parameters, arguments)                                        \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_file *file = known_file(directory, path);                                       \
        bool counted = file != NULL && sw_enter(&call, SW_LAYER_POSIX);                           \
        int result = sw_posix()->name arguments;                                                  \
        if (counted)                                                                              \
            leave_name(&call, file, result);                                                      \
        return result;                                                                            \
    }

SW_ON_NAME(stat, AT_FDCWD, (const char *path, struct stat *status), (path, status))
SW_ON_NAME(stat64, AT_FDCWD, (const char *path, struct stat64 *status), (path, status))
SW_ON_NAME(lstat, AT_FDCWD, (const char *path, struct stat *status), (path, status))
SW_ON_NAME(lstat64, AT_FDCWD, (const char *path, struct stat64 *status), (path, status))
SW_ON_NAME(fstatat, directory, (int directory, const char *path, struct stat *status, int flags),
           (directory, path, status, flags))
SW_ON_NAME(fstatat64, directory,
           (int directory, const char *path, struct stat64 *status, int flags),
           (directory, path, status, flags))
SW_ON_NAME(__xstat, AT_FDCWD, (int version, const char *path, struct stat *status),
           (version, path, status))
SW_ON_NAME(__xstat64, AT_FDCWD, (int version, const char *path, struct stat64 *status),
           (version, path, status))
SW_ON_NAME(__lxstat, AT_FDCWD, (int version, const char *path, struct stat *status),
           (version, path, status))
SW_ON_NAME(__lxstat64, AT_FDCWD, (int version, const char *path, struct stat64 *status),
           (version, path, status))
SW_ON_NAME(statx, directory,
           (int directory, const char *path, int flags, unsigned mask, struct statx *status),
           (directory, path, flags, mask, status))

/* ---- that change names -------------------------------------------------------------------- */

#define SW_CHANGE_NAME(name, directory, follow, mark, size, parameters, arguments)                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        if (sw_guard_refuses(directory, path, follow))                                            \
            return -1;                                                                            \
        struct sw_file *file = known_file(directory, path);                                       \
        bool counted = file != NULL && sw_enter(&call, SW_LAYER_POSIX);                           \
        int result = sw_posix()->name arguments;                                                  \
        if (counted) {                                                                            \
            if (result == 0)                                                                      \
                sw_file_flag(file, mark);                                                         \
            call.position = size;                                                                 \
            leave_name(&call, file, result);                                                      \
        }                                                                                         \
        return result;                                                                            \
    }

SW_CHANGE_NAME(truncate, AT_FDCWD, true, SW_FILE_TRUNCATED, bytes, (const char *path, off_t bytes),
               (path, bytes))
SW_CHANGE_NAME(truncate64, AT_FDCWD, true, SW_FILE_TRUNCATED, bytes,
               (const char *path, off64_t bytes), (path, bytes))
SW_CHANGE_NAME(unlink, AT_FDCWD, false, SW_FILE_UNLINKED, SW_POSITION_OF_CALL, (const char *path),
               (path))
SW_CHANGE_NAME(unlinkat, directory, false, SW_FILE_UNLINKED, SW_POSITION_OF_CALL,
               (int directory, const char *path, int flags), (directory, path, flags))
SW_CHANGE_NAME(remove, AT_FDCWD, false, SW_FILE_UNLINKED, SW_POSITION_OF_CALL, (const char *path),
               (path))

/* The old name vanishes and the new one is replaced: both must be free to change. */
#define SW_RENAME(name, from, to, parameters, arguments)                                          \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        if (sw_guard_refuses(from, old, false) || sw_guard_refuses(to, new, false))               \
            return -1;                                                                            \
        struct sw_file *file = known_file(from, old);                                             \
        bool counted = file != NULL && sw_enter(&call, SW_LAYER_POSIX);                           \
        int result = sw_posix()->name arguments;                                                  \
        if (counted)                                                                              \
            leave_name(&call, file, result);                                                      \
        return result;                                                                            \
    }

SW_RENAME(rename, AT_FDCWD, AT_FDCWD, (const char *old, const char *new), (old, new))
SW_RENAME(renameat, from, to, (int from, const char *old, int to, const char *new),
          (from, old, to, new))
SW_RENAME(renameat2, from, to,
          (int from, const char *old, int to, const char *new, unsigned flags),
          (from, old, to, new, flags))

/* Directories have no records, but the time counts. */
SW_EXPORT int mkdir(const char *path, mode_t mode)
{
    struct sw_call call;
    bool counted = sw_enter(&call, SW_LAYER_POSIX);
    int result = sw_posix()->mkdir(path, mode);
    if (counted)
        sw_leave(&call, NULL, SW_OP_META);
    return result;
}
