/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls that move bytes. */
#define _GNU_SOURCE
#include "posix.h"

/* A transfer at the descriptor's own position. */
static void leave_here(struct sw_call *call, int fd, struct sw_fd *entry, enum sw_op op,
                       ssize_t result)
{
    struct sw_file *file = sw_fd_posix(entry);
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    call->event_flags |= SW_EVENT_POINTER;
    sw_leave_data(call, file, op, result, sw_fd_advance(fd, entry, result));
}

static void leave_at(struct sw_call *call, struct sw_fd *entry, enum sw_op op, ssize_t result,
                     off_t offset)
{
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    sw_leave_data(call, sw_fd_posix(entry), op, result, offset);
}

/* A signal handler's write is not counted, but has to be synced all the same. */
static void note_unseen_write(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry != NULL)
        sw_fd_wrote(entry);
}

SW_EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    struct sw_call call;
    struct sw_fd *entry = sw_posix_enter(&call, fd);
    ssize_t result = sw_posix()->read(fd, buffer, bytes);
    if (entry != NULL)
        leave_here(&call, fd, entry, SW_OP_READ, result);
    return result;
}

SW_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
    struct sw_call call;
    struct sw_fd *entry = sw_posix_enter(&call, fd);
    ssize_t result = sw_posix()->__read_chk(fd, buffer, bytes, room);
    if (entry != NULL)
        leave_here(&call, fd, entry, SW_OP_READ, result);
    return result;
}

SW_EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
    struct sw_call call;
    struct sw_fd *entry = sw_posix_enter(&call, fd);
    ssize_t result = sw_posix()->write(fd, buffer, bytes);
    if (entry != NULL)
        leave_here(&call, fd, entry, SW_OP_WRITE, result);
    else
        note_unseen_write(fd);
    return result;
}

SW_EXPORT ssize_t readv(int fd, const struct iovec *pieces, int count)
{
    struct sw_call call;
    struct sw_fd *entry = sw_posix_enter(&call, fd);
    ssize_t result = sw_posix()->readv(fd, pieces, count);
    if (entry != NULL)
        leave_here(&call, fd, entry, SW_OP_READ, result);
    return result;
}

SW_EXPORT ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    struct sw_call call;
    struct sw_fd *entry = sw_posix_enter(&call, fd);
    ssize_t result = sw_posix()->writev(fd, pieces, count);
    if (entry != NULL)
        leave_here(&call, fd, entry, SW_OP_WRITE, result);
    else
        note_unseen_write(fd);
    return result;
}

/* Calls with an offset of their own differ in nothing but their arguments. */
#define SW_TRANSFER_AT(name, op, parameters, arguments)                                           \
    SW_EXPORT ssize_t name parameters                                                             \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter(&call, fd);                                          \
        ssize_t result = sw_posix()->name arguments;                                              \
        if (entry != NULL)                                                                        \
            leave_at(&call, entry, op, result, offset);                                           \
        else if ((op) == SW_OP_WRITE)                                                             \
            note_unseen_write(fd);                                                                \
        return result;                                                                            \
    }

SW_TRANSFER_AT(pread, SW_OP_READ, (int fd, void *buffer, size_t bytes, off_t offset),
               (fd, buffer, bytes, offset))
SW_TRANSFER_AT(pread64, SW_OP_READ, (int fd, void *buffer, size_t bytes, off64_t offset),
               (fd, buffer, bytes, offset))
SW_TRANSFER_AT(__pread_chk, SW_OP_READ,
               (int fd, void *buffer, size_t bytes, off_t offset, size_t room),
               (fd, buffer, bytes, offset, room))
SW_TRANSFER_AT(__pread64_chk, SW_OP_READ,
               (int fd, void *buffer, size_t bytes, off64_t offset, size_t room),
               (fd, buffer, bytes, offset, room))
SW_TRANSFER_AT(pwrite, SW_OP_WRITE, (int fd, const void *buffer, size_t bytes, off_t offset),
               (fd, buffer, bytes, offset))
SW_TRANSFER_AT(pwrite64, SW_OP_WRITE, (int fd, const void *buffer, size_t bytes, off64_t offset),
               (fd, buffer, bytes, offset))
SW_TRANSFER_AT(preadv, SW_OP_READ, (int fd, const struct iovec *pieces, int count, off_t offset),
               (fd, pieces, count, offset))
SW_TRANSFER_AT(preadv64, SW_OP_READ,
               (int fd, const struct iovec *pieces, int count, off64_t offset),
               (fd, pieces, count, offset))
SW_TRANSFER_AT(pwritev, SW_OP_WRITE, (int fd, const struct iovec *pieces, int count, off_t offset),
               (fd, pieces, count, offset))
SW_TRANSFER_AT(pwritev64, SW_OP_WRITE,
               (int fd, const struct iovec *pieces, int count, off64_t offset),
               (fd, pieces, count, offset))

/* Offset -1 stands for the descriptor's own position here. */
#define SW_TRANSFER_HERE_OR_AT(name, op)                                                          \
    SW_EXPORT ssize_t name(int fd, const struct iovec *pieces, int count, off_t offset, int how)  \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_posix_enter(&call, fd);                                          \
        ssize_t result = sw_posix()->name(fd, pieces, count, offset, how);                        \
        if (entry != NULL && offset == -1)                                                        \
            leave_here(&call, fd, entry, op, result);                                             \
        else if (entry != NULL)                                                                   \
            leave_at(&call, entry, op, result, offset);                                           \
        else if ((op) == SW_OP_WRITE)                                                             \
            note_unseen_write(fd);                                                                \
        return result;                                                                            \
    }

SW_TRANSFER_HERE_OR_AT(preadv2, SW_OP_READ)
SW_TRANSFER_HERE_OR_AT(preadv64v2, SW_OP_READ)
SW_TRANSFER_HERE_OR_AT(pwritev2, SW_OP_WRITE)
SW_TRANSFER_HERE_OR_AT(pwritev64v2, SW_OP_WRITE)

/* ---- from descriptor to descriptor ---------------------------------------------------- */

/* Where `bytes` moved: at *offset before the call if given, else at the position. */
static int64_t moved_at(int fd, struct sw_fd *entry, const off_t *offset, off_t before,
                        ssize_t bytes)
{
    return offset != NULL ? before : sw_fd_advance(fd, entry, bytes);
}

struct transfer {
    struct sw_call call;
    struct sw_fd *from;
    struct sw_fd *to;
    off_t from_before;
    off_t to_before;
};

static bool transfer_enter(struct transfer *transfer, int from, const off_t *from_offset, int to,
                           const off_t *to_offset, const char *name)
{
    transfer->from = sw_fd_entry(from);
    transfer->to = sw_fd_entry(to);
    if (transfer->from == NULL && transfer->to == NULL)
        return false;
    transfer->from_before = from_offset != NULL ? *from_offset : -1;
    transfer->to_before = to_offset != NULL ? *to_offset : -1;
    return sw_enter_as(&transfer->call, SW_LAYER_POSIX, name);
}

/* The time belongs to the written file, or to the read one where only that is known. */
static void transfer_leave(struct transfer *transfer, int from, const off_t *from_offset, int to,
                           const off_t *to_offset, ssize_t result)
{
    bool outermost = transfer->call.outermost;
    int64_t read_at = -1;
    if (transfer->from != NULL)
        read_at = moved_at(from, transfer->from, from_offset, transfer->from_before, result);
    if (transfer->to == NULL) {
        leave_at(&transfer->call, transfer->from, SW_OP_READ, result, read_at);
        return;
    }
    int64_t written_at = moved_at(to, transfer->to, to_offset, transfer->to_before, result);
    if (transfer->from != NULL)
        sw_count_data(sw_fd_posix(transfer->from), SW_OP_READ, result, read_at, outermost);
    leave_at(&transfer->call, transfer->to, SW_OP_WRITE, result, written_at);
}

SW_EXPORT ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset,
                                  size_t bytes, unsigned flags)
{
    struct transfer transfer;
    bool counted = transfer_enter(&transfer, from, from_offset, to, to_offset, __func__);
    ssize_t result = sw_posix()->copy_file_range(from, from_offset, to, to_offset, bytes, flags);
    if (counted)
        transfer_leave(&transfer, from, from_offset, to, to_offset, result);
    return result;
}

SW_EXPORT ssize_t sendfile(int to, int from, off_t *from_offset, size_t bytes)
{
    struct transfer transfer;
    bool counted = transfer_enter(&transfer, from, from_offset, to, NULL, __func__);
    ssize_t result = sw_posix()->sendfile(to, from, from_offset, bytes);
    if (counted)
        transfer_leave(&transfer, from, from_offset, to, NULL, result);
    return result;
}

SW_EXPORT ssize_t sendfile64(int to, int from, off64_t *from_offset, size_t bytes)
{
    struct transfer transfer;
    bool counted = transfer_enter(&transfer, from, from_offset, to, NULL, __func__);
    ssize_t result = sw_posix()->sendfile64(to, from, from_offset, bytes);
    if (counted)
        transfer_leave(&transfer, from, from_offset, to, NULL, result);
    return result;
}
