/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the C library. */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <string.h>

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
        return "a+"; /* not known: neither truncated nor refused */
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

static void go_to(const struct sw_replay_now *now, struct sw_replay_handle *handle)
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
    go_to(now, handle);
    size_t got = fread(run->sink, 1, (size_t)now->call->bytes, handle->state);
    handle->position += (int64_t)got;
}

static void write_stream(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_STDIO);
    go_to(now, handle);
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
