/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls on a descriptor that move no bytes: position, sync, size, status. */
#define _GNU_SOURCE
#include <sys/xattr.h>

#include "../core/system.h"
#include "posix.h"

#define SW_ON_DESCRIPTOR_AS(type, name, op, action, description, parameters, arguments)           \
    SW_EXPORT type name parameters;                                                               \
    SW_EXPORT type name parameters                                                                \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);                                  \
        type result = SW_CHAINED(type, sw_posix, action, description, (void)0, name, arguments);  \
        if (entry != NULL)                                                                        \
            sw_posix_leave(&call, entry, op, result < 0);                                         \
        return result;                                                                            \
    }
#define SW_ON_DESCRIPTOR(type, name, op, action, data, parameters, arguments)                     \
    SW_ON_DESCRIPTOR_AS(type, name, op, action, sw_request_control(action, fd, data), parameters, \
                        arguments)

/* `data`: where the answer is written, for a member that answers. */
static struct sw_request sw_request_control(enum sw_action action, int fd, void *data)
{
    struct sw_request request = sw_request_data(action, fd, 0, -1);
    request.argument = data;
    return request;
}

static struct sw_request sw_request_attribute(enum sw_action action, int fd, void *data)
{
    struct sw_request request = sw_request_control(action, fd, data);
    request.attribute = true;
    return request;
}

/* Descriptors of directories are not tracked: only a sync of one takes time. */
static bool enter_directory(struct sw_call *call, int fd, const char *name)
{
    struct stat status;
    int saved_errno = errno;
    bool entered = fd >= 0 && sw_running() && sw_fd_entry(fd) == NULL &&
                   sw_sys_fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) &&
                   sw_enter_briefly_as(call, SW_LAYER_POSIX, name, false);
    errno = saved_errno;
    return entered;
}

static void leave_directory(struct sw_call *call, int fd, bool failed)
{
    bool wanted;
    int saved_errno = errno;
    sw_call_ended(call);
    struct sw_file *file = sw_file_behind(SW_LAYER_POSIX, fd, true, &wanted);
    if (failed)
        call->event_flags |= SW_EVENT_FAILED;
    if (file != NULL)
        sw_leave(call, file, SW_OP_SYNC);
    else
        sw_leave_uncounted(call);
    errno = saved_errno;
}

#define SW_ON_FILE_OR_DIRECTORY(name)                                                             \
    SW_EXPORT int name(int fd)                                                                    \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);                                  \
        bool is_directory = entry == NULL && enter_directory(&call, fd, __func__);                \
        int result = SW_CHAINED(int, sw_posix, SW_DO_SYNC,                                        \
                                sw_request_control(SW_DO_SYNC, fd, NULL), (void)0, name, (fd));   \
        if (entry != NULL)                                                                        \
            sw_posix_leave(&call, entry, SW_OP_SYNC, result < 0);                                 \
        else if (is_directory)                                                                    \
            leave_directory(&call, fd, result < 0);                                               \
        return result;                                                                            \
    }

SW_ON_FILE_OR_DIRECTORY(fsync)
SW_ON_FILE_OR_DIRECTORY(fdatasync)
SW_ON_DESCRIPTOR(int, syncfs, SW_OP_SYNC, SW_DO_SYNC, NULL, (int fd), (fd))
SW_ON_DESCRIPTOR(int, sync_file_range, SW_OP_SYNC, SW_DO_SYNC, NULL,
                 (int fd, off64_t offset, off64_t bytes, unsigned flags),
                 (fd, offset, bytes, flags))
SW_ON_DESCRIPTOR(int, fstat, SW_OP_META, SW_DO_STAT, status, (int fd, struct stat *status),
                 (fd, status))
SW_ON_DESCRIPTOR(int, fstat64, SW_OP_META, SW_DO_STAT, status, (int fd, struct stat64 *status),
                 (fd, status))
SW_ON_DESCRIPTOR(int, __fxstat, SW_OP_META, SW_DO_STAT, status,
                 (int version, int fd, struct stat *status), (version, fd, status))
SW_ON_DESCRIPTOR(int, __fxstat64, SW_OP_META, SW_DO_STAT, status,
                 (int version, int fd, struct stat64 *status), (version, fd, status))
SW_ON_DESCRIPTOR(int, fstatfs, SW_OP_META, SW_DO_STATFS, status, (int fd, struct statfs *status),
                 (fd, status))
SW_ON_DESCRIPTOR(int, fstatfs64, SW_OP_META, SW_DO_STATFS, status,
                 (int fd, struct statfs64 *status), (fd, status))
SW_ON_DESCRIPTOR(int, fstatvfs, SW_OP_META, SW_DO_STATFS, NULL, (int fd, struct statvfs *status),
                 (fd, status))
SW_ON_DESCRIPTOR(int, fstatvfs64, SW_OP_META, SW_DO_STATFS, NULL,
                 (int fd, struct statvfs64 *status), (fd, status))
SW_ON_DESCRIPTOR(int, fchmod, SW_OP_META, SW_DO_CHANGE, NULL, (int fd, mode_t mode), (fd, mode))
SW_ON_DESCRIPTOR(int, fchown, SW_OP_META, SW_DO_CHANGE, NULL, (int fd, uid_t user, gid_t group),
                 (fd, user, group))
SW_ON_DESCRIPTOR(int, futimens, SW_OP_META, SW_DO_CHANGE, NULL,
                 (int fd, const struct timespec times[2]), (fd, times))
SW_ON_DESCRIPTOR_AS(int, fsetxattr, SW_OP_META, SW_DO_CHANGE,
                    sw_request_attribute(SW_DO_CHANGE, fd, NULL),
                    (int fd, const char *name, const void *value, size_t bytes, int flags),
                    (fd, name, value, bytes, flags))
SW_ON_DESCRIPTOR_AS(ssize_t, fgetxattr, SW_OP_META, SW_DO_STAT,
                    sw_request_attribute(SW_DO_STAT, fd, value),
                    (int fd, const char *name, void *value, size_t bytes),
                    (fd, name, value, bytes))

/* The third argument is one word for every command. */
SW_EXPORT int ioctl(int fd, unsigned long command, ...)
{
    struct sw_call call;
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);
    struct sw_request described = sw_request_control(SW_DO_CONTROL, fd, argument);
    described.command = command;
    int result = SW_CHAINED(int, sw_posix, SW_DO_CONTROL, described, (void)0, ioctl,
                            (fd, command, argument));
    if (entry != NULL)
        sw_posix_leave(&call, entry, SW_OP_META, result < 0);
    return result;
}

/* These change the file, which must then be synced. `size`: the new size of the file, if known. */
#define SW_ON_DESCRIPTOR_CHANGING(name, action, size, parameters, arguments, file_flags)          \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, fd);                                  \
        int result =                                                                              \
            SW_CHAINED(int, sw_posix, action, sw_request_data(action, fd, (int64_t)bytes, -1),    \
                       (void)0, name, arguments);                                                 \
        if (entry != NULL) {                                                                      \
            sw_fd_wrote(entry);                                                                   \
            sw_file_flag(sw_fd_posix(entry), result == 0 ? (file_flags) : 0);                     \
            call.position = size;                                                                 \
            sw_posix_leave(&call, entry, SW_OP_META, result != 0);                                \
        }                                                                                         \
        return result;                                                                            \
    }

/* Without mode: the file is at least that long afterwards. */
#define SW_REACHED(mode) ((mode) == 0 ? offset + bytes : SW_POSITION_OF_CALL)

SW_ON_DESCRIPTOR_CHANGING(ftruncate, SW_DO_TRUNCATE, bytes, (int fd, off_t bytes), (fd, bytes),
                          bytes == 0 ? SW_FILE_TRUNCATED : 0)
SW_ON_DESCRIPTOR_CHANGING(ftruncate64, SW_DO_TRUNCATE, bytes, (int fd, off64_t bytes), (fd, bytes),
                          bytes == 0 ? SW_FILE_TRUNCATED : 0)
SW_ON_DESCRIPTOR_CHANGING(fallocate, SW_DO_ALLOCATE, SW_REACHED(mode),
                          (int fd, int mode, off_t offset, off_t bytes), (fd, mode, offset, bytes),
                          0)
SW_ON_DESCRIPTOR_CHANGING(fallocate64, SW_DO_ALLOCATE, SW_REACHED(mode),
                          (int fd, int mode, off64_t offset, off64_t bytes),
                          (fd, mode, offset, bytes), 0)
SW_ON_DESCRIPTOR_CHANGING(posix_fallocate, SW_DO_ALLOCATE, SW_REACHED(0),
                          (int fd, off_t offset, off_t bytes), (fd, offset, bytes), 0)
SW_ON_DESCRIPTOR_CHANGING(posix_fallocate64, SW_DO_ALLOCATE, SW_REACHED(0),
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
