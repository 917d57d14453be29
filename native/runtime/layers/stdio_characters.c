/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Characters and formatted text. Character calls (fgetc, fputc) and scanf are neither timed nor
 * counted individually: a clock around a call of a few nanoseconds would slow the program down.
 * The bytes are those that libc moves when its buffer is full or empty, and the file is marked
 * (SW_FILE_CHARACTERS). Afterwards, the offset is unknown.
 */
#define _GNU_SOURCE
#include "formatted.h"
#include "streams.h"
#include "../core/system.h"

/* ---- formatted output ------------------------------------------------------------------ */

static int print_as(const char *name, FILE *stream, const char *format, va_list arguments)
{
    struct sw_transfer transfer;
    bool counted = sw_transfer_begin(&transfer, stream, name);
    int result = sw_stdio()->vfprintf(stream, format, arguments);
    if (counted)
        sw_transfer_end(&transfer, SW_OP_WRITE, 0, result);
    return result;
}

static int print_checked_as(const char *name, FILE *stream, int flag, const char *format,
                            va_list arguments)
{
    struct sw_transfer transfer;
    bool counted = sw_transfer_begin(&transfer, stream, name);
    int result = sw_stdio()->__vfprintf_chk(stream, flag, format, arguments);
    if (counted)
        sw_transfer_end(&transfer, SW_OP_WRITE, 0, result);
    return result;
}

SW_FORMATTED(vfprintf, fprintf, (FILE * stream, const char *format), format,
             print_as(__func__, stream, format, arguments))
SW_FORMATTED(vprintf, printf, (const char *format), format,
             print_as(__func__, stdout, format, arguments))
SW_FORMATTED(__vfprintf_chk, __fprintf_chk, (FILE * stream, int flag, const char *format), format,
             print_checked_as(__func__, stream, flag, format, arguments))
SW_FORMATTED(__vprintf_chk, __printf_chk, (int flag, const char *format), format,
             print_checked_as(__func__, stdout, flag, format, arguments))

/* ---- characters out ---------------------------------------------------------------------- */

#undef fputc_unlocked
#undef putc_unlocked
#undef putc
#undef putchar
#undef putchar_unlocked

/* Neither timed nor counted as calls, except for what libc writes when the buffer is full. */
static int put_full(FILE *stream, const struct sw_buffered *before, int result)
{
    struct sw_fd *entry = sw_stdio_entry(stream);
    if (entry == NULL || sw_thread.inside != 0 || !sw_running() || !sw_own_process())
        return result;
    int saved_errno = errno;
    sw_issued_writes(stream, entry, before, result != EOF ? 1 : -1, -1);
    sw_file_flag(sw_fd_stdio(entry), SW_FILE_CHARACTERS);
    sw_fd_set_position(entry, -1);
    errno = saved_errno;
    return result;
}

#define SW_PUT_CHARACTER(name, parameters, arguments)                                             \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        if (SW_LIKELY(stream->_IO_write_ptr < stream->_IO_write_end))                             \
            return sw_stdio()->name arguments;                                                    \
        struct sw_buffered before = sw_buffered(stream);                                          \
        return put_full(stream, &before, sw_stdio()->name arguments);                             \
    }

SW_PUT_CHARACTER(fputc, (int character, FILE *stream), (character, stream))
SW_PUT_CHARACTER(putc, (int character, FILE *stream), (character, stream))
SW_PUT_CHARACTER(fputc_unlocked, (int character, FILE *stream), (character, stream))
SW_PUT_CHARACTER(putc_unlocked, (int character, FILE *stream), (character, stream))
SW_PUT_CHARACTER(__overflow, (FILE * stream, int character), (stream, character))

SW_EXPORT int putchar(int character)
{
    return putc(character, stdout);
}

SW_EXPORT int putchar_unlocked(int character)
{
    return putc_unlocked(character, stdout);
}

/* ---- characters and formatted text in ------------------------------------------------------ */

#undef fgetc_unlocked
#undef getc_unlocked
#undef getc
#undef getchar
#undef getchar_unlocked

#define IN_BACKUP 0x100 /* _IO_IN_BACKUP of glibc: characters pushed back have a buffer */
#define SCANNED 256     /* typical maximum of one scanf */

/* What libc reads for a call that finds the buffer empty. */
struct refill {
    int64_t place; /* of the file before the call; -1: derived from the buffer */
    const char *end;
    const char *next;
};

static bool is_own(FILE *stream)
{
    return sw_thread.inside == 0 && sw_stdio_entry(stream) != NULL;
}

static struct refill before_refill(FILE *stream, bool ask)
{
    struct refill refill = {-1, stream->_IO_read_end, stream->_IO_read_ptr};
    int saved_errno = errno;
    if (SW_UNLIKELY(ask || sw_is_hooked(SW_DO_READ)) && is_own(stream))
        refill.place = sw_sys_lseek(stream->_fileno, 0, SEEK_CUR);
    errno = saved_errno;
    return refill;
}

/* Returns the bytes that libc has read since then; without a query, at most one buffer. */
static int64_t refilled(const FILE *stream, const struct refill *refill)
{
    if (refill->place >= 0)
        return sw_sys_lseek(stream->_fileno, 0, SEEK_CUR) - refill->place;
    if (stream->_IO_read_end == refill->end && stream->_IO_read_ptr >= refill->next)
        return 0;
    return stream->_IO_read_end - stream->_IO_read_base;
}

static int after_refill(FILE *stream, const struct refill *refill, int result)
{
    struct sw_fd *entry = sw_stdio_entry(stream);
    if (entry == NULL || sw_thread.inside != 0 || !sw_running() || !sw_own_process())
        return result;
    int saved_errno = errno;
    int64_t bytes = refilled(stream, refill);
    if (bytes > 0) {
        sw_issue_blocks(stream, entry, bytes, stream->_IO_buf_end - stream->_IO_buf_base);
        sw_file_flag(sw_fd_stdio(entry), SW_FILE_CHARACTERS);
    }
    sw_fd_set_position(entry, -1);
    errno = saved_errno;
    return result;
}

#define SW_GET_CHARACTER(name)                                                                    \
    SW_EXPORT int name(FILE *stream);                                                             \
    SW_EXPORT int name(FILE *stream)                                                              \
    {                                                                                             \
        if (SW_LIKELY(stream->_IO_read_ptr < stream->_IO_read_end))                               \
            return sw_stdio()->name(stream);                                                      \
        struct refill refill = before_refill(stream, (stream->_flags & IN_BACKUP) != 0);          \
        int result = sw_stdio()->name(stream);                                                    \
        if (refill.place < 0 && result == EOF)                                                    \
            return result;                                                                        \
        refill.next = NULL; /* the buffer may be as full as before */                             \
        refill.end = NULL;                                                                        \
        return after_refill(stream, &refill, result);                                             \
    }

SW_GET_CHARACTER(fgetc)
SW_GET_CHARACTER(getc)
SW_GET_CHARACTER(fgetc_unlocked)
SW_GET_CHARACTER(getc_unlocked)
SW_GET_CHARACTER(__uflow)
SW_GET_CHARACTER(__underflow)

SW_EXPORT int getchar(void)
{
    return getc(stdin);
}

SW_EXPORT int getchar_unlocked(void)
{
    return getc_unlocked(stdin);
}

typedef int scan_function(FILE *, const char *, va_list);

static int scan(scan_function *real, FILE *stream, const char *format, va_list arguments)
{
    bool nearly_empty = stream->_IO_read_end - stream->_IO_read_ptr < SCANNED;
    struct refill refill = before_refill(stream, nearly_empty);
    return after_refill(stream, &refill, real(stream, format, arguments));
}

#define SW_SCAN(list, name, list_in, name_in, real)                                               \
    SW_FORMATTED(list, name, (FILE * stream, const char *format), format,                         \
                 scan(sw_stdio()->real, stream, format, arguments))                               \
    SW_FORMATTED(list_in, name_in, (const char *format), format,                                  \
                 scan(sw_stdio()->real, stdin, format, arguments))

/* Compilers choose by their language standard; the header hides the oldest ones. */
SW_EXPORT int plain_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
SW_EXPORT int plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
SW_EXPORT int plain_vscanf(const char *, va_list) __asm__("vscanf");
SW_EXPORT int plain_scanf(const char *, ...) __asm__("scanf");
SW_SCAN(plain_vfscanf, plain_fscanf, plain_vscanf, plain_scanf, vfscanf)
SW_SCAN(__isoc99_vfscanf, __isoc99_fscanf, __isoc99_vscanf, __isoc99_scanf, __isoc99_vfscanf)
SW_SCAN(__isoc23_vfscanf, __isoc23_fscanf, __isoc23_vscanf, __isoc23_scanf, __isoc23_vfscanf)
