/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Opening, flushing and closing of streams. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "streams.h"
#include "../core/system.h"

struct opening {
    struct sw_call call;
    struct sw_birth birth;
    const char *path; /* as the program names it */
    bool counted;
    bool writes;
    bool reads;
    bool appends;
    bool creates;
    bool empties; /* the former content of the file is lost */
    bool is_new;  /* otherwise the open fails */
    bool unnamed; /* `path` is that of its directory */
};

static void open_begin(struct opening *opening, const char *path, const char *mode,
                       const char *name)
{
    bool both = strchr(mode, '+') != NULL;
    *opening = (struct opening){
        .path = path,
        .writes = both || mode[0] != 'r',
        .reads = both || mode[0] == 'r',
        .appends = mode[0] == 'a',
        .creates = mode[0] != 'r',
        .empties = mode[0] == 'w',
        .is_new = mode[0] != 'r' && memchr(mode, 'x', strcspn(mode, ",")) != NULL,
    };
    if (opening->creates)
        opening->birth = sw_birth_before();
    opening->counted = sw_enter_as(&opening->call, SW_LAYER_STDIO, name);
}

static struct sw_request request_open(const struct opening *opening)
{
    struct sw_request request = sw_request_name(SW_DO_OPEN, AT_FDCWD, opening->path, true);
    request.flags = (opening->writes ? (opening->reads ? O_RDWR : O_WRONLY) : O_RDONLY) |
                    (opening->creates ? O_CREAT : 0) | (opening->empties ? O_TRUNC : 0) |
                    (opening->appends ? O_APPEND : 0) | (opening->is_new ? O_EXCL : 0);
    request.opens_stream = true;
    return request;
}

static struct sw_file *track_opened(const struct opening *opening, int fd, bool existed)
{
    bool wanted = false;
    struct sw_file *file = opening->unnamed
                               ? sw_file_unnamed(SW_LAYER_STDIO, AT_FDCWD, opening->path)
                               : sw_file_opened(SW_LAYER_STDIO, AT_FDCWD, opening->path, &wanted);
    sw_file_flag(file, (opening->unnamed ? SW_FILE_UNLINKED : 0) |
                           (opening->reads ? SW_FILE_OPENED_READ : 0) |
                           (opening->writes ? SW_FILE_OPENED_WRITE : 0) |
                           (existed ? 0 : SW_FILE_CREATED) |
                           (existed && opening->empties ? SW_FILE_TRUNCATED : 0));
    if (file != NULL || (wanted && opening->writes && sw_options.sync))
        sw_fd_track(fd, NULL, file,
                    (opening->writes ? SW_FD_CAN_WRITE : 0) | (opening->appends ? SW_FD_ASK : 0),
                    0);
    return file;
}

/* Returns the SW_OPEN_* bits of trace.h. */
static int64_t asked_for(const struct opening *opening)
{
    return (opening->reads ? SW_OPEN_READ : 0) | (opening->writes ? SW_OPEN_WRITE : 0) |
           (opening->creates ? SW_OPEN_CREATE : 0) | (opening->empties ? SW_OPEN_TRUNCATE : 0) |
           (opening->appends ? SW_OPEN_APPEND : 0) | (opening->is_new ? SW_OPEN_EXCLUSIVE : 0);
}

static void open_leave(struct opening *opening, struct sw_file *file, bool failed)
{
    struct sw_file *known;
    opening->call.position = asked_for(opening);
    if ((opening->path != NULL &&
         sw_name_used(&opening->call, AT_FDCWD, opening->path, SW_DO_OPEN, failed, &known)) ||
        file != NULL)
        sw_leave(&opening->call, file, SW_OP_OPEN);
    else
        sw_leave_uncounted(&opening->call);
}

/* Pipes and devices are not storage: an open may wait there for another process. */
static void open_counted(struct opening *opening, int fd, int error)
{
    struct sw_file *file = NULL;
    bool existed = !opening->is_new;
    bool is_file =
        fd >= 0 && sw_opened_type(fd, opening->creates && existed ? &opening->birth : NULL,
                                  &existed) == S_IFREG;
    if (is_file && opening->path != NULL)
        file = track_opened(opening, fd, existed);
    if (is_file || (fd < 0 && error != EFAULT))
        open_leave(opening, file, fd < 0);
    else
        sw_leave_uncounted(&opening->call);
}

static FILE *open_end(struct opening *opening, FILE *stream)
{
    int saved_errno = errno;
    int fd = stream != NULL ? fileno_unlocked(stream) : -1;
    if (opening->counted)
        sw_call_ended(&opening->call);
    bool own = sw_running() && sw_own_process();
    if (fd >= 0 && own)
        sw_fd_untrack(fd);
    if (opening->counted && own)
        open_counted(opening, fd, saved_errno);
    else if (opening->counted)
        sw_leave_uncounted(&opening->call);
    errno = saved_errno;
    return stream;
}

#define SW_STREAM_OPEN(name)                                                                      \
    SW_EXPORT FILE *name(const char *path, const char *mode)                                      \
    {                                                                                             \
        struct opening opening;                                                                   \
        open_begin(&opening, path, mode, __func__);                                               \
        intptr_t stream = SW_CHAINED(intptr_t, sw_stdio, SW_DO_OPEN, request_open(&opening),      \
                                     path = request.target.path, name, (path, mode));             \
        return open_end(&opening, stream > 0 ? (FILE *)stream : NULL);                            \
    }

SW_STREAM_OPEN(fopen)
SW_STREAM_OPEN(fopen64)

#define SW_STREAM_TEMPORARY(name)                                                                 \
    SW_EXPORT FILE *name(void)                                                                    \
    {                                                                                             \
        struct opening opening;                                                                   \
        open_begin(&opening, P_tmpdir, "w+x", __func__);                                          \
        opening.unnamed = true;                                                                   \
        return open_end(&opening, sw_stdio()->name());                                            \
    }

SW_STREAM_TEMPORARY(tmpfile)
SW_STREAM_TEMPORARY(tmpfile64)

/* On a descriptor that posix opened: both layers count the file from here on. */
SW_EXPORT FILE *fdopen(int fd, const char *mode)
{
    struct sw_call call;
    struct sw_fd *entry = sw_fd_entry(fd);
    bool counted = entry != NULL && sw_enter(&call, SW_LAYER_STDIO);
    FILE *stream = sw_stdio()->fdopen(fd, mode);
    if (!counted)
        return stream;
    bool both = strchr(mode, '+') != NULL;
    call.position = (both || mode[0] == 'r' ? SW_OPEN_READ : 0) |
                    (both || mode[0] != 'r' ? SW_OPEN_WRITE : 0) |
                    (mode[0] == 'a' ? SW_OPEN_APPEND : 0);
    if (mode[0] == 'a')
        sw_fd_add_flags(entry, SW_FD_ASK); /* libc sets O_APPEND */
    sw_leave(&call, stream != NULL ? sw_fd_stdio(entry) : NULL, SW_OP_OPEN);
    return stream;
}

/* ---- closing -------------------------------------------------------------------------------- */

/* Members of the chain see what libc writes. */
static int flush(FILE *stream, struct sw_fd *entry)
{
    size_t pending = sw_buffered(stream).pending;
    struct sw_request request =
        sw_request_data(SW_DO_WRITE, fileno_unlocked(stream), (int64_t)pending, -1);
    request.stream = true;
    if (sw_stdio()->fflush(stream) != 0)
        return errno;
    sw_fd_wrote(entry);
    if (pending != 0 && sw_is_hooked(SW_DO_WRITE))
        sw_request_only(&request);
    return 0;
}

/* Writes the content of the buffer before the stream closes its descriptor, if some member must
 * see that: character calls are not seen, so every stream that may write counts as written.
 * Returns errno of a failed flush, which the program must learn: its own fclose() finds nothing
 * left to write. */
static int let_go(FILE *stream, struct sw_fd *entry, bool *synced)
{
    struct sw_request request = sw_request_data(SW_DO_CLOSE, fileno_unlocked(stream), 0, -1);
    int problem = 0;
    int saved_errno = errno;
    if (sw_is_hooked(SW_DO_CLOSE)) {
        if ((entry->flags & SW_FD_CAN_WRITE) != 0 && entry->generation == sw_options.generation)
            problem = flush(stream, entry);
        if (problem == 0)
            sw_request_only(&request);
    }
    *synced = request.synced;
    sw_fd_untrack(request.fd);
    errno = saved_errno;
    return problem;
}

/* libc writes the rest of the buffer, now or earlier. */
static void issue_rest(FILE *stream, struct sw_fd *entry)
{
    struct sw_buffered before = sw_buffered(stream);
    (void)sw_stream_left(stream, entry);
    if (before.pending != 0 && (entry->flags & SW_FD_CAN_WRITE) != 0 &&
        entry->generation == sw_options.generation)
        sw_count_issued(sw_fd_issued(entry), SW_OP_WRITE, before.pending,
                        (entry->flags & SW_FD_ASK) == 0 && entry->position >= 0
                            ? entry->position - (int64_t)before.pending
                            : -1);
    sw_stream_reached(stream, entry);
}

SW_EXPORT int fclose(FILE *stream)
{
    struct sw_call call;
    bool synced = false;
    struct sw_fd *entry = sw_stdio_entry(stream);
    if (entry == NULL || !sw_running() || !sw_own_process()) {
        sw_stream_gone(stream);
        return sw_stdio()->fclose(stream);
    }
    bool counted = sw_enter(&call, SW_LAYER_STDIO);
    struct sw_file *file = counted ? sw_fd_stdio(entry) : NULL;
    if (file != NULL) {
        issue_rest(stream, entry);
        sw_layout_record(fileno_unlocked(stream), file);
    }
    int problem = let_go(stream, entry, &synced);
    int result = sw_stdio()->fclose(stream);
    if (result == 0 && problem != 0) {
        result = EOF;
        errno = problem;
    }
    if (counted) {
        call.event_flags |= (synced ? SW_EVENT_SYNC : 0) | (result != 0 ? SW_EVENT_FAILED : 0);
        sw_leave(&call, file, SW_OP_CLOSE);
    }
    return result;
}

/* Refused: the stream is closed nevertheless. */
static FILE *close_refused(FILE *stream)
{
    int saved_errno = errno;
    fclose(stream);
    errno = saved_errno;
    return NULL;
}

static void reopen_begin(FILE *stream, const char *path)
{
    struct sw_fd *entry = sw_stdio_entry(stream);
    bool synced;
    if (path != NULL)
        sw_stream_gone(stream);
    if (entry == NULL || path == NULL || !sw_running() || !sw_own_process())
        return;
    if (entry->stdio != NULL)
        issue_rest(stream, entry);
    let_go(stream, entry, &synced);
}

#define SW_STREAM_REOPEN(name)                                                                    \
    SW_EXPORT FILE *name(const char *path, const char *mode, FILE *stream)                        \
    {                                                                                             \
        struct opening opening;                                                                   \
        open_begin(&opening, path, mode, __func__);                                               \
        struct sw_request request = request_open(&opening);                                       \
        bool hooked = path != NULL && sw_is_hooked(SW_DO_OPEN);                                   \
        if (hooked && !sw_request_begin(&request)) {                                              \
            sw_request_end(&request, -1);                                                         \
            return open_end(&opening, close_refused(stream));                                     \
        }                                                                                         \
        reopen_begin(stream, path);                                                               \
        FILE *opened = sw_stdio()->name(hooked ? request.target.path : path, mode, stream);       \
        if (hooked)                                                                               \
            sw_request_end(&request, (intptr_t)opened);                                           \
        return open_end(&opening, opened);                                                        \
    }

SW_STREAM_REOPEN(freopen)
SW_STREAM_REOPEN(freopen64)

/* A macro in optimised builds. */
#undef fflush_unlocked

#define SW_STREAM_FLUSH(name)                                                                     \
    SW_EXPORT int name(FILE *stream);                                                             \
    SW_EXPORT int name(FILE *stream)                                                              \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct sw_fd *entry = sw_stdio_enter(&call, stream);                                      \
        struct sw_buffered before =                                                               \
            entry != NULL ? sw_buffered(stream) : (struct sw_buffered){0};                        \
        int64_t position = entry != NULL ? entry->position : -1;                                  \
        int result = sw_stdio()->name(stream);                                                    \
        if (entry == NULL)                                                                        \
            return result;                                                                        \
        struct sw_file *file = sw_fd_stdio(entry);                                                \
        if (result == 0)                                                                          \
            sw_issued_writes(stream, entry, &before, 0, position);                                \
        call.event_flags |= result != 0 ? SW_EVENT_FAILED : 0;                                    \
        sw_leave(&call, file, SW_OP_SYNC);                                                        \
        return result;                                                                            \
    }

SW_STREAM_FLUSH(fflush)
SW_STREAM_FLUSH(fflush_unlocked)
