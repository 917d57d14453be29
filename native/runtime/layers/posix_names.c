/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on a name. A name is examined after the call, when the kernel has read it, because the
 * pointer may be invalid. Directories count the calls on the names in them; an opened file also
 * counts its own.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/xattr.h>

#include "posix.h"

__attribute__((hot)) static void leave_name(struct sw_call *call, enum sw_action action,
                                            int directory, const char *path, bool failed,
                                            uint32_t mark)
{
    int saved_errno = errno;
    struct sw_file *file = NULL;
    bool counted = false;
    sw_call_ended(call);
    if (path != NULL && !(failed && saved_errno == EFAULT))
        counted = sw_name_used(call, directory, path, action, failed, &file);
    if (failed)
        call->event_flags |= SW_EVENT_FAILED;
    else
        sw_file_flag(file, mark);
    if (counted)
        sw_leave(call, file, SW_OP_META);
    else
        sw_leave_uncounted(call);
    errno = saved_errno;
}

static struct sw_request sw_request_answered(enum sw_action action, int directory,
                                             const char *path, bool follow, void *answer)
{
    struct sw_request request = sw_request_name(action, directory, path, follow);
    request.argument = answer;
    return request;
}

static struct sw_request sw_request_attribute(enum sw_action action, const char *path, bool follow,
                                              void *answer)
{
    struct sw_request request = sw_request_answered(action, AT_FDCWD, path, follow, answer);
    request.attribute = true;
    return request;
}

/* `answer`: where the call stores its result; `mark`: of the file if the call succeeds; `size`:
 * the new size of the file. */
#define SW_ON_NAME_AS(type, name, action, directory, description, mark, size, parameters,         \
                      arguments)                                                                  \
    SW_EXPORT type name parameters;                                                               \
    SW_EXPORT type name parameters                                                                \
    {                                                                                             \
        struct sw_call call;                                                                      \
        const char *asked = path;                                                                 \
        bool counted = sw_enter_briefly(&call, SW_LAYER_POSIX);                                   \
        type result = SW_CHAINED(type, sw_posix, action, description, path = request.target.path, \
                                 name, arguments);                                                \
        if (counted) {                                                                            \
            call.position = size;                                                                 \
            leave_name(&call, action, directory, asked, result < 0, mark);                        \
        }                                                                                         \
        return result;                                                                            \
    }

#define SW_ON_NAME_WITH(type, name, action, directory, follow, answer, mark, size, parameters,    \
                        arguments)                                                                \
    SW_ON_NAME_AS(type, name, action, directory,                                                  \
                  sw_request_answered(action, directory, path, follow, answer), mark, size,       \
                  parameters, arguments)
/* For a file's extended attributes. */
#define SW_ON_ATTRIBUTE(type, name, action, follow, answer, parameters, arguments)                \
    SW_ON_NAME_AS(type, name, action, AT_FDCWD,                                                   \
                  sw_request_attribute(action, path, follow, answer), 0, SW_POSITION_OF_CALL,     \
                  parameters, arguments)

#define SW_ON_NAME(name, action, directory, follow, answer, parameters, arguments)                \
    SW_ON_NAME_WITH(int, name, action, directory, follow, answer, 0, SW_POSITION_OF_CALL,         \
                    parameters, arguments)
#define FOLLOWS ((flags & AT_SYMLINK_NOFOLLOW) == 0)

/* ---- calls that only read ------------------------------------------------------------------ */

SW_ON_NAME(stat, SW_DO_STAT, AT_FDCWD, true, status, (const char *path, struct stat *status),
           (path, status))
SW_ON_NAME(stat64, SW_DO_STAT, AT_FDCWD, true, status, (const char *path, struct stat64 *status),
           (path, status))
SW_ON_NAME(lstat, SW_DO_STAT, AT_FDCWD, false, status, (const char *path, struct stat *status),
           (path, status))
SW_ON_NAME(lstat64, SW_DO_STAT, AT_FDCWD, false, status, (const char *path, struct stat64 *status),
           (path, status))
SW_ON_NAME(fstatat, SW_DO_STAT, directory, FOLLOWS, status,
           (int directory, const char *path, struct stat *status, int flags),
           (directory, path, status, flags))
SW_ON_NAME(fstatat64, SW_DO_STAT, directory, FOLLOWS, status,
           (int directory, const char *path, struct stat64 *status, int flags),
           (directory, path, status, flags))
SW_ON_NAME(__xstat, SW_DO_STAT, AT_FDCWD, true, status,
           (int version, const char *path, struct stat *status), (version, path, status))
SW_ON_NAME(__xstat64, SW_DO_STAT, AT_FDCWD, true, status,
           (int version, const char *path, struct stat64 *status), (version, path, status))
SW_ON_NAME(__lxstat, SW_DO_STAT, AT_FDCWD, false, status,
           (int version, const char *path, struct stat *status), (version, path, status))
SW_ON_NAME(__lxstat64, SW_DO_STAT, AT_FDCWD, false, status,
           (int version, const char *path, struct stat64 *status), (version, path, status))
SW_ON_NAME(statx, SW_DO_STAT, directory, FOLLOWS, status,
           (int directory, const char *path, int flags, unsigned mask, struct statx *status),
           (directory, path, flags, mask, status))
SW_ON_ATTRIBUTE(ssize_t, getxattr, SW_DO_STAT, true, value,
                (const char *path, const char *name, void *value, size_t bytes),
                (path, name, value, bytes))
SW_ON_ATTRIBUTE(ssize_t, lgetxattr, SW_DO_STAT, false, value,
                (const char *path, const char *name, void *value, size_t bytes),
                (path, name, value, bytes))
SW_ON_ATTRIBUTE(ssize_t, listxattr, SW_DO_STAT, true, list,
                (const char *path, char *list, size_t bytes), (path, list, bytes))
SW_ON_ATTRIBUTE(ssize_t, llistxattr, SW_DO_STAT, false, list,
                (const char *path, char *list, size_t bytes), (path, list, bytes))
SW_ON_NAME(statfs, SW_DO_STATFS, AT_FDCWD, true, status, (const char *path, struct statfs *status),
           (path, status))
SW_ON_NAME(statfs64, SW_DO_STATFS, AT_FDCWD, true, status,
           (const char *path, struct statfs64 *status), (path, status))
SW_ON_NAME(statvfs, SW_DO_STATFS, AT_FDCWD, true, NULL, (const char *path, struct statvfs *status),
           (path, status))
SW_ON_NAME(statvfs64, SW_DO_STATFS, AT_FDCWD, true, NULL,
           (const char *path, struct statvfs64 *status), (path, status))
SW_ON_NAME(access, SW_DO_ACCESS, AT_FDCWD, true, NULL, (const char *path, int mode), (path, mode))
SW_ON_NAME(eaccess, SW_DO_ACCESS, AT_FDCWD, true, NULL, (const char *path, int mode), (path, mode))
SW_ON_NAME(euidaccess, SW_DO_ACCESS, AT_FDCWD, true, NULL, (const char *path, int mode),
           (path, mode))
SW_ON_NAME(faccessat, SW_DO_ACCESS, directory, FOLLOWS, NULL,
           (int directory, const char *path, int mode, int flags), (directory, path, mode, flags))
SW_ON_NAME_WITH(ssize_t, readlink, SW_DO_SYMLINK, AT_FDCWD, false, out, 0, SW_POSITION_OF_CALL,
                (const char *path, char *out, size_t bytes), (path, out, bytes))
SW_ON_NAME_WITH(ssize_t, readlinkat, SW_DO_SYMLINK, directory, false, out, 0, SW_POSITION_OF_CALL,
                (int directory, const char *path, char *out, size_t bytes),
                (directory, path, out, bytes))

static struct sw_request request_list(const char *path)
{
    struct sw_request request = sw_request_name(SW_DO_LIST, AT_FDCWD, path, true);
    request.opens_stream = true;
    return request;
}

SW_EXPORT DIR *opendir(const char *path)
{
    struct sw_call call;
    const char *asked = path;
    bool counted = sw_enter_briefly(&call, SW_LAYER_POSIX);
    intptr_t result = SW_CHAINED(intptr_t, sw_posix, SW_DO_LIST, request_list(path),
                                 path = request.target.path, opendir, (path));
    if (counted)
        leave_name(&call, SW_DO_LIST, AT_FDCWD, asked, result <= 0, 0);
    return result > 0 ? (DIR *)result : NULL;
}

/* ---- calls that change something ----------------------------------------------------------- */

#define SW_CHANGE(name, directory, follow, parameters, arguments)                                 \
    SW_ON_NAME(name, SW_DO_CHANGE, directory, follow, NULL, parameters, arguments)

SW_CHANGE(chmod, AT_FDCWD, true, (const char *path, mode_t mode), (path, mode))
SW_CHANGE(fchmodat, directory, FOLLOWS, (int directory, const char *path, mode_t mode, int flags),
          (directory, path, mode, flags))
SW_CHANGE(chown, AT_FDCWD, true, (const char *path, uid_t user, gid_t group), (path, user, group))
SW_CHANGE(lchown, AT_FDCWD, false, (const char *path, uid_t user, gid_t group),
          (path, user, group))
SW_CHANGE(fchownat, directory, FOLLOWS,
          (int directory, const char *path, uid_t user, gid_t group, int flags),
          (directory, path, user, group, flags))
SW_CHANGE(utime, AT_FDCWD, true, (const char *path, const struct utimbuf *times), (path, times))
SW_CHANGE(utimes, AT_FDCWD, true, (const char *path, const struct timeval times[2]), (path, times))
SW_CHANGE(lutimes, AT_FDCWD, false, (const char *path, const struct timeval times[2]),
          (path, times))
SW_CHANGE(utimensat, directory, FOLLOWS,
          (int directory, const char *path, const struct timespec times[2], int flags),
          (directory, path, times, flags))
SW_ON_ATTRIBUTE(int, setxattr, SW_DO_CHANGE, true, NULL,
                (const char *path, const char *name, const void *value, size_t bytes, int flags),
                (path, name, value, bytes, flags))
SW_ON_ATTRIBUTE(int, lsetxattr, SW_DO_CHANGE, false, NULL,
                (const char *path, const char *name, const void *value, size_t bytes, int flags),
                (path, name, value, bytes, flags))
SW_ON_ATTRIBUTE(int, removexattr, SW_DO_CHANGE, true, NULL, (const char *path, const char *name),
                (path, name))
SW_ON_ATTRIBUTE(int, lremovexattr, SW_DO_CHANGE, false, NULL, (const char *path, const char *name),
                (path, name))

SW_ON_NAME(mkdir, SW_DO_MKDIR, AT_FDCWD, false, NULL, (const char *path, mode_t mode),
           (path, mode))
SW_ON_NAME(mkdirat, SW_DO_MKDIR, directory, false, NULL,
           (int directory, const char *path, mode_t mode), (directory, path, mode))
SW_ON_NAME(rmdir, SW_DO_RMDIR, AT_FDCWD, false, NULL, (const char *path), (path))

SW_ON_NAME_WITH(int, truncate, SW_DO_TRUNCATE, AT_FDCWD, true, NULL, SW_FILE_TRUNCATED, bytes,
                (const char *path, off_t bytes), (path, bytes))
SW_ON_NAME_WITH(int, truncate64, SW_DO_TRUNCATE, AT_FDCWD, true, NULL, SW_FILE_TRUNCATED, bytes,
                (const char *path, off64_t bytes), (path, bytes))
SW_ON_NAME_WITH(int, unlink, SW_DO_UNLINK, AT_FDCWD, false, NULL, SW_FILE_UNLINKED,
                SW_POSITION_OF_CALL, (const char *path), (path))
SW_ON_NAME_WITH(int, unlinkat, (flags & AT_REMOVEDIR) != 0 ? SW_DO_RMDIR : SW_DO_UNLINK, directory,
                false, NULL, SW_FILE_UNLINKED, SW_POSITION_OF_CALL,
                (int directory, const char *path, int flags), (directory, path, flags))
SW_ON_NAME_WITH(int, remove, SW_DO_UNLINK, AT_FDCWD, false, NULL, SW_FILE_UNLINKED,
                SW_POSITION_OF_CALL, (const char *path), (path))

/* ---- calls with two names ------------------------------------------------------------------ */

/* A rename counts for the old name, a link for the new one. */
#define SW_ON_NAMES(name, action, from, to, counts, follow, parameters, arguments)                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_place source = {from, old};                                                     \
        struct sw_place made = {to, new};                                                         \
        bool counted = sw_enter_briefly(&call, SW_LAYER_POSIX);                                   \
        int result =                                                                              \
            SW_CHAINED(int, sw_posix, action, sw_request_names(action, source, made, follow),     \
                       (old = request.target.path, new = request.second.path), name, arguments);  \
        if (counted)                                                                              \
            leave_name(&call, action, counts.directory, counts.path, result != 0, 0);             \
        return result;                                                                            \
    }

SW_ON_NAMES(rename, SW_DO_RENAME, AT_FDCWD, AT_FDCWD, source, false,
            (const char *old, const char *new), (old, new))
SW_ON_NAMES(renameat, SW_DO_RENAME, from, to, source, false,
            (int from, const char *old, int to, const char *new), (from, old, to, new))
SW_ON_NAMES(renameat2, SW_DO_RENAME, from, to, source, false,
            (int from, const char *old, int to, const char *new, unsigned flags),
            (from, old, to, new, flags))
SW_ON_NAMES(link, SW_DO_LINK, AT_FDCWD, AT_FDCWD, made, false, (const char *old, const char *new),
            (old, new))
SW_ON_NAMES(linkat, SW_DO_LINK, from, to, made, (flags & AT_SYMLINK_FOLLOW) != 0,
            (int from, const char *old, int to, const char *new, int flags),
            (from, old, to, new, flags))
SW_ON_NAMES(symlink, SW_DO_SYMLINK, AT_FDCWD, AT_FDCWD, made, false,
            (const char *old, const char *new), (old, new))
SW_ON_NAMES(symlinkat, SW_DO_SYMLINK, AT_FDCWD, to, made, false,
            (const char *old, int to, const char *new), (old, to, new))

/* ---- the working directory --------------------------------------------------------------- */

#define SW_MOVES(name, parameters, arguments)                                                     \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        int result = sw_posix()->name arguments;                                                  \
        sw_cwd_changed();                                                                         \
        return result;                                                                            \
    }

SW_MOVES(fchdir, (int fd), (fd))
SW_MOVES(chroot, (const char *path), (path))
SW_MOVES(daemon, (int stay, int keep), (stay, keep))

/* A member may have moved the directory. */
SW_EXPORT int chdir(const char *path)
{
    int result =
        SW_CHAINED(int, sw_posix, SW_DO_LIST, sw_request_name(SW_DO_LIST, AT_FDCWD, path, true),
                   path = request.target.path, chdir, (path));
    sw_cwd_changed();
    return result;
}

/* From here on, each thread may have its own working directory. */
SW_EXPORT int unshare(int flags)
{
    if ((flags & 0x200 /* CLONE_FS */) != 0)
        sw_cwd_unsteady(1);
    return sw_posix()->unshare(flags);
}

/* libc itself changes the directory in there, if FTW_CHDIR requests it. */
#define SW_WALK(name, type)                                                                       \
    SW_EXPORT int name(const char *path, type function, int depth, int flags)                     \
    {                                                                                             \
        sw_cwd_unsteady(1);                                                                       \
        int result = sw_posix()->name(path, function, depth, flags);                              \
        sw_cwd_unsteady(-1);                                                                      \
        return result;                                                                            \
    }

SW_WALK(nftw, __nftw_func_t)
SW_WALK(nftw64, __nftw64_func_t)

#define SW_TREE(name)                                                                             \
    SW_EXPORT void *name(char *const *paths, int options, void *compare);                         \
    SW_EXPORT void *name(char *const *paths, int options, void *compare)                          \
    {                                                                                             \
        if ((options & 4 /* FTS_NOCHDIR */) == 0)                                                 \
            sw_cwd_unsteady(1);                                                                   \
        return sw_posix()->name(paths, options, compare);                                         \
    }

SW_TREE(fts_open)
SW_TREE(fts_open64)
