/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: the layer's table, transfers and positions.
 */
#define _GNU_SOURCE
#include "streams.h"

#include <string.h>
#include <sys/stat.h>

#include "../core/system.h"

struct sw_stdio_functions sw_stdio_functions;
bool sw_stdio_resolved;

void sw_stdio_resolve(void)
{
#define SW_STDIO_RESOLVE(type, name, arguments)                                                   \
    if (sw_stdio_functions.name == NULL)                                                          \
        sw_stdio_functions.name = (type(*) arguments)(uintptr_t)sw_resolve(#name, NULL);
    SW_STDIO_FUNCTIONS(SW_STDIO_RESOLVE)
    __atomic_store_n(&sw_stdio_resolved, true, __ATOMIC_RELEASE);
}

static void start(void)
{
    (void)sw_stdio();
}

/* exit() flushes streams after our destructor: if files are to be synced, they are flushed now. */
static void finish(enum sw_ending ending)
{
    if (ending == SW_ENDING_EXIT)
        sw_issued_at_exit(sw_is_hooked(SW_DO_CLOSE));
}

const struct sw_layer_table sw_layer_stdio = {
    .name = "stdio",
    .start = start,
    .finish = finish,
};

/* ---- transfers ---------------------------------------------------------------------- */

void sw_stdio_leave(struct sw_call *call, struct sw_fd *entry, enum sw_op op, int64_t bytes)
{
    struct sw_file *file = sw_fd_stdio(entry);
    int64_t offset = (entry->flags & SW_FD_ASK) != 0 ? -1 : entry->position;
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    if (offset >= 0 && bytes > 0)
        sw_fd_set_position(entry, offset + bytes);
    call->event_flags |= SW_EVENT_POINTER;
    sw_leave_data(call, file, op, bytes, offset);
}

/* These are macros in optimised builds. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef fgets_unlocked
#undef fputs_unlocked

/* Whole items count; a partial one is not reported. */
#define SW_STREAM_ITEMS(name, op, parameters, arguments)                                          \
    SW_EXPORT size_t name parameters;                                                             \
    SW_EXPORT size_t name parameters                                                              \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        size_t result = sw_stdio()->name arguments;                                               \
        if (counted)                                                                              \
            sw_transfer_end(&transfer, op, (int64_t)(count * size), (int64_t)(result * size));    \
        return result;                                                                            \
    }

SW_STREAM_ITEMS(fread, SW_OP_READ, (void *buffer, size_t size, size_t count, FILE *stream),
                (buffer, size, count, stream))
SW_STREAM_ITEMS(fread_unlocked, SW_OP_READ,
                (void *buffer, size_t size, size_t count, FILE *stream),
                (buffer, size, count, stream))
SW_STREAM_ITEMS(__fread_chk, SW_OP_READ,
                (void *buffer, size_t room, size_t size, size_t count, FILE *stream),
                (buffer, room, size, count, stream))
SW_STREAM_ITEMS(__fread_unlocked_chk, SW_OP_READ,
                (void *buffer, size_t room, size_t size, size_t count, FILE *stream),
                (buffer, room, size, count, stream))
SW_STREAM_ITEMS(fwrite, SW_OP_WRITE, (const void *buffer, size_t size, size_t count, FILE *stream),
                (buffer, size, count, stream))
SW_STREAM_ITEMS(fwrite_unlocked, SW_OP_WRITE,
                (const void *buffer, size_t size, size_t count, FILE *stream),
                (buffer, size, count, stream))

/* As in the C library, whose own implementation would pass no wrapper. */
SW_EXPORT int getw(FILE *stream)
{
    int word;
    return fread(&word, sizeof word, 1, stream) == 1 ? word : EOF;
}

SW_EXPORT int putw(int word, FILE *stream)
{
    return fwrite(&word, sizeof word, 1, stream) == 1 ? 0 : EOF;
}

#define SW_STREAM_GET_LINE(name, parameters, arguments)                                           \
    SW_EXPORT char *name parameters;                                                              \
    SW_EXPORT char *name parameters                                                               \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        char *result = sw_stdio()->name arguments;                                                \
        if (counted)                                                                              \
            sw_transfer_end(&transfer, SW_OP_READ, 0,                                             \
                            result != NULL ? (int64_t)strlen(text) : 0);                          \
        return result;                                                                            \
    }

SW_STREAM_GET_LINE(fgets, (char *text, int room, FILE *stream), (text, room, stream))
SW_STREAM_GET_LINE(fgets_unlocked, (char *text, int room, FILE *stream), (text, room, stream))
SW_STREAM_GET_LINE(__fgets_chk, (char *text, size_t bytes, int room, FILE *stream),
                   (text, bytes, room, stream))
SW_STREAM_GET_LINE(__fgets_unlocked_chk, (char *text, size_t bytes, int room, FILE *stream),
                   (text, bytes, room, stream))

#define SW_STREAM_PUT_TEXT(name, parameters, arguments, stream, end)                              \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        int result = sw_stdio()->name arguments;                                                  \
        if (counted)                                                                              \
            sw_transfer_end(&transfer, SW_OP_WRITE, 0,                                            \
                            result >= 0 ? (int64_t)strlen(text) + (end) : -1);                    \
        return result;                                                                            \
    }

SW_STREAM_PUT_TEXT(fputs, (const char *text, FILE *stream), (text, stream), stream, 0)
SW_STREAM_PUT_TEXT(fputs_unlocked, (const char *text, FILE *stream), (text, stream), stream, 0)
SW_STREAM_PUT_TEXT(puts, (const char *text), (text), stdout, 1)

#define SW_STREAM_LINE(name, parameters, arguments)                                               \
    SW_EXPORT ssize_t name parameters;                                                            \
    SW_EXPORT ssize_t name parameters                                                             \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        ssize_t result = sw_stdio()->name arguments;                                              \
        if (counted)                                                                              \
            sw_transfer_end(&transfer, SW_OP_READ, 0, result > 0 ? result : 0);                   \
        return result;                                                                            \
    }

SW_STREAM_LINE(getline, (char **line, size_t *room, FILE *stream), (line, room, stream))
SW_STREAM_LINE(getdelim, (char **line, size_t *room, int end, FILE *stream),
               (line, room, end, stream))
SW_STREAM_LINE(__getdelim, (char **line, size_t *room, int end, FILE *stream),
               (line, room, end, stream))

/* ---- position ------------------------------------------------------------------------------ */

/* Returns the position after a successful seek, according to libc where the program did not say
 * it: then nothing is left to write, and what was read ahead counts back from the kernel's
 * position. Wide characters have another buffer. */
static int64_t position_after(const FILE *stream, int64_t offset, int whence)
{
    if (whence == SEEK_SET)
        return offset;
    bool known = stream->_offset >= 0 && stream->_mode <= 0;
    return known ? stream->_offset - (stream->_IO_read_end - stream->_IO_read_ptr) : -1;
}

/* Returns whether a seek has read a block: outside of what was read before, and off the boundary
 * of a block. A buffer that was written is empty afterwards. `was`: the kernel's former position,
 * as far as libc knows it. Source: glibc, libio/fileops.c, _IO_new_file_seekoff. */
static bool seek_has_read(const FILE *stream, const struct sw_buffered *before, int64_t was)
{
    return stream->_IO_read_end > stream->_IO_read_base &&
           (before->pending != 0 || stream->_offset != was || stream->_IO_read_end != before->end);
}

#define NO_READS 0x4 /* _IO_NO_READS of glibc */

/* Returns the bytes that a seek beyond the end of the file has read: the block's part before the
 * end, which libc then drops. */
static int64_t read_before_the_end(const FILE *stream, const struct sw_buffered *before,
                                   int64_t was)
{
    struct stat status;
    int64_t block = stream->_IO_buf_end - stream->_IO_buf_base;
    int64_t place = stream->_offset;
    if (stream->_IO_read_end > stream->_IO_read_base || (stream->_flags & NO_READS) != 0 ||
        block <= 0 || place <= 0 || place % block == 0 ||
        place == was + (int64_t)before->pending || sw_sys_fstat(stream->_fileno, &status) != 0 ||
        status.st_size >= place)
        return 0;
    return status.st_size - (place - place % block);
}

/* A seek writes the buffer, and may read a block at its new position. */
static void seek_end(struct sw_transfer *transfer, int64_t was, int result, int64_t position)
{
    struct sw_file *file = sw_fd_stdio(transfer->entry);
    if (result == 0) {
        const FILE *stream = transfer->stream;
        sw_issued_writes(stream, transfer->entry, &transfer->before, 0, transfer->position);
        if (seek_has_read(stream, &transfer->before, was))
            sw_issue_blocks(stream, transfer->entry, stream->_IO_read_end - stream->_IO_read_base,
                            stream->_IO_buf_end - stream->_IO_buf_base);
        int64_t dropped = read_before_the_end(stream, &transfer->before, was);
        if (dropped > 0)
            sw_issue_blocks(stream, transfer->entry, dropped,
                            stream->_IO_buf_end - stream->_IO_buf_base);
        sw_fd_set_position(transfer->entry, position);
    } else {
        transfer->call.event_flags |= SW_EVENT_FAILED;
    }
    sw_leave(&transfer->call, file, SW_OP_META);
}

#define SW_STREAM_SEEK(name, type)                                                                \
    SW_EXPORT int name(FILE *stream, type offset, int whence)                                     \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        int64_t was = counted ? sw_stream_left(stream, transfer.entry) : -1;                      \
        int result = sw_stdio()->name(stream, offset, whence);                                    \
        if (counted)                                                                              \
            seek_end(&transfer, was, result, position_after(stream, offset, whence));             \
        return result;                                                                            \
    }

SW_STREAM_SEEK(fseek, long)
SW_STREAM_SEEK(fseeko, off_t)
SW_STREAM_SEEK(fseeko64, off64_t)

#define SW_STREAM_SET_POSITION(name, type)                                                        \
    SW_EXPORT int name(FILE *stream, const type *position)                                        \
    {                                                                                             \
        struct sw_transfer transfer;                                                              \
        bool counted = sw_transfer_begin(&transfer, stream, __func__);                            \
        int64_t was = counted ? sw_stream_left(stream, transfer.entry) : -1;                      \
        int result = sw_stdio()->name(stream, position);                                          \
        if (counted)                                                                              \
            seek_end(&transfer, was, result, position->__pos);                                    \
        return result;                                                                            \
    }

SW_STREAM_SET_POSITION(fsetpos, fpos_t)
SW_STREAM_SET_POSITION(fsetpos64, fpos64_t)

SW_EXPORT void rewind(FILE *stream)
{
    struct sw_transfer transfer;
    bool counted = sw_transfer_begin(&transfer, stream, __func__);
    int64_t was = counted ? sw_stream_left(stream, transfer.entry) : -1;
    sw_stdio()->rewind(stream);
    if (counted)
        seek_end(&transfer, was, 0, 0);
}
