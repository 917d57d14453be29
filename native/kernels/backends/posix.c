/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * posix: pwrite and pread into one shared file, one file per process, or one per node.  Runs
 * that are adjacent in the file but not in memory (a halo lies between them) go through a staging
 * buffer and become one call; a run that stands alone goes straight from or to the array.  With
 * --mode serial rank 0 alone has the file open.
 */
#include "posix_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_BYTES ((int64_t)4 << 20)

struct posix_state {
    int fd;
    char *stage;
};

/* Runs that one call moves. */
struct group {
    size_t first;
    size_t end;
    int64_t count; /* elements */
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

static int open_file(struct sw_session *session, bool create)
{
    struct posix_state *state = calloc(1, sizeof *state);
    char *stage = malloc((size_t)STAGE_BYTES);
    int flags = session->writing ? O_WRONLY | (create ? O_CREAT : 0) : O_RDONLY;
    if (state == NULL || stage == NULL) {
        free(state);
        free(stage);
        return sw_fail(session, "malloc", "out of memory for the staging buffer");
    }
    state->stage = stage;
    state->fd = has_file(session) ? open(session->path, flags | O_CLOEXEC, 0666) : -1;
    if (state->fd < 0 && has_file(session)) {
        sw_fail_errno(session, "open");
        free(stage);
        free(state);
        return -1;
    }
    session->state = state;
    return session->writing || !has_file(session) ? 0 : check_size(session, state->fd);
}

static int prepare(struct sw_session *session, int64_t step)
{
    (void)session;
    (void)step;
    return 0;
}

/* The longest group from `first` on that is adjacent in the file and fits the stage. */
static struct group next_group(const struct sw_session *session, const struct sw_domain *domain,
                               size_t first)
{
    const struct sw_run *runs = domain->runs;
    const int64_t room = STAGE_BYTES / session->share->element_bytes;
    struct group group = {.first = first, .end = first + 1, .count = runs[first].count};
    while (group.end < domain->n_runs) {
        const struct sw_run *last = &runs[group.end - 1];
        const struct sw_run *next = &runs[group.end];
        if ((!packed(session) && last->global + last->count != next->global) ||
            group.count + next->count > room)
            break;
        group.count += next->count;
        group.end++;
    }
    return group;
}

static int write_group(struct sw_session *session, const struct sw_run *runs,
                       const struct group *group, const char *memory, int64_t offset)
{
    const struct posix_state *state = session->state;
    const int64_t bytes = session->share->element_bytes;
    char *next = state->stage;
    if (group->end == group->first + 1)
        return sw_posix_write(session, state->fd, memory + runs[group->first].memory * bytes,
                              group->count * bytes, offset);
    for (size_t r = group->first; r < group->end; r++) {
        memcpy(next, memory + runs[r].memory * bytes, (size_t)(runs[r].count * bytes));
        next += runs[r].count * bytes;
    }
    return sw_posix_write(session, state->fd, state->stage, group->count * bytes, offset);
}

static int read_group(struct sw_session *session, const struct sw_run *runs,
                      const struct group *group, char *memory, int64_t offset)
{
    const struct posix_state *state = session->state;
    const int64_t bytes = session->share->element_bytes;
    const char *next = state->stage;
    if (group->end == group->first + 1)
        return sw_posix_read(session, state->fd, memory + runs[group->first].memory * bytes,
                             group->count * bytes, offset);
    if (sw_posix_read(session, state->fd, state->stage, group->count * bytes, offset) != 0)
        return -1;
    for (size_t r = group->first; r < group->end; r++) {
        memcpy(memory + runs[r].memory * bytes, next, (size_t)(runs[r].count * bytes));
        next += runs[r].count * bytes;
    }
    return 0;
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

static int write_step(struct sw_session *session, int64_t step, const char *buffer)
{
    const struct posix_state *state = session->state;
    if (session->options->mode == SW_MODE_SERIAL)
        return sw_serial_write(session, state->fd, step, buffer);
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        const struct sw_domain *domain = variable->domain;
        int64_t before = 0;
        for (size_t r = 0; r < domain->n_runs;) {
            struct group group = next_group(session, domain, r);
            if (write_group(session, domain->runs, &group, buffer + variable->memory,
                            group_offset(session, step, variable, r, before)) != 0)
                return -1;
            before += group.count;
            r = group.end;
        }
    }
    return 0;
}

static int read_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct posix_state *state = session->state;
    if (session->options->mode == SW_MODE_SERIAL)
        return sw_serial_read(session, state->fd, step, buffer);
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        const struct sw_domain *domain = variable->domain;
        int64_t before = 0;
        for (size_t r = 0; r < domain->n_runs;) {
            struct group group = next_group(session, domain, r);
            if (read_group(session, domain->runs, &group, buffer + variable->memory,
                           group_offset(session, step, variable, r, before)) != 0)
                return -1;
            before += group.count;
            r = group.end;
        }
    }
    return 0;
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
