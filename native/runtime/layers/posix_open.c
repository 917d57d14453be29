/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make, copy and end descriptors. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "posix.h"
#include "../core/system.h"

/* What is known before an open; a few words, so that small stacks hold it. */
struct opening {
    struct sw_call call;
    int directory;
    const char *path;
    int flags;
    bool counted;
    bool existed;
};

static bool may_write(int flags)
{
    int access = flags & O_ACCMODE;
    return access == O_WRONLY || access == O_RDWR || (flags & O_TRUNC) != 0;
}

/* Files without a name and files that must be new are nobody's yet. */
static bool may_change_existing(int flags)
{
    bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    return may_write(flags) && !is_new && (flags & O_TMPFILE) != O_TMPFILE;
}

static bool exists(int directory, const char *path)
{
    int saved_errno = errno;
    bool found = syscall(SYS_faccessat, directory, path, F_OK) == 0 || errno != ENOENT;
    errno = saved_errno;
    return found;
}

/* False: the open is refused and errno says why. */
static bool open_begin(struct opening *opening, int directory, const char *path, int flags,
                       const char *name)
{
    *opening = (struct opening){.directory = directory, .path = path, .flags = flags};
    if (may_change_existing(flags) && sw_guard_refuses(directory, path, (flags & O_NOFOLLOW) == 0))
        return false;
    opening->existed = (flags & O_CREAT) == 0 || !sw_running() || sw_thread.inside != 0 ||
                       exists(directory, path);
    opening->counted = sw_enter_as(&opening->call, SW_LAYER_POSIX, name);
    return true;
}

static uint32_t record_flags(const struct opening *opening)
{
    int access = opening->flags & O_ACCMODE;
    return (access != O_WRONLY ? SW_FILE_OPENED_READ : 0) |
           (access != O_RDONLY ? SW_FILE_OPENED_WRITE : 0) |
           (opening->existed ? 0 : SW_FILE_CREATED) |
           ((opening->flags & O_TRUNC) != 0 && opening->existed ? SW_FILE_TRUNCATED : 0);
}

/* Only regular files with a name of their own. */
static bool is_trackable(const struct opening *opening, int fd)
{
    struct stat status;
    return (opening->flags & (O_PATH | (O_TMPFILE & ~O_DIRECTORY))) == 0 &&
           sw_sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* SW_OPEN_* of trace.h. */
static int64_t asked_for(int flags)
{
    int access = flags & O_ACCMODE;
    return (access != O_WRONLY ? SW_OPEN_READ : 0) | (access != O_RDONLY ? SW_OPEN_WRITE : 0) |
           ((flags & O_CREAT) != 0 ? SW_OPEN_CREATE : 0) |
           ((flags & O_TRUNC) != 0 ? SW_OPEN_TRUNCATE : 0) |
           ((flags & O_APPEND) != 0 ? SW_OPEN_APPEND : 0) |
           ((flags & O_EXCL) != 0 ? SW_OPEN_EXCLUSIVE : 0);
}

static struct sw_file *track_opened(const struct opening *opening, int fd)
{
    if (!is_trackable(opening, fd))
        return NULL;
    bool wanted;
    struct sw_file *file =
        sw_file_opened(SW_LAYER_POSIX, opening->directory, opening->path, &wanted);
    sw_file_flag(file, record_flags(opening));
    bool writes = (opening->flags & O_ACCMODE) != O_RDONLY;
    if (file != NULL || (wanted && writes && sw_options.sync))
        sw_fd_track(fd, file, NULL,
                    (writes ? SW_FD_CAN_WRITE : 0) |
                        ((opening->flags & O_APPEND) != 0 ? SW_FD_ASK : 0),
                    0);
    return file;
}

static int open_end(struct opening *opening, int fd)
{
    int saved_errno = errno;
    struct sw_file *file = NULL;
    bool own = fd < 0 || (sw_running() && sw_own_process());
    if (fd >= 0 && own)
        sw_fd_untrack(fd);
    if (opening->counted) {
        if (fd >= 0 && own)
            file = track_opened(opening, fd);
        opening->call.position = asked_for(opening->flags);
        if (file != NULL)
            sw_leave(&opening->call, file, SW_OP_OPEN);
        else
            sw_leave_uncounted(&opening->call);
    }
    errno = saved_errno;
    return fd;
}

static mode_t mode_argument(int flags, va_list arguments)
{
    bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return makes ? va_arg(arguments, mode_t) : 0;
}

#define SW_OPEN(name)                                                                             \
    SW_EXPORT int name(const char *path, int flags, ...)                                          \
    {                                                                                             \
        struct opening opening;                                                                   \
        va_list arguments;                                                                        \
        va_start(arguments, flags);                                                               \
        mode_t mode = mode_argument(flags, arguments);                                            \
        va_end(arguments);                                                                        \
        if (!open_begin(&opening, AT_FDCWD, path, flags, __func__))                               \
            return -1;                                                                            \
        return open_end(&opening, sw_posix()->name(path, flags, mode));                           \
    }

SW_OPEN(open)
SW_OPEN(open64)

#define SW_OPENAT(name)                                                                           \
    SW_EXPORT int name(int directory, const char *path, int flags, ...)                           \
    {                                                                                             \
        struct opening opening;                                                                   \
        va_list arguments;                                                                        \
        va_start(arguments, flags);                                                               \
        mode_t mode = mode_argument(flags, arguments);                                            \
        va_end(arguments);                                                                        \
        if (!open_begin(&opening, directory, path, flags, __func__))                              \
            return -1;                                                                            \
        return open_end(&opening, sw_posix()->name(directory, path, flags, mode));                \
    }

SW_OPENAT(openat)
SW_OPENAT(openat64)

#define SW_OPEN_FIXED(name, directory, path, flags, parameters, arguments)                        \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct opening opening;                                                                   \
        if (!open_begin(&opening, directory, path, flags, __func__))                              \
            return -1;                                                                            \
        return open_end(&opening, sw_posix()->name arguments);                                    \
    }

SW_OPEN_FIXED(__open_2, AT_FDCWD, path, flags, (const char *path, int flags), (path, flags))
SW_OPEN_FIXED(__open64_2, AT_FDCWD, path, flags, (const char *path, int flags), (path, flags))
SW_OPEN_FIXED(__openat_2, directory, path, flags, (int directory, const char *path, int flags),
              (directory, path, flags))
SW_OPEN_FIXED(__openat64_2, directory, path, flags, (int directory, const char *path, int flags),
              (directory, path, flags))
SW_OPEN_FIXED(creat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, (const char *path, mode_t mode),
              (path, mode))
SW_OPEN_FIXED(creat64, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC,
              (const char *path, mode_t mode), (path, mode))

/* The name is made by the call, so it can be read only afterwards; it is always new. */
#define SW_MAKE_TEMPORARY(name, parameters, arguments)                                            \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct opening opening = {                                                                \
            .directory = AT_FDCWD, .path = template, .flags = O_RDWR | O_CREAT | O_EXCL};         \
        opening.counted = sw_enter(&opening.call, SW_LAYER_POSIX);                                \
        return open_end(&opening, sw_posix()->name arguments);                                    \
    }

SW_MAKE_TEMPORARY(mkstemp, (char *template), (template))
SW_MAKE_TEMPORARY(mkstemp64, (char *template), (template))
SW_MAKE_TEMPORARY(mkostemp, (char *template, int flags), (template, flags))
SW_MAKE_TEMPORARY(mkostemp64, (char *template, int flags), (template, flags))
SW_MAKE_TEMPORARY(mkstemps, (char *template, int suffix), (template, suffix))
SW_MAKE_TEMPORARY(mkstemps64, (char *template, int suffix), (template, suffix))
SW_MAKE_TEMPORARY(mkostemps, (char *template, int suffix, int flags), (template, suffix, flags))
SW_MAKE_TEMPORARY(mkostemps64, (char *template, int suffix, int flags), (template, suffix, flags))

/* ---- end -------------------------------------------------------------------------------- */

SW_EXPORT int close(int fd)
{
    struct sw_call call;
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry == NULL || !sw_running() || !sw_own_process())
        return sw_posix()->close(fd);
    /* A forked child that only closes what it inherited leaves no mark. */
    bool inherited = entry->generation != sw_options.generation;
    bool counted = !inherited && sw_enter(&call, SW_LAYER_POSIX);
    struct sw_file *file = counted ? sw_fd_posix(entry) : NULL;
    bool synced = sw_fd_sync(fd);
    sw_fd_untrack(fd); /* before the number can be given to another thread */
    int result = sw_posix()->close(fd);
    if (counted) {
        call.event_flags |= (synced ? SW_EVENT_SYNC : 0) | (result != 0 ? SW_EVENT_FAILED : 0);
        sw_leave(&call, file, SW_OP_CLOSE);
    }
    return result;
}

static void end_tracking(int fd)
{
    sw_fd_sync(fd);
    sw_fd_untrack(fd);
}

SW_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    bool closes = (flags & (1 << 2 /* CLOSE_RANGE_CLOEXEC */)) == 0;
    if (closes && first <= last && sw_running() && sw_own_process())
        sw_fd_each(first, last, end_tracking);
    return sw_posix()->close_range(first, last, flags);
}

SW_EXPORT void closefrom(int first)
{
    if (sw_running() && sw_own_process())
        sw_fd_each(first < 0 ? 0 : (unsigned)first, INT_MAX, end_tracking);
    sw_posix()->closefrom(first);
}

/* ---- copies ------------------------------------------------------------------------------- */

static int copied(int fd, int copy)
{
    int saved_errno = errno;
    if (copy >= 0 && copy != fd && (sw_fd_entry(fd) != NULL || sw_fd_entry(copy) != NULL) &&
        sw_running() && sw_own_process())
        sw_fd_copy(fd, copy);
    errno = saved_errno;
    return copy;
}

/* What `copy` stood for is closed by dup2. */
static void before_replacing(int fd, int copy)
{
    if (fd != copy && sw_fd_entry(copy) != NULL && sw_running() && sw_own_process())
        sw_fd_sync(copy);
}

SW_EXPORT int dup(int fd)
{
    return copied(fd, sw_posix()->dup(fd));
}

SW_EXPORT int dup2(int fd, int copy)
{
    before_replacing(fd, copy);
    return copied(fd, sw_posix()->dup2(fd, copy));
}

SW_EXPORT int dup3(int fd, int copy, int flags)
{
    before_replacing(fd, copy);
    return copied(fd, sw_posix()->dup3(fd, copy, flags));
}

/* The third argument is one word whatever the command. */
#define SW_FCNTL(name)                                                                            \
    SW_EXPORT int name(int fd, int command, ...)                                                  \
    {                                                                                             \
        va_list arguments;                                                                        \
        va_start(arguments, command);                                                             \
        void *argument = va_arg(arguments, void *);                                               \
        va_end(arguments);                                                                        \
        int result = sw_posix()->name(fd, command, argument);                                     \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                     \
            return copied(fd, result);                                                            \
        struct sw_fd *entry = command == F_SETFL ? sw_fd_entry(fd) : NULL;                        \
        if (entry != NULL)                                                                        \
            sw_fd_add_flags(entry, SW_FD_ASK); /* O_APPEND may have come or gone */               \
        return result;                                                                            \
    }

SW_FCNTL(fcntl)
SW_FCNTL(fcntl64)
