/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Streams: open, flush, close. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "streams.h"
#include "../core/system.h"

struct opening {
    struct sw_call call;
    const char *path;
    bool counted;
    bool writes;
    bool reads;
    bool appends;
    bool creates;
    bool empties; /* what was in the file is gone */
    bool is_new;  /* or the open fails */
    bool existed;
};

static bool exists(const char *path)
{
    int saved_errno = errno;
    bool found = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0 || errno != ENOENT;
    errno = saved_errno;
    return found;
}

/* False: the open is refused and errno says why. */
static bool open_begin(struct opening *opening, const char *path, const char *mode,
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
    if (opening->writes && !opening->is_new && path != NULL &&
        sw_guard_refuses(AT_FDCWD, path, true))
        return false;
    opening->existed =
        mode[0] == 'r' || path == NULL || !sw_running() || sw_thread.inside != 0 || exists(path);
    opening->counted = sw_enter_as(&opening->call, SW_LAYER_STDIO, name);
    return true;
}

static void remember_stream(int fd, FILE *stream)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry != NULL)
        entry->stream = stream;
}

static struct sw_file *track_opened(const struct opening *opening, FILE *stream, int fd)
{
    struct stat status;
    if (sw_sys_fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    bool wanted;
    struct sw_file *file = sw_file_opened(SW_LAYER_STDIO, AT_FDCWD, opening->path, &wanted);
    sw_file_flag(file, (opening->reads ? SW_FILE_OPENED_READ : 0) |
                           (opening->writes ? SW_FILE_OPENED_WRITE : 0) |
                           (opening->existed ? 0 : SW_FILE_CREATED) |
                           (opening->existed && opening->empties ? SW_FILE_TRUNCATED : 0));
    if (file != NULL || (wanted && opening->writes && sw_options.sync))
        sw_fd_track(fd, NULL, file,
                    (opening->writes ? SW_FD_CAN_WRITE : 0) | (opening->appends ? SW_FD_ASK : 0),
                    0);
    remember_stream(fd, stream);
    return file;
}

/* SW_OPEN_* of trace.h. */
static int64_t asked_for(const struct opening *opening)
{
    return (opening->reads ? SW_OPEN_READ : 0) | (opening->writes ? SW_OPEN_WRITE : 0) |
           (opening->creates ? SW_OPEN_CREATE : 0) | (opening->empties ? SW_OPEN_TRUNCATE : 0) |
           (opening->appends ? SW_OPEN_APPEND : 0) | (opening->is_new ? SW_OPEN_EXCLUSIVE : 0);
}

static FILE *open_end(struct opening *opening, FILE *stream)
{
    int saved_errno = errno;
    struct sw_file *file = NULL;
    int fd = stream != NULL ? fileno_unlocked(stream) : -1;
    if (fd >= 0 && sw_running() && sw_own_process()) {
        sw_fd_untrack(fd);
        if (opening->counted && opening->path != NULL)
            file = track_opened(opening, stream, fd);
    }
    opening->call.position = asked_for(opening);
    if (opening->counted && file != NULL)
        sw_leave(&opening->call, file, SW_OP_OPEN);
    else if (opening->counted)
        sw_leave_uncounted(&opening->call);
    errno = saved_errno;
    return stream;
}

#define SW_STREAM_OPEN(name)                                                                      \
    SW_EXPORT FILE *name(const char *path, const char *mode)                                      \
    {                                                                                             \
        struct opening opening;                                                                   \
        if (!open_begin(&opening, path, mode, __func__))                                          \
            return NULL;                                                                          \
        return open_end(&opening, sw_stdio()->name(path, mode));                                  \
    }

SW_STREAM_OPEN(fopen)
SW_STREAM_OPEN(fopen64)

/* Over a descriptor that posix opened: both layers see the file from here on. */
SW_EXPORT FILE *fdopen(int fd, const char *mode)
{
    struct sw_call call;
    struct sw_fd *entry = sw_fd_entry(fd);
    bool counted = entry != NULL && sw_enter(&call, SW_LAYER_STDIO);
    FILE *stream = sw_stdio()->fdopen(fd, mode);
    if (!counted)
        return stream;
    if (stream != NULL)
        remember_stream(fd, stream);
    bool both = strchr(mode, '+') != NULL;
    call.position = (both || mode[0] == 'r' ? SW_OPEN_READ : 0) |
                    (both || mode[0] != 'r' ? SW_OPEN_WRITE : 0) |
                    (mode[0] == 'a' ? SW_OPEN_APPEND : 0);
    sw_leave(&call, stream != NULL ? sw_fd_stdio(entry) : NULL, SW_OP_OPEN);
    return stream;
}

/* ---- end ---------------------------------------------------------------------------------- */

/* Pushes what was written to the storage if SW_ENV_SYNC asks for it.  Character calls are
 * not seen, so every stream that may write counts as written.  Returns errno of a flush that
 * failed, which is the program's to know: its own fclose() finds nothing left to write. */
static int sync_stream(FILE *stream, struct sw_fd *entry)
{
    if (!sw_options.sync || (entry->flags & SW_FD_CAN_WRITE) == 0 ||
        entry->generation != sw_options.generation)
        return 0;
    int saved_errno = errno;
    int problem = 0;
    if (sw_stdio()->fflush(stream) == 0)
        sw_sys_fsync(fileno_unlocked(stream));
    else
        problem = errno;
    errno = saved_errno;
    return problem;
}

/* Before the stream lets go of its descriptor; as sync_stream. */
static int let_go(FILE *stream, struct sw_fd *entry)
{
    int problem = sync_stream(stream, entry);
    sw_fd_untrack(fileno_unlocked(stream));
    return problem;
}

SW_EXPORT int fclose(FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_entry(stream);
    if (entry == NULL || !sw_running() || !sw_own_process())
        return sw_stdio()->fclose(stream);
    bool counted = sw_enter(&call, SW_LAYER_STDIO);
    struct sw_file *file = counted ? sw_fd_stdio(entry) : NULL;
    bool synced = sw_options.sync && (entry->flags & SW_FD_CAN_WRITE) != 0;
    int problem = let_go(stream, entry);
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

#define SW_STREAM_REOPEN(name)                                                                    \
    SW_EXPORT FILE *name(const char *path, const char *mode, FILE *stream)                        \
    {                                                                                             \
        struct opening opening;                                                                   \
        if (!open_begin(&opening, path, mode, __func__)) {                                        \
            fclose(stream);                                                                       \
            errno = EROFS;                                                                        \
            return NULL;                                                                          \
        }                                                                                         \
        struct sw_fd *entry = sw_stdio_entry(stream);                                             \
        if (entry != NULL && path != NULL && sw_running() && sw_own_process())                    \
            let_go(stream, entry);                                                                \
        return open_end(&opening, sw_stdio()->name(path, mode, stream));                          \
    }

SW_STREAM_REOPEN(freopen)
SW_STREAM_REOPEN(freopen64)

SW_EXPORT int fflush(FILE *stream)
{
    struct sw_call call;
    struct sw_fd *entry = sw_stdio_enter(&call, stream);
    int result = sw_stdio()->fflush(stream);
    if (entry == NULL)
        return result;
    call.event_flags |= result != 0 ? SW_EVENT_FAILED : 0;
    sw_leave(&call, sw_fd_stdio(entry), SW_OP_SYNC);
    return result;
}
