/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls that move bytes. */
#define _GNU_SOURCE
#include "formatted.h"
#include "posix.h"

/* `offset` of a transfer at the descriptor's own position. */
#define HERE INT64_MIN
#define UNKNOWN (-1)

static inline __attribute__((always_inline)) void leave_transfer(struct sw_call *call, int fd,
                                                                 struct sw_fd *entry,
                                                                 enum sw_op op, ssize_t result,
                                                                 int64_t offset)
{
    struct sw_file *file = sw_fd_posix(entry);
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    if (offset == HERE) {
        call->event_flags |= SW_EVENT_POINTER;
        offset = sw_fd_advance(fd, entry, result);
    }
    sw_leave_data(call, file, op, result, offset);
}

/* A signal handler's write is not counted, but must be synced nevertheless. */
static void note_unseen_write(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry != NULL)
        sw_fd_wrote(entry);
}

#define ACTION(op) ((op) == SW_OP_WRITE ? SW_DO_WRITE : SW_DO_READ)

/* `asked`: requested bytes, UNKNOWN if the kernel has not read them yet. */
#define SW_TRANSFER(name, op, asked, offset, parameters, arguments)                               \
    SW_EXPORT ssize_t name parameters;                                                            \
    SW_EXPORT ssize_t name parameters                                                             \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter(&call, fd);                                          \
        ssize_t result = SW_CHAINED(ssize_t, sw_posix, ACTION(op),                                \
                                    sw_request_data(ACTION(op), fd, (int64_t)(asked),             \
                                                    (offset) == HERE ? UNKNOWN : (offset)),       \
                                    (void)0, name, arguments);                                    \
        if (entry != NULL)                                                                        \
            leave_transfer(&call, fd, entry, op, result, offset);                                 \
        else if ((op) == SW_OP_WRITE)                                                             \
            note_unseen_write(fd);                                                                \
        return result;                                                                            \
    }

SW_TRANSFER(read, SW_OP_READ, bytes, HERE, (int fd, void *buffer, size_t bytes),
            (fd, buffer, bytes))
SW_TRANSFER(__read_chk, SW_OP_READ, bytes, HERE, (int fd, void *buffer, size_t bytes, size_t room),
            (fd, buffer, bytes, room))
SW_TRANSFER(write, SW_OP_WRITE, bytes, HERE, (int fd, const void *buffer, size_t bytes),
            (fd, buffer, bytes))
SW_TRANSFER(readv, SW_OP_READ, UNKNOWN, HERE, (int fd, const struct iovec *pieces, int count),
            (fd, pieces, count))
SW_TRANSFER(writev, SW_OP_WRITE, UNKNOWN, HERE, (int fd, const struct iovec *pieces, int count),
            (fd, pieces, count))
SW_TRANSFER(pread, SW_OP_READ, bytes, offset, (int fd, void *buffer, size_t bytes, off_t offset),
            (fd, buffer, bytes, offset))
SW_TRANSFER(pread64, SW_OP_READ, bytes, offset,
            (int fd, void *buffer, size_t bytes, off64_t offset), (fd, buffer, bytes, offset))
SW_TRANSFER(__pread_chk, SW_OP_READ, bytes, offset,
            (int fd, void *buffer, size_t bytes, off_t offset, size_t room),
            (fd, buffer, bytes, offset, room))
SW_TRANSFER(__pread64_chk, SW_OP_READ, bytes, offset,
            (int fd, void *buffer, size_t bytes, off64_t offset, size_t room),
            (fd, buffer, bytes, offset, room))
SW_TRANSFER(pwrite, SW_OP_WRITE, bytes, offset,
            (int fd, const void *buffer, size_t bytes, off_t offset), (fd, buffer, bytes, offset))
SW_TRANSFER(pwrite64, SW_OP_WRITE, bytes, offset,
            (int fd, const void *buffer, size_t bytes, off64_t offset),
            (fd, buffer, bytes, offset))
SW_TRANSFER(preadv, SW_OP_READ, UNKNOWN, offset,
            (int fd, const struct iovec *pieces, int count, off_t offset),
            (fd, pieces, count, offset))
SW_TRANSFER(preadv64, SW_OP_READ, UNKNOWN, offset,
            (int fd, const struct iovec *pieces, int count, off64_t offset),
            (fd, pieces, count, offset))
SW_TRANSFER(pwritev, SW_OP_WRITE, UNKNOWN, offset,
            (int fd, const struct iovec *pieces, int count, off_t offset),
            (fd, pieces, count, offset))
SW_TRANSFER(pwritev64, SW_OP_WRITE, UNKNOWN, offset,
            (int fd, const struct iovec *pieces, int count, off64_t offset),
            (fd, pieces, count, offset))

/* Offset -1 means the descriptor's own position here. */
#define SW_TRANSFER_VECTOR(name, op)                                                              \
    SW_TRANSFER(name, op, UNKNOWN, offset == -1 ? HERE : offset,                                  \
                (int fd, const struct iovec *pieces, int count, off_t offset, int how),           \
                (fd, pieces, count, offset, how))

SW_TRANSFER_VECTOR(preadv2, SW_OP_READ)
SW_TRANSFER_VECTOR(preadv64v2, SW_OP_READ)
SW_TRANSFER_VECTOR(pwritev2, SW_OP_WRITE)
SW_TRANSFER_VECTOR(pwritev64v2, SW_OP_WRITE)

/* ---- formatted text ---------------------------------------------------------------------- */

#define SW_PRINT(as, name, parameters, arguments)                                                 \
    static int as(const char *caller, SW_JOINED parameters, va_list list)                         \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter_as(&call, fd, caller);                               \
        int result = SW_CHAINED(int, sw_posix, SW_DO_WRITE,                                       \
                                sw_request_data(SW_DO_WRITE, fd, UNKNOWN, UNKNOWN), (void)0,      \
                                name, arguments);                                                 \
        if (entry != NULL)                                                                        \
            leave_transfer(&call, fd, entry, SW_OP_WRITE, result, HERE);                          \
        else                                                                                      \
            note_unseen_write(fd);                                                                \
        return result;                                                                            \
    }

SW_PRINT(print_as, vdprintf, (int fd, const char *format), (fd, format, list))
SW_PRINT(print_checked_as, __vdprintf_chk, (int fd, int flag, const char *format),
         (fd, flag, format, list))
SW_FORMATTED(vdprintf, dprintf, (int fd, const char *format), format,
             print_as(__func__, fd, format, arguments))
SW_FORMATTED(__vdprintf_chk, __dprintf_chk, (int fd, int flag, const char *format), format,
             print_checked_as(__func__, fd, flag, format, arguments))

/* ---- from descriptor to descriptor ---------------------------------------------------- */

struct transfer {
    struct sw_call call;
    struct sw_fd *from;
    struct sw_fd *to;
};

static bool transfer_enter(struct transfer *transfer, int from, int to, const char *name)
{
    transfer->from = sw_fd_entry(from);
    transfer->to = sw_fd_entry(to);
    return (transfer->from != NULL || transfer->to != NULL) &&
           sw_enter_as(&transfer->call, SW_LAYER_POSIX, name);
}

/* Returns where `bytes` moved. *offset is only read if the kernel has advanced it. */
static int64_t moved_at(int fd, struct sw_fd *entry, const off_t *offset, ssize_t bytes)
{
    if (bytes < 0)
        return UNKNOWN;
    return offset != NULL ? *offset - bytes : sw_fd_advance(fd, entry, bytes);
}

/* The time is assigned to the written file, or to the read one if only that is known. */
static void transfer_leave(struct transfer *transfer, int from, const off_t *from_offset, int to,
                           const off_t *to_offset, ssize_t result)
{
    bool outermost = transfer->call.outermost;
    int64_t read_at = UNKNOWN;
    if (transfer->from != NULL)
        read_at = moved_at(from, transfer->from, from_offset, result);
    if (transfer->to == NULL) {
        leave_transfer(&transfer->call, from, transfer->from, SW_OP_READ, result, read_at);
        return;
    }
    int64_t written_at = moved_at(to, transfer->to, to_offset, result);
    if (transfer->from != NULL)
        sw_count_data(sw_fd_posix(transfer->from), SW_OP_READ, result, read_at, outermost);
    leave_transfer(&transfer->call, to, transfer->to, SW_OP_WRITE, result, written_at);
}

/* Reports a write request, about which everything is known afterwards: programs request as much as
 * there may be. Then reports a read request for what has been written. */
static ssize_t tell_transfer(struct sw_request *request, ssize_t result, const off_t *written,
                             int from, const off_t *read)
{
    if (result > 0 && written != NULL)
        request->offset = *written - result;
    result = (ssize_t)sw_request_end(request, result);
    if (result <= 0)
        return result;
    struct sw_request reading =
        sw_request_data(SW_DO_READ, from, result, read != NULL ? *read - result : UNKNOWN);
    reading.stream = true;
    sw_request_only(&reading);
    return result;
}

#define SW_FROM_TO(name, to_offset, parameters, arguments)                                        \
    SW_EXPORT ssize_t name parameters                                                             \
    {                                                                                             \
        struct transfer transfer;                                                                 \
        bool counted = transfer_enter(&transfer, from, to, __func__);                             \
        struct sw_request request = sw_request_data(SW_DO_WRITE, to, UNKNOWN, UNKNOWN);           \
        bool hooked = sw_is_hooked(SW_DO_WRITE) || sw_is_hooked(SW_DO_READ);                      \
        ssize_t result = hooked && !sw_request_begin(&request) ? (ssize_t)request.result          \
                                                               : sw_posix()->name arguments;      \
        if (hooked)                                                                               \
            result = tell_transfer(&request, result, to_offset, from, from_offset);               \
        if (counted)                                                                              \
            transfer_leave(&transfer, from, from_offset, to, to_offset, result);                  \
        return result;                                                                            \
    }

SW_FROM_TO(copy_file_range, to_offset,
           (int from, off64_t *from_offset, int to, off64_t *to_offset, size_t bytes,
            unsigned flags),
           (from, from_offset, to, to_offset, bytes, flags))
SW_FROM_TO(splice, to_offset,
           (int from, off64_t *from_offset, int to, off64_t *to_offset, size_t bytes,
            unsigned flags),
           (from, from_offset, to, to_offset, bytes, flags))
SW_FROM_TO(sendfile, NULL, (int to, int from, off_t *from_offset, size_t bytes),
           (to, from, from_offset, bytes))
SW_FROM_TO(sendfile64, NULL, (int to, int from, off64_t *from_offset, size_t bytes),
           (to, from, from_offset, bytes))
