/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls that create, copy and close descriptors. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "posix.h"
#include "../core/system.h"

/* State before an open; only a few words, so that it fits on small stacks. */
struct opening {
    struct sw_call call;
    struct sw_birth birth;
    int directory;
    const char *path; /* as the program names it */
    int flags;
    bool counted;
};

static void open_begin(struct opening *opening, int directory, const char *path, int flags,
                       const char *name)
{
    *opening = (struct opening){.directory = directory, .path = path, .flags = flags};
    if ((flags & O_CREAT) != 0)
        opening->birth = sw_birth_before();
    opening->counted = sw_enter_briefly_as(&opening->call, SW_LAYER_POSIX, name, true);
}

static struct sw_request request_open(const struct opening *opening)
{
    struct sw_request request = sw_request_name(SW_DO_OPEN, opening->directory, opening->path,
                                                (opening->flags & O_NOFOLLOW) == 0);
    request.flags = opening->flags;
    return request;
}

/* Returns whether the file has no name, and disappears when it is closed. */
static bool is_unnamed(int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

/* Returns 0 if nothing was really opened; *existed: before the open. */
static mode_t type_of(const struct opening *opening, int fd, bool *existed)
{
    bool makes = (opening->flags & O_CREAT) != 0;
    bool is_new = (makes && (opening->flags & O_EXCL) != 0) || is_unnamed(opening->flags);
    *existed = !is_new;
    if ((opening->flags & O_PATH) != 0)
        return 0;
    return sw_opened_type(fd, makes && !is_new ? &opening->birth : NULL, existed);
}

static uint32_t record_flags(int flags, bool existed)
{
    int access = flags & O_ACCMODE;
    return (access != O_WRONLY ? SW_FILE_OPENED_READ : 0) |
           (access != O_RDONLY ? SW_FILE_OPENED_WRITE : 0) | (existed ? 0 : SW_FILE_CREATED) |
           ((flags & O_TRUNC) != 0 && existed ? SW_FILE_TRUNCATED : 0);
}

/* Returns the SW_OPEN_* bits of trace.h. */
static int64_t asked_for(int flags)
{
    int access = flags & O_ACCMODE;
    return (access != O_WRONLY ? SW_OPEN_READ : 0) | (access != O_RDONLY ? SW_OPEN_WRITE : 0) |
           ((flags & O_CREAT) != 0 ? SW_OPEN_CREATE : 0) |
           ((flags & O_TRUNC) != 0 ? SW_OPEN_TRUNCATE : 0) |
           ((flags & O_APPEND) != 0 ? SW_OPEN_APPEND : 0) |
           ((flags & O_EXCL) != 0 ? SW_OPEN_EXCLUSIVE : 0);
}

/* Tracks only regular files. */
static struct sw_file *track_opened(const struct opening *opening, int fd, bool existed)
{
    bool wanted = false;
    bool unnamed = is_unnamed(opening->flags);
    struct sw_file *file =
        unnamed ? sw_file_unnamed(SW_LAYER_POSIX, opening->directory, opening->path)
                : sw_file_opened(SW_LAYER_POSIX, opening->directory, opening->path, &wanted);
    sw_file_flag(file, record_flags(opening->flags, existed) | (unnamed ? SW_FILE_UNLINKED : 0));
    bool writes = (opening->flags & O_ACCMODE) != O_RDONLY;
    if (file != NULL || (wanted && writes && sw_options.sync))
        sw_fd_track(fd, file, NULL,
                    (writes ? SW_FD_CAN_WRITE : 0) |
                        ((opening->flags & O_APPEND) != 0 ? SW_FD_ASK : 0),
                    0);
    return file;
}

static void open_leave(struct opening *opening, struct sw_file *file, bool failed)
{
    struct sw_file *known;
    opening->call.position = asked_for(opening->flags);
    if (sw_name_used(&opening->call, opening->directory, opening->path, SW_DO_OPEN, failed,
                     &known) ||
        file != NULL)
        sw_leave(&opening->call, file, SW_OP_OPEN);
    else
        sw_leave_uncounted(&opening->call);
}

/* Pipes and devices are not storage: an open may wait there for another process. */
static void open_counted(struct opening *opening, int fd, int error)
{
    struct sw_file *file = NULL;
    bool existed;
    mode_t type = fd >= 0 ? type_of(opening, fd, &existed) : 0;
    if (type == S_IFREG)
        file = track_opened(opening, fd, existed);
    if (type == S_IFREG || type == S_IFDIR || (fd < 0 && error != EFAULT))
        open_leave(opening, file, fd < 0);
    else
        sw_leave_uncounted(&opening->call);
}

static int open_end(struct opening *opening, int fd)
{
    int saved_errno = errno;
    bool own = fd < 0 || (sw_running() && sw_own_process());
    if (opening->counted)
        sw_call_ended(&opening->call);
    if (fd >= 0 && own)
        sw_fd_untrack(fd);
    if (opening->counted && own)
        open_counted(opening, fd, saved_errno);
    else if (opening->counted)
        sw_leave_uncounted(&opening->call);
    errno = saved_errno;
    return fd;
}

#define SW_OPEN_THROUGH(name, arguments)                                                          \
    open_end(&opening, SW_CHAINED(int, sw_posix, SW_DO_OPEN, request_open(&opening),              \
                                  path = request.target.path, name, arguments))

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
        open_begin(&opening, AT_FDCWD, path, flags, __func__);                                    \
        return SW_OPEN_THROUGH(name, (path, flags, mode));                                        \
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
        open_begin(&opening, directory, path, flags, __func__);                                   \
        return SW_OPEN_THROUGH(name, (directory, path, flags, mode));                             \
    }

SW_OPENAT(openat)
SW_OPENAT(openat64)

#define SW_OPEN_FIXED(name, directory, path, flags, parameters, arguments)                        \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct opening opening;                                                                   \
        open_begin(&opening, directory, path, flags, __func__);                                   \
        return SW_OPEN_THROUGH(name, arguments);                                                  \
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

/* The call creates the name, so it can only be read afterwards; it is always new. What the call
 * made of a path that a member had changed is copied to the program's. */
static void take_name(char *template, const char *path, int suffix)
{
    size_t made = 6 + (suffix > 0 ? (size_t)suffix : 0);
    size_t bytes = path != template ? strlen(template) : 0;
    if (bytes >= made)
        memcpy(template + bytes - made, path + strlen(path) - made, made);
}

#define SW_MAKE_TEMPORARY(name, suffix, parameters, arguments)                                    \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct opening opening;                                                                   \
        char *path = template;                                                                    \
        open_begin(&opening, AT_FDCWD, template, O_RDWR | O_CREAT | O_EXCL, __func__);            \
        int fd = SW_CHAINED(int, sw_posix, SW_DO_OPEN, request_open(&opening),                    \
                            path = (char *)(uintptr_t)request.target.path, name, arguments);      \
        take_name(template, path, suffix);                                                        \
        return open_end(&opening, fd);                                                            \
    }

SW_MAKE_TEMPORARY(mkstemp, 0, (char *template), (path))
SW_MAKE_TEMPORARY(mkstemp64, 0, (char *template), (path))
SW_MAKE_TEMPORARY(mkostemp, 0, (char *template, int flags), (path, flags))
SW_MAKE_TEMPORARY(mkostemp64, 0, (char *template, int flags), (path, flags))
SW_MAKE_TEMPORARY(mkstemps, suffix, (char *template, int suffix), (path, suffix))
SW_MAKE_TEMPORARY(mkstemps64, suffix, (char *template, int suffix), (path, suffix))
SW_MAKE_TEMPORARY(mkostemps, suffix, (char *template, int suffix, int flags),
                  (path, suffix, flags))
SW_MAKE_TEMPORARY(mkostemps64, suffix, (char *template, int suffix, int flags),
                  (path, suffix, flags))

/* ---- closing ------------------------------------------------------------------------------ */

/* The number is free, and may be reused by another thread, before close() returns. */
static struct sw_request request_close(int fd)
{
    return sw_request_data(SW_DO_CLOSE, fd, 0, -1);
}

static bool ends_tracking(struct sw_request *request)
{
    sw_fd_untrack(request->fd);
    return request->synced;
}

SW_EXPORT int close(int fd)
{
    struct sw_call call;
    struct sw_fd *entry = sw_fd_entry(fd);
    bool own = entry != NULL && sw_running() && sw_own_process();
    /* A forked child that only closes what it inherited records nothing. */
    bool inherited = own && entry->generation != sw_options.generation;
    bool counted = own && !inherited && sw_enter_briefly(&call, SW_LAYER_POSIX);
    struct sw_file *file = counted ? sw_fd_posix(entry) : NULL;
    bool synced = false;
    sw_layout_record(fd, file);
    if (own && !sw_is_hooked(SW_DO_CLOSE))
        sw_fd_untrack(fd);
    int result = SW_CHAINED(int, sw_posix, SW_DO_CLOSE, request_close(fd),
                            synced = own && ends_tracking(&request), close, (fd));
    if (counted) {
        call.event_flags |= (synced ? SW_EVENT_SYNC : 0) | (result != 0 ? SW_EVENT_FAILED : 0);
        sw_leave(&call, file, SW_OP_CLOSE);
    }
    return result;
}

static void directory_gone(DIR *directory)
{
    if (directory != NULL && sw_is_hooked(SW_DO_CLOSE))
        sw_descriptor_gone((unsigned)dirfd(directory), (unsigned)dirfd(directory));
}

SW_EXPORT int closedir(DIR *directory)
{
    directory_gone(directory);
    return sw_posix()->closedir(directory);
}

/* libc closes it, in a call other than close(). */
static void end_tracking(int fd)
{
    struct sw_request request = request_close(fd);
    if (sw_is_hooked(SW_DO_CLOSE))
        sw_request_only(&request);
    sw_fd_untrack(fd);
}

SW_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    bool closes = (flags & (1 << 2 /* CLOSE_RANGE_CLOEXEC */)) == 0;
    if (closes)
        sw_descriptor_gone(first, last);
    if (closes && first <= last && sw_running() && sw_own_process())
        sw_fd_each(first, last, end_tracking);
    return sw_posix()->close_range(first, last, flags);
}

SW_EXPORT void closefrom(int first)
{
    sw_descriptor_gone(first < 0 ? 0 : (unsigned)first, INT_MAX);
    if (sw_running() && sw_own_process())
        sw_fd_each(first < 0 ? 0 : (unsigned)first, INT_MAX, end_tracking);
    sw_posix()->closefrom(first);
}

/* ---- copies ------------------------------------------------------------------------------- */

static int copied(int fd, int copy)
{
    int saved_errno = errno;
    if (copy >= 0 && copy != fd)
        sw_descriptor_gone((unsigned)copy, (unsigned)copy);
    if (copy >= 0 && copy != fd && (sw_fd_entry(fd) != NULL || sw_fd_entry(copy) != NULL) &&
        sw_running() && sw_own_process())
        sw_fd_copy(fd, copy);
    errno = saved_errno;
    return copy;
}

/* dup2 closes the file that `copy` referred to. */
static void before_replacing(int fd, int copy)
{
    struct sw_request request = request_close(copy);
    if (fd != copy && sw_is_hooked(SW_DO_CLOSE) && sw_fd_entry(copy) != NULL && sw_running() &&
        sw_own_process())
        sw_request_only(&request);
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

/* The third argument is one word for every command. */
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
        if (command == F_SETFL && fd >= 0)                                                        \
            sw_descriptor_changed((unsigned)fd);                                                  \
        struct sw_fd *entry = command == F_SETFL ? sw_fd_entry(fd) : NULL;                        \
        if (entry != NULL)                                                                        \
            sw_fd_add_flags(entry, SW_FD_ASK); /* O_APPEND may have come or gone */               \
        return result;                                                                            \
    }

SW_FCNTL(fcntl)
SW_FCNTL(fcntl64)
