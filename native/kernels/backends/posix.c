/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * posix: pwrite and pread into one shared file, one file per process, or one per node.  Runs
 * that are adjacent in the file but not in memory (a halo lies between them) go through a staging
 * buffer and become one call; a run that stands alone goes straight from or to the array.  With
 * --mode serial rank 0 alone has the file open.
 */
#include "../wall.h"
#include "posix_groups.h"
#include "posix_io.h"
#include "slices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct posix_state {
    int fd;
    char *stage;
};

static bool packed(const struct sw_session *session)
{
    return session->options->files != SW_FILES_SHARED;
}

/* What a step takes in this file. */
static int64_t step_bytes(const struct sw_session *session)
{
    return packed(session) ? session->file_step_bytes : session->share->step_bytes;
}

/* A file to be read must hold all steps. */
static int check_size(struct sw_session *session, int fd)
{
    struct stat status;
    int64_t need = step_bytes(session) * session->options->steps;
    if (fstat(fd, &status) != 0)
        return sw_fail_errno(session, "fstat");
    if (S_ISREG(status.st_mode) && status.st_size < need)
        return sw_fail(session, "fstat", "the file has %lld bytes, %lld are needed",
                       (long long)status.st_size, (long long)need);
    return 0;
}

/* True on the ranks that have the file open. */
static bool has_file(const struct sw_session *session)
{
    return session->options->mode != SW_MODE_SERIAL || session->rank == 0;
}

static void fail_open(struct sw_session *session)
{
    if (errno == EINVAL && session->options->direct)
        sw_fail(session, "open",
                "this file system has no direct I/O; leave out --direct, or use another --file");
    else
        sw_fail_errno(session, "open");
}

static int open_file(struct sw_session *session, bool create)
{
    struct posix_state *state = calloc(1, sizeof *state);
    char *stage = sw_memory(SW_STAGE_BYTES);
    int flags = session->writing ? O_WRONLY | (create ? O_CREAT : 0) : O_RDONLY;
    flags |= session->options->direct ? O_DIRECT : 0;
    if (state == NULL || stage == NULL) {
        free(state);
        free(stage);
        return sw_fail(session, "malloc", "out of memory for the staging buffer");
    }
    state->stage = stage;
    state->fd = has_file(session) ? open(session->path, flags | O_CLOEXEC, 0666) : -1;
    if (state->fd < 0 && has_file(session)) {
        fail_open(session);
        free(stage);
        free(state);
        return -1;
    }
    session->state = state;
    bool partial = session->options->stonewall_seconds > 0.0; /* so may the file be */
    return session->writing || partial || !has_file(session) ? 0 : check_size(session, state->fd);
}

static int prepare(struct sw_session *session, int64_t step)
{
    (void)session;
    (void)step;
    return 0;
}

/* One write or read of adjacent bytes, in calls of --transfer bytes.  The bytes that were moved:
 * fewer if the wall is reached; -1 after sw_fail*(). */
static int64_t move(struct sw_session *session, int variable, char *memory, int64_t bytes,
                    int64_t offset)
{
    const struct posix_state *state = session->state;
    const int64_t most = session->options->transfer_bytes;
    int64_t done = 0;
    while (done < bytes && (most == 0 || sw_wall_next(session))) {
        int64_t now = most > 0 && bytes - done > most ? most : bytes - done;
        int code = session->writing
                       ? sw_posix_write(session, state->fd, memory + done, now, offset + done)
                       : sw_posix_read(session, state->fd, memory + done, now, offset + done);
        if (code != 0)
            return -1;
        done += now;
        if (most > 0)
            sw_wall_moved(session, variable, now / session->share->element_bytes);
    }
    return done;
}

/* Through the stage where the group has several runs.  As `move`. */
static int64_t move_group(struct sw_session *session, int v, const struct sw_group *group,
                          char *memory, int64_t offset)
{
    const struct posix_state *state = session->state;
    const struct sw_domain *domain = session->share->variables[v].domain;
    const int64_t bytes = session->share->element_bytes;
    struct sw_slices slices = {.domain = domain, .element_bytes = bytes, .run = group->first};
    if (group->end == group->first + 1)
        return move(session, v, memory + domain->runs[group->first].memory * bytes,
                    group->count * bytes, offset);
    if (session->writing)
        sw_slice_gather(&slices, memory, group->count, state->stage);
    int64_t done = move(session, v, state->stage, group->count * bytes, offset);
    if (!session->writing && done > 0)
        sw_slice_scatter(&slices, memory, done / bytes, state->stage);
    return done;
}

/* Byte of a group that starts at run `first`, after `before` elements of this variable. */
static int64_t group_offset(const struct sw_session *session, int64_t step,
                            const struct sw_variable *variable, size_t first, int64_t before)
{
    const int64_t bytes = session->share->element_bytes;
    int64_t start = step * step_bytes(session);
    if (packed(session))
        return start + session->file_before + variable->packed + before * bytes;
    return start + variable->region + variable->domain->runs[first].global * bytes;
}

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct sw_share *share = session->share;
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_variable *variable = &share->variables[v];
        int64_t before = 0;
        for (size_t r = 0; r < variable->domain->n_runs;) {
            struct sw_group group = sw_group_next(session->options, share, variable->domain, r);
            int64_t bytes = group.count * share->element_bytes;
            int64_t done = move_group(session, v, &group, buffer + variable->memory,
                                      group_offset(session, step, variable, r, before));
            if (done < bytes) /* a failure, or the wall */
                break;
            before += group.count;
            r = group.end;
        }
        if (session->options->transfer_bytes > 0)
            sw_wall_section(session);
    }
    return session->failure->failed ? -1 : 0;
}

static int write_step(struct sw_session *session, int64_t step, const char *buffer)
{
    const struct posix_state *state = session->state;
    if (session->options->mode == SW_MODE_SERIAL)
        return sw_serial_write(session, state->fd, step, buffer);
    return move_step(session, step, (char *)buffer); /* a pass that writes changes nothing */
}

static int read_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct posix_state *state = session->state;
    if (session->options->mode == SW_MODE_SERIAL)
        return sw_serial_read(session, state->fd, step, buffer);
    return move_step(session, step, buffer);
}

static int sync_file(struct sw_session *session)
{
    const struct posix_state *state = session->state;
    return !has_file(session) || fsync(state->fd) == 0 ? 0 : sw_fail_errno(session, "fsync");
}

static int close_file(struct sw_session *session)
{
    struct posix_state *state = session->state;
    int fd = state == NULL ? -1 : state->fd;
    if (state != NULL)
        free(state->stage);
    free(state);
    session->state = NULL;
    return fd < 0 || close(fd) == 0 ? 0 : sw_fail_errno(session, "close");
}

static void library(char *text, size_t bytes)
{
    if (bytes > 0)
        text[0] = '\0';
}

const struct sw_backend sw_backend_posix = {
    .name = "posix",
    .summary = "pwrite and pread; one file, one per process, or one per node",
    .missing = NULL,
    .suffix = ".dat",
    .stores = true,
    .hints = false,
    .collective = false,
    .transfers = true,
    .direct = true,
    .serial = true,
    .per_process = true,
    .per_node = true,
    .removes_view = false,
    .closes_after_failure = true,
    .open = open_file,
    .prepare = prepare,
    .write = write_step,
    .read = read_step,
    .sync = sync_file,
    .close = close_file,
    .remove = NULL,
    .library = library,
};
