/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The real functions behind the stdio layer, and what its wrappers share. */
#ifndef STRIPEWISE_STREAMS_H
#define STRIPEWISE_STREAMS_H

#include <stdarg.h>
#include <stdio.h>
#undef vfscanf /* the function itself */

#include "../core/descriptors.h"
#include "../core/internal.h"
#include "../hooks/hook.h"

/* X(type, name, arguments): every function that this layer wraps or calls. */
#define SW_STDIO_FUNCTIONS(X)                                                                     \
    X(FILE *, fopen, (const char *, const char *))                                                \
    X(FILE *, fopen64, (const char *, const char *))                                              \
    X(FILE *, tmpfile, (void))                                                                    \
    X(FILE *, tmpfile64, (void))                                                                  \
    X(FILE *, fdopen, (int, const char *))                                                        \
    X(FILE *, freopen, (const char *, const char *, FILE *))                                      \
    X(FILE *, freopen64, (const char *, const char *, FILE *))                                    \
    X(int, fclose, (FILE *))                                                                      \
    X(int, fflush, (FILE *))                                                                      \
    X(int, fflush_unlocked, (FILE *))                                                             \
    X(size_t, fread, (void *, size_t, size_t, FILE *))                                            \
    X(size_t, fread_unlocked, (void *, size_t, size_t, FILE *))                                   \
    X(size_t, __fread_chk, (void *, size_t, size_t, size_t, FILE *))                              \
    X(size_t, __fread_unlocked_chk, (void *, size_t, size_t, size_t, FILE *))                     \
    X(size_t, fwrite, (const void *, size_t, size_t, FILE *))                                     \
    X(size_t, fwrite_unlocked, (const void *, size_t, size_t, FILE *))                            \
    X(char *, fgets, (char *, int, FILE *))                                                       \
    X(char *, fgets_unlocked, (char *, int, FILE *))                                              \
    X(char *, __fgets_chk, (char *, size_t, int, FILE *))                                         \
    X(char *, __fgets_unlocked_chk, (char *, size_t, int, FILE *))                                \
    X(int, fputs, (const char *, FILE *))                                                         \
    X(int, fputs_unlocked, (const char *, FILE *))                                                \
    X(int, puts, (const char *))                                                                  \
    X(ssize_t, getline, (char **, size_t *, FILE *))                                              \
    X(ssize_t, getdelim, (char **, size_t *, int, FILE *))                                        \
    X(ssize_t, __getdelim, (char **, size_t *, int, FILE *))                                      \
    X(int, fputc, (int, FILE *))                                                                  \
    X(int, putc, (int, FILE *))                                                                   \
    X(int, fputc_unlocked, (int, FILE *))                                                         \
    X(int, putc_unlocked, (int, FILE *))                                                          \
    X(int, __overflow, (FILE *, int))                                                             \
    X(int, fgetc, (FILE *))                                                                       \
    X(int, getc, (FILE *))                                                                        \
    X(int, fgetc_unlocked, (FILE *))                                                              \
    X(int, getc_unlocked, (FILE *))                                                               \
    X(int, __uflow, (FILE *))                                                                     \
    X(int, __underflow, (FILE *))                                                                 \
    X(int, vfprintf, (FILE *, const char *, va_list))                                             \
    X(int, __vfprintf_chk, (FILE *, int, const char *, va_list))                                  \
    X(int, vfscanf, (FILE *, const char *, va_list))                                              \
    X(int, __isoc99_vfscanf, (FILE *, const char *, va_list))                                     \
    X(int, __isoc23_vfscanf, (FILE *, const char *, va_list))                                     \
    X(int, fseek, (FILE *, long, int))                                                            \
    X(int, fseeko, (FILE *, off_t, int))                                                          \
    X(int, fseeko64, (FILE *, off_t, int))                                                        \
    X(int, fsetpos, (FILE *, const fpos_t *))                                                     \
    X(int, fsetpos64, (FILE *, const fpos64_t *))                                                 \
    X(void, rewind, (FILE *))

#define SW_STDIO_POINTER(type, name, arguments) type(*name) arguments;
struct sw_stdio_functions {
    SW_STDIO_FUNCTIONS(SW_STDIO_POINTER)
};

extern struct sw_stdio_functions sw_stdio_functions;
extern bool sw_stdio_resolved;
void sw_stdio_resolve(void);

static inline const struct sw_stdio_functions *sw_stdio(void)
{
    if (SW_UNLIKELY(!__atomic_load_n(&sw_stdio_resolved, __ATOMIC_ACQUIRE)))
        sw_stdio_resolve();
    return &sw_stdio_functions;
}

/* Returns the entry of the stream's descriptor if it is tracked. */
static inline struct sw_fd *sw_stdio_entry(FILE *stream)
{
    int saved_errno = errno;
    int fd = stream != NULL ? fileno_unlocked(stream) : -1;
    errno = saved_errno; /* a stream in memory has none */
    return fd >= 0 ? sw_fd_entry(fd) : NULL;
}

/* Call when its descriptor is closed. */
static inline void sw_stream_gone(FILE *stream)
{
    int saved_errno = errno;
    int fd = stream != NULL && sw_is_hooked(SW_DO_CLOSE) ? fileno_unlocked(stream) : -1;
    errno = saved_errno;
    if (fd >= 0)
        sw_descriptor_gone((unsigned)fd, (unsigned)fd);
}

/* Enters a call on a stream of a tracked file; NULL: pass the call on. */
static inline struct sw_fd *sw_stdio_enter_as(struct sw_call *call, FILE *stream, const char *name)
{
    struct sw_fd *entry = sw_stdio_entry(stream);
    if (entry == NULL)
        return NULL;
    if (SW_LIKELY(sw_enter_as(call, SW_LAYER_STDIO, name)))
        return entry;
    sw_fd_set_position(entry, -1);
    return NULL;
}
#define sw_stdio_enter(call, stream) sw_stdio_enter_as(call, stream, __func__)

/* Ends a transfer at the stream's position. */
void sw_stdio_leave(struct sw_call *call, struct sw_fd *entry, enum sw_op op, int64_t bytes);

/* ---- what libc does for a stream --------------------------------------------------------- */

/* State of a stream's buffer before a call. */
struct sw_buffered {
    size_t pending;  /* written by the program, but not by libc yet */
    size_t filled;   /* the same when the buffer is full */
    size_t ahead;    /* read by libc, but not by the program yet */
    const char *end; /* of what libc has read */
};

static inline struct sw_buffered sw_buffered(const FILE *stream)
{
    return (struct sw_buffered){
        .pending = (size_t)(stream->_IO_write_ptr - stream->_IO_write_base),
        .filled = (size_t)(stream->_IO_write_end - stream->_IO_write_base),
        .ahead = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr),
        .end = stream->_IO_read_end,
    };
}

/* As below, if libc has written `out` bytes. */
void sw_issue_writes(const FILE *stream, struct sw_fd *entry, const struct sw_buffered *before,
                     int64_t out, int64_t position);

/* Counts libc's own writes after the program has written `bytes` to the stream, -1 if that failed.
 * `position`: of the stream before the call. */
static inline void sw_issued_writes(const FILE *stream, struct sw_fd *entry,
                                    const struct sw_buffered *before, int64_t bytes,
                                    int64_t position)
{
    int64_t pending = stream->_IO_write_ptr - stream->_IO_write_base;
    int64_t out = (int64_t)before->pending + bytes - pending;
    if (SW_UNLIKELY(out > 0) && bytes >= 0)
        sw_issue_writes(stream, entry, before, out, position);
}

/* Counts libc's own reads after the program got `bytes` of `asked` (0: a line). */
void sw_issued_reads(const FILE *stream, struct sw_fd *entry, const struct sw_buffered *before,
                     int64_t asked, int64_t bytes);
/* Counts so many bytes that libc has read in whole buffers. */
void sw_issue_blocks(const FILE *stream, struct sw_fd *entry, int64_t bytes, int64_t block);
/* Call when the stream changes its position or its file: marks the file if uncounted calls, or
 * wide characters, have moved the position. Returns the kernel's position according to libc, -1 if
 * unknown. */
int64_t sw_stream_left(const FILE *stream, struct sw_fd *entry);
/* Call when the stream ends: asks once how far it came, if its calls did not tell. */
void sw_stream_reached(const FILE *stream, struct sw_fd *entry);
/* Counts, at exit, what libc will still write, in the order of its list of streams. `now`: write
 * it at once, in that order. */
void sw_issued_at_exit(bool now);

/* ---- a call that moves bytes ---------------------------------------------------------------- */

struct sw_transfer {
    struct sw_call call;
    struct sw_fd *entry;
    FILE *stream;
    struct sw_buffered before;
    int64_t position;
};

static inline bool sw_transfer_begin(struct sw_transfer *transfer, FILE *stream, const char *name)
{
    transfer->entry = sw_stdio_enter_as(&transfer->call, stream, name);
    if (transfer->entry == NULL)
        return false;
    transfer->stream = stream;
    transfer->before = sw_buffered(stream);
    transfer->position = transfer->entry->position;
    return true;
}

/* `asked`: bytes requested by a read, 0: a line. */
static inline void sw_transfer_end(struct sw_transfer *transfer, enum sw_op op, int64_t asked,
                                   int64_t bytes)
{
    if (op == SW_OP_WRITE)
        sw_issued_writes(transfer->stream, transfer->entry, &transfer->before, bytes,
                         transfer->position);
    else
        sw_issued_reads(transfer->stream, transfer->entry, &transfer->before, asked, bytes);
    sw_stdio_leave(&transfer->call, transfer->entry, op, bytes);
}

#endif
