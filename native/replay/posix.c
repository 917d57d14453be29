/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* POSIX calls, and streams of the C library. */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int descriptor(const struct sw_replay_now *now)
{
    return (int)(intptr_t)sw_replay_handle(now, SW_POSIX)->state;
}

static int flags_of(int64_t bits)
{
    int flags = (bits & SW_OPEN_WRITE) == 0  ? O_RDONLY
                : (bits & SW_OPEN_READ) == 0 ? O_WRONLY
                                             : O_RDWR;
    if ((bits & (SW_OPEN_READ | SW_OPEN_WRITE)) == 0)
        flags = O_RDWR | O_CREAT; /* unknown */
    flags |= (bits & SW_OPEN_CREATE) != 0 ? O_CREAT : 0;
    flags |= (bits & SW_OPEN_TRUNCATE) != 0 ? O_TRUNC : 0;
    flags |= (bits & SW_OPEN_APPEND) != 0 ? O_APPEND : 0;
    flags |= (bits & SW_OPEN_EXCLUSIVE) != 0 ? O_EXCL : 0;
    return flags;
}

static void open_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    int64_t bits = now->offset > 0 ? now->offset : 0;
    int fd = open(now->file->path, flags_of(bits), 0666);
    if (fd < 0)
        sw_replay_die(now, "open", "%s", strerror(errno));
    sw_replay_push(now, SW_POSIX, (void *)(intptr_t)fd);
}

static void close_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    if (close(descriptor(now)) != 0)
        sw_replay_die(now, "close", "%s", strerror(errno));
    sw_replay_pop(now, SW_POSIX);
}

/* Seeks to the position of the program's descriptor. */
static void go_to(const struct sw_replay_now *now, struct sw_replay_handle *handle)
{
    if (now->offset < 0 || now->offset == handle->position)
        return;
    if (lseek((int)(intptr_t)handle->state, now->offset, SEEK_SET) < 0)
        sw_replay_die(now, "lseek", "%s", strerror(errno));
    handle->position = now->offset;
}

static void read_on(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_POSIX);
    go_to(now, handle);
    ssize_t got = read(descriptor(now), run->sink, (size_t)now->call->bytes);
    if (got < 0)
        sw_replay_die(now, "read", "%s", strerror(errno));
    run->moved = got;
    handle->position += got;
}

static void write_on(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_POSIX);
    go_to(now, handle);
    ssize_t put = write(descriptor(now), run->noise, (size_t)now->call->bytes);
    if (put < 0)
        sw_replay_die(now, "write", "%s", strerror(errno));
    run->moved = put;
    handle->position += put;
}

static void read_at(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    run->moved = pread(descriptor(now), run->sink, (size_t)now->call->bytes, now->offset);
    if (run->moved < 0)
        sw_replay_die(now, "pread", "%s", strerror(errno));
}

static void write_at(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    run->moved = pwrite(descriptor(now), run->noise, (size_t)now->call->bytes, now->offset);
    if (run->moved < 0)
        sw_replay_die(now, "pwrite", "%s", strerror(errno));
}

static void sync_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (fsync(descriptor(now)) != 0)
        sw_replay_miss(run, now, "fsync", strerror(errno));
}

static void resize(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    int result = now->file->handle[SW_POSIX] != NULL ? ftruncate(descriptor(now), now->offset)
                                                     : truncate(now->file->path, now->offset);
    if (result != 0)
        sw_replay_miss(run, now, "truncate", strerror(errno));
}

static void allocate(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    int code = posix_fallocate(descriptor(now), 0, now->offset > 0 ? now->offset : 1);
    if (code != 0)
        sw_replay_miss(run, now, "posix_fallocate", strerror(code));
}

static void ask(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct stat status;
    (void)run; /* the program may have queried what did not exist */
    if (now->file->handle[SW_POSIX] != NULL)
        (void)fstat(descriptor(now), &status);
    else
        (void)stat(now->file->path, &status);
}

static void remove_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (unlink(now->file->path) != 0)
        sw_replay_miss(run, now, "unlink", strerror(errno));
}

/* The target is not in a trace; the next read or write seeks to its position itself. */
static void look(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    if (now->file->handle[SW_POSIX] != NULL)
        (void)lseek(descriptor(now), 0, SEEK_CUR);
}

const struct sw_replay_verb sw_replay_posix[] = {
    {"posix.open", SW_PHASE_OPEN, open_file},
    {"posix.close", SW_PHASE_CLOSE, close_file},
    {"posix.read", SW_PHASE_READ, read_on},
    {"posix.write", SW_PHASE_WRITE, write_on},
    {"posix.pread", SW_PHASE_READ, read_at},
    {"posix.pwrite", SW_PHASE_WRITE, write_at},
    {"posix.fsync", SW_PHASE_SYNC, sync_file},
    {"posix.truncate", SW_PHASE_META, resize},
    {"posix.fallocate", SW_PHASE_META, allocate},
    {"posix.stat", SW_PHASE_META, ask},
    {"posix.unlink", SW_PHASE_META, remove_file},
    {"posix.lseek", SW_PHASE_META, look},
    {NULL, 0, NULL},
};

/* ---- streams ------------------------------------------------------------------------------- */

static FILE *stream_of(const struct sw_replay_now *now)
{
    return sw_replay_handle(now, SW_STDIO)->state;
}

static const char *mode_of(int64_t bits)
{
    bool reads = (bits & SW_OPEN_READ) != 0;
    bool writes = (bits & SW_OPEN_WRITE) != 0;
    if ((bits & SW_OPEN_APPEND) != 0)
        return reads ? "a+" : "a";
    if ((bits & SW_OPEN_TRUNCATE) != 0)
        return reads ? "w+" : "w";
    if (!reads && !writes)
        return "a+"; /* unknown: neither truncates nor fails */
    return writes ? "r+" : "r";
}

static void open_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    FILE *stream = fopen(now->file->path, mode_of(now->offset > 0 ? now->offset : 0));
    if (stream == NULL)
        sw_replay_die(now, "fopen", "%s", strerror(errno));
    sw_replay_push(now, SW_STDIO, stream);
}

static void close_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    if (fclose(stream_of(now)) != 0)
        sw_replay_die(now, "fclose", "%s", strerror(errno));
    sw_replay_pop(now, SW_STDIO);
}

static void go_to_in_stream(const struct sw_replay_now *now, struct sw_replay_handle *handle)
{
    if (now->offset < 0 || now->offset == handle->position)
        return;
    if (fseeko(handle->state, now->offset, SEEK_SET) != 0)
        sw_replay_die(now, "fseeko", "%s", strerror(errno));
    handle->position = now->offset;
}

static void read_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_STDIO);
    go_to_in_stream(now, handle);
    size_t got = fread(run->sink, 1, (size_t)now->call->bytes, handle->state);
    run->moved = (int64_t)got;
    handle->position += (int64_t)got;
}

static void write_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_STDIO);
    go_to_in_stream(now, handle);
    size_t put = fwrite(run->noise, 1, (size_t)now->call->bytes, handle->state);
    if (put < (size_t)now->call->bytes)
        sw_replay_die(now, "fwrite", "%s", strerror(errno));
    handle->position += (int64_t)put;
}

static void flush_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (now->file != NULL && now->file->handle[SW_STDIO] != NULL && fflush(stream_of(now)) != 0)
        sw_replay_miss(run, now, "fflush", strerror(errno));
}

const struct sw_replay_verb sw_replay_stdio[] = {
    {"stdio.open", SW_PHASE_OPEN, open_stream},   {"stdio.close", SW_PHASE_CLOSE, close_stream},
    {"stdio.read", SW_PHASE_READ, read_stream},   {"stdio.write", SW_PHASE_WRITE, write_stream},
    {"stdio.flush", SW_PHASE_SYNC, flush_stream}, {NULL, 0, NULL},
};
