/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: the layer's table, transfers and positions.  The libc's own reads and writes
 * behind a stream pass no wrapper, so a stream's record is all that there is of it.
 * Character calls (fgetc, fputc) and scanf are left alone: a clock around a call of a
 * few nanoseconds would slow the program down.  After them the offset is not known.
 */
#define _GNU_SOURCE
#include "streams.h"

#include <string.h>

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

/* exit() flushes streams after our destructor: do it now, so that it can be synced.  A
 * stream that another thread holds is left alone. */
static void flush_open(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry->stream == NULL || (entry->flags & SW_FD_CAN_WRITE) == 0 ||
        entry->generation != sw_options.generation || ftrylockfile(entry->stream) != 0)
        return;
    if (fflush_unlocked(entry->stream) == 0)
        sw_fd_wrote(entry);
    funlockfile(entry->stream);
}

static void finish(enum sw_ending ending)
{
    if (ending == SW_ENDING_EXIT && sw_options.sync)
        sw_fd_each(0, INT_MAX, flush_open);
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

/* Macros in optimised builds. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Whole items count; a partial one is not told. */
#define SW_STREAM_ITEMS(name, op, parameters, arguments)                                          \
    SW_EXPORT size_t name parameters;                                                             \
    SW_EXPORT size_t name parameters                                                              \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_stdio_enter(&call, stream);                                      \
        size_t result = sw_stdio()->name arguments;                                               \
        if (entry != NULL)                                                                        \
            sw_stdio_leave(&call, entry, op, (int64_t)(result * size));                           \
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

SW_EXPORT char *fgets(char *text, int room, FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter(&call, stream);
    char *result = sw_stdio()->fgets(text, room, stream);
    if (entry != NULL)
        sw_stdio_leave(&call, entry, SW_OP_READ, result != NULL ? (int64_t)strlen(text) : 0);
    return result;
}

SW_EXPORT char *__fgets_chk(char *text, size_t bytes, int room, FILE *stream);
SW_EXPORT char *__fgets_chk(char *text, size_t bytes, int room, FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter(&call, stream);
    char *result = sw_stdio()->__fgets_chk(text, bytes, room, stream);
    if (entry != NULL)
        sw_stdio_leave(&call, entry, SW_OP_READ, result != NULL ? (int64_t)strlen(text) : 0);
    return result;
}

SW_EXPORT int fputs(const char *text, FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter(&call, stream);
    int result = sw_stdio()->fputs(text, stream);
    if (entry != NULL)
        sw_stdio_leave(&call, entry, SW_OP_WRITE, result >= 0 ? (int64_t)strlen(text) : -1);
    return result;
}

#define SW_STREAM_LINE(name, parameters, arguments)                                               \
    SW_EXPORT ssize_t name parameters;                                                            \
    SW_EXPORT ssize_t name parameters                                                             \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_stdio_enter(&call, stream);                                      \
        ssize_t result = sw_stdio()->name arguments;                                              \
        if (entry != NULL)                                                                        \
            sw_stdio_leave(&call, entry, SW_OP_READ, result > 0 ? result : 0);                    \
        return result;                                                                            \
    }

SW_STREAM_LINE(getline, (char **line, size_t *room, FILE *stream), (line, room, stream))
SW_STREAM_LINE(getdelim, (char **line, size_t *room, int end, FILE *stream),
               (line, room, end, stream))
SW_STREAM_LINE(__getdelim, (char **line, size_t *room, int end, FILE *stream),
               (line, room, end, stream))

/* ---- formatted ------------------------------------------------------------------------- */

static int print_as(const char *name, FILE *stream, const char *format, va_list arguments)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter_as(&call, stream, name);
    int result = sw_stdio()->vfprintf(stream, format, arguments);
    if (entry != NULL)
        sw_stdio_leave(&call, entry, SW_OP_WRITE, result);
    return result;
}

static int print_checked_as(const char *name, FILE *stream, int flag, const char *format,
                            va_list arguments)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter_as(&call, stream, name);
    int result = sw_stdio()->__vfprintf_chk(stream, flag, format, arguments);
    if (entry != NULL)
        sw_stdio_leave(&call, entry, SW_OP_WRITE, result);
    return result;
}

SW_EXPORT int vfprintf(FILE *stream, const char *format, va_list arguments)
{
    return print_as(__func__, stream, format, arguments);
}

SW_EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
SW_EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
    return print_checked_as(__func__, stream, flag, format, arguments);
}

SW_EXPORT int fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = print_as(__func__, stream, format, arguments);
    va_end(arguments);
    return result;
}

SW_EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
SW_EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = print_checked_as(__func__, stream, flag, format, arguments);
    va_end(arguments);
    return result;
}

/* ---- position ------------------------------------------------------------------------------ */

/* Position after a seek that succeeded; relative to the end it is not known. */
static int64_t position_after(const struct sw_fd *entry, int64_t offset, int whence)
{
    if (whence == SEEK_SET)
        return offset;
    return whence == SEEK_CUR && entry->position >= 0 ? entry->position + offset : -1;
}

static void seek_leave(struct sw_call *call, struct sw_fd *entry, int result, int64_t position)
{
    if (result == 0)
        sw_fd_set_position(entry, position);
    else
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, sw_fd_stdio(entry), SW_OP_META);
}

#define SW_STREAM_SEEK(name, type)                                                                \
    SW_EXPORT int name(FILE *stream, type offset, int whence)                                     \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_stdio_enter(&call, stream);                                      \
        int result = sw_stdio()->name(stream, offset, whence);                                    \
        if (entry != NULL)                                                                        \
            seek_leave(&call, entry, result, position_after(entry, offset, whence));              \
        return result;                                                                            \
    }

SW_STREAM_SEEK(fseek, long)
SW_STREAM_SEEK(fseeko, off_t)
SW_STREAM_SEEK(fseeko64, off64_t)

#define SW_STREAM_SET_POSITION(name, type)                                                        \
    SW_EXPORT int name(FILE *stream, const type *position)                                        \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_stdio_enter(&call, stream);                                      \
        int result = sw_stdio()->name(stream, position);                                          \
        if (entry != NULL)                                                                        \
            seek_leave(&call, entry, result, position->__pos);                                    \
        return result;                                                                            \
    }

SW_STREAM_SET_POSITION(fsetpos, fpos_t)
SW_STREAM_SET_POSITION(fsetpos64, fpos64_t)

SW_EXPORT void rewind(FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter(&call, stream);
    sw_stdio()->rewind(stream);
    if (entry != NULL)
        seek_leave(&call, entry, 0, 0);
}
