/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reads and writes that libc makes for a stream pass no wrapper. They are derived from the
 * stream's buffer before and after a call, whose members are part of the ABI.
 * Source: glibc, libio/fileops.c, _IO_new_file_xsputn (a full buffer is written, then all whole
 * blocks of what is left, at once) and _IO_file_xsgetn (whole blocks at once, then a buffer).
 */
#define _GNU_SOURCE
#include "streams.h"

#include <sys/stat.h>

#include "../core/system.h"

#define SMALLEST_BLOCK 128 /* smaller buffers are bypassed */

static void issue(struct sw_fd *entry, int fd, enum sw_op op, int64_t bytes, int64_t offset)
{
    enum sw_action action = op == SW_OP_WRITE ? SW_DO_WRITE : SW_DO_READ;
    struct sw_request request = sw_request_data(action, fd, bytes, offset);
    request.stream = true;
    (void)sw_fd_stdio(entry);
    if (sw_is_hooked(action))
        sw_request_only(&request);
    sw_count_issued(sw_fd_issued(entry), op, (uint64_t)bytes, offset);
}

#define LINE_BUFFERED 0x200 /* _IO_LINE_BUF of glibc */

/* A stream of lines has `filled` 0, but puts all up to the end of a line into its buffer first. */
void sw_issue_writes(const FILE *stream, struct sw_fd *entry, const struct sw_buffered *before,
                     int64_t out, int64_t position)
{
    int64_t pending = (int64_t)before->pending;
    bool known = position >= pending && (entry->flags & SW_FD_ASK) == 0;
    int64_t offset = known ? position - pending : -1;
    int64_t room = (stream->_flags & LINE_BUFFERED) != 0
                       ? stream->_IO_buf_end - stream->_IO_buf_base
                       : (int64_t)before->filled;
    int64_t first = room > pending ? room : pending;
    if (first == 0 || first > out)
        first = out;
    issue(entry, stream->_fileno, SW_OP_WRITE, first, offset);
    if (out > first)
        issue(entry, stream->_fileno, SW_OP_WRITE, out - first, known ? offset + first : -1);
}

void sw_issue_blocks(const FILE *stream, struct sw_fd *entry, int64_t bytes, int64_t block)
{
    for (; bytes > block; bytes -= block)
        issue(entry, stream->_fileno, SW_OP_READ, block, -1);
    issue(entry, stream->_fileno, SW_OP_READ, bytes, -1);
}

void sw_issued_reads(const FILE *stream, struct sw_fd *entry, const struct sw_buffered *before,
                     int64_t asked, int64_t bytes)
{
    int64_t block = stream->_IO_buf_end - stream->_IO_buf_base;
    int64_t left = bytes - (int64_t)before->ahead;
    int64_t wanted = asked - (int64_t)before->ahead;
    if (SW_LIKELY(left <= 0) || block <= 0)
        return;
    int64_t direct = wanted < block ? 0 : wanted;
    direct -= block >= SMALLEST_BLOCK ? direct % block : 0;
    if (direct > 0) {
        issue(entry, stream->_fileno, SW_OP_READ, left < direct ? left : direct, -1);
        left -= direct;
    }
    if (left > 0)
        sw_issue_blocks(stream, entry, left + (stream->_IO_read_end - stream->_IO_read_ptr),
                        block);
}

int64_t sw_stream_left(const FILE *stream, struct sw_fd *entry)
{
    int64_t known = stream->_offset;
    if (stream->_mode > 0)
        sw_file_flag(sw_fd_stdio(entry), SW_FILE_WIDE);
    else if (known >= 0 && entry->position >= 0 &&
             stream->_IO_write_ptr == stream->_IO_write_base &&
             known - (stream->_IO_read_end - stream->_IO_read_ptr) != entry->position)
        sw_file_flag(sw_fd_stdio(entry), SW_FILE_CHARACTERS);
    return known;
}

#define APPENDS 0x1000 /* _IO_IS_APPENDING of glibc */

/* Returns where the stream will be when nothing is left in its buffer; negative if unknown. */
static int64_t final_place(const FILE *stream)
{
    struct sw_buffered now = sw_buffered(stream);
    struct stat status;
    bool appends = now.pending != 0 && (stream->_flags & APPENDS) != 0;
    int64_t place = appends ? sw_sys_fstat(stream->_fileno, &status) == 0 ? status.st_size : -1
                            : sw_sys_lseek(stream->_fileno, 0, SEEK_CUR);
    return place < 0 ? -1 : place + (int64_t)now.pending - (int64_t)now.ahead;
}

void sw_stream_reached(const FILE *stream, struct sw_fd *entry)
{
    bool known = (entry->flags & SW_FD_ASK) == 0 && entry->position >= 0;
    if (known || entry->stdio == NULL || stream->_mode > 0 ||
        entry->generation != sw_options.generation)
        return;
    int saved_errno = errno;
    int64_t end = final_place(stream);
    sw_file_reached(entry->stdio, end);
    sw_file_reached(entry->issued, end);
    errno = saved_errno;
}

/* ---- at exit ------------------------------------------------------------------------------ */

/* Returns false if another thread holds it: then libc's order can no longer be kept. */
static bool end_stream(FILE *stream, bool now)
{
    struct sw_fd *entry = sw_stdio_entry(stream);
    struct sw_buffered before = sw_buffered(stream);
    bool own = entry != NULL && (entry->flags & SW_FD_CAN_WRITE) != 0 &&
               entry->generation == sw_options.generation && entry->stdio != NULL;
    if (now && ftrylockfile(stream) != 0)
        return false;
    if (entry != NULL && entry->generation == sw_options.generation && entry->stdio != NULL)
        (void)sw_stream_left(stream, entry);
    if (own)
        sw_stream_reached(stream, entry);
    if (own && before.pending != 0 && !now)
        sw_count_issued(sw_fd_issued(entry), SW_OP_WRITE, before.pending, -1);
    if (!now)
        return true;
    bool flushed = sw_stdio()->fflush_unlocked(stream) == 0;
    if (flushed && entry != NULL && (entry->flags & SW_FD_CAN_WRITE) != 0 &&
        entry->generation == sw_options.generation)
        sw_fd_wrote(entry);
    funlockfile(stream);
    if (flushed && own && before.pending != 0)
        issue(entry, stream->_fileno, SW_OP_WRITE, (int64_t)before.pending, -1);
    return true;
}

/* Only what libc would write: a flush may move a stream that was last read. */
static bool has_written(const FILE *stream)
{
    return stream->_mode > 0 || stream->_IO_write_ptr > stream->_IO_write_base ||
           sw_stdio_entry((FILE *)(uintptr_t)stream) != NULL;
}

void sw_issued_at_exit(bool now)
{
    FILE **list = (FILE **)sw_resolve("_IO_list_all", NULL);
    void (*lock)(void) = (void (*)(void))(uintptr_t)sw_resolve("_IO_list_lock", NULL);
    void (*unlock)(void) = (void (*)(void))(uintptr_t)sw_resolve("_IO_list_unlock", NULL);
    if (list == NULL || lock == NULL || unlock == NULL)
        return;
    lock();
    for (FILE *stream = *list; stream != NULL; stream = stream->_chain) {
        if (has_written(stream) && !end_stream(stream, now))
            break;
    }
    unlock();
}
