/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * posix: pwrite and pread into one shared file, one file per process, or one per node. Runs that
 * are adjacent in the file but not in memory (separated by a halo) are collected in a staging
 * buffer and become one call; a single run is moved directly from or to the array. With --mode
 * serial, only rank 0 opens the file.
 */
#include "../kernel.h"
#include "slabs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_BYTES ((int64_t)4 << 20)

/* Runs that are adjacent in the file; several of them are staged. */
struct group {
    size_t first;
    size_t end;
    int64_t count; /* elements */
};

struct posix_state {
    int fd;
    char *stage;
};

static bool packed(const struct sw_session *session)
{
    return session->options->files != SW_FILES_SHARED;
}

/* Returns the bytes of a step in this file. */
static int64_t step_bytes(const struct sw_session *session)
{
    return packed(session) ? session->file_step_bytes : session->share->step_bytes;
}

/* A file to be read must contain all steps. */
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

/* Returns true on the ranks that have the file open. */
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
    char *stage = sw_memory(STAGE_BYTES);
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
    bool partial = session->options->stonewall_seconds > 0.0; /* the file may be partial too */
    return session->writing || partial || !has_file(session) ? 0 : check_size(session, state->fd);
}

/* Returns the longest group from run `first` on that is adjacent in the file and fits the stage.
 * */
static struct group next_group(const struct sw_options *options, const struct sw_share *share,
                               const struct sw_domain *domain, size_t first)
{
    const struct sw_run *runs = domain->runs;
    const int64_t room = STAGE_BYTES / share->element_bytes;
    const bool packed = options->files != SW_FILES_SHARED;
    struct group group = {.first = first, .end = first + 1, .count = runs[first].count};
    while (group.end < domain->n_runs) {
        const struct sw_run *last = &runs[group.end - 1];
        const struct sw_run *next = &runs[group.end];
        if ((!packed && last->global + last->count != next->global) ||
            group.count + next->count > room)
            break;
        group.count += next->count;
        group.end++;
    }
    return group;
}

/* Writes or reads all bytes, in as many calls as needed. */
static int move_bytes(struct sw_session *session, int fd, char *memory, int64_t bytes,
                      int64_t offset)
{
    const char *call = session->writing ? "pwrite" : "pread";
    while (bytes > 0) {
        ssize_t done = session->writing ? pwrite(fd, memory, (size_t)bytes, (off_t)offset)
                                        : pread(fd, memory, (size_t)bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return sw_fail_errno(session, call);
        if (done == 0)
            return sw_fail(session, call,
                           session->writing ? "nothing was written at byte %lld"
                                            : "the file ends at byte %lld",
                           (long long)offset);
        memory += done;
        offset += done;
        bytes -= done;
    }
    return 0;
}

/* Makes one write or read of adjacent bytes, in calls of --transfer bytes. Returns the bytes that
 * were moved: fewer if the time is over; -1 after sw_fail*(). */
static int64_t move(struct sw_session *session, int variable, char *memory, int64_t bytes,
                    int64_t offset)
{
    const struct posix_state *state = session->state;
    const int64_t most = session->options->transfer_bytes;
    int64_t done = 0;
    while (done < bytes && (most == 0 || sw_wall_next(session))) {
        int64_t now = most > 0 && bytes - done > most ? most : bytes - done;
        if (move_bytes(session, state->fd, memory + done, now, offset + done) != 0)
            return -1;
        done += now;
        if (most > 0)
            sw_wall_moved(session, variable, now / session->share->element_bytes);
    }
    return done;
}

/* Moves a group, through the stage if it has several runs. Returns the same as `move`. */
static int64_t move_group(struct sw_session *session, int v, const struct group *group,
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
        sw_slices_copy(&slices, memory, group->count, state->stage, true);
    int64_t done = move(session, v, state->stage, group->count * bytes, offset);
    if (!session->writing && done > 0)
        sw_slices_copy(&slices, memory, done / bytes, state->stage, false);
    return done;
}

/* Returns the offset of a group that starts at run `first`, after `before` elements of this
 * variable. */
static int64_t group_offset(const struct sw_session *session, int64_t step,
                            const struct sw_variable *variable, size_t first, int64_t before)
{
    const int64_t bytes = session->share->element_bytes;
    int64_t start = step * step_bytes(session);
    if (packed(session))
        return start + session->file_before + variable->packed + before * bytes;
    return start + variable->region + variable->domain->runs[first].global * bytes;
}

/* ---- --mode serial ---------------------------------------------------------------------------
 */

/*
 * Moves everything through rank 0, as in codes that were parallelised around a serial writer. The
 * global array passes in windows of 4 MiB: the ranks report which pieces of the window they own
 * and send them (or receive them) packed, and rank 0 writes (or reads) the window in one call.
 */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define ROOT 0

/* A piece of the window; elements relative to the window's first. */
struct piece {
    int start;
    int count;
};

/* Buffers of a rank for a window: it never has more pieces than elements. */
struct exchange {
    int n_ranks;
    bool root;
    int64_t bytes; /* of an element */
    int own[2];    /* pieces, elements of this rank */
    struct piece *pieces;
    char *packed;
    /* on the root */
    int *both; /* own of all ranks */
    int *n_pieces;
    int *first_piece;
    int *n_bytes;
    int *first_byte;
    struct piece *all_pieces;
    char *all_packed;
    char *window;
};

static void release(struct exchange *e)
{
    free(e->pieces);
    free(e->packed);
    free(e->both);
    free(e->n_pieces);
    free(e->first_piece);
    free(e->n_bytes);
    free(e->first_byte);
    free(e->all_pieces);
    free(e->all_packed);
    free(e->window);
}

static bool reserve_root(struct exchange *e, size_t elements)
{
    size_t n = (size_t)e->n_ranks;
    e->both = malloc(n * 2 * sizeof *e->both);
    e->n_pieces = malloc(n * sizeof *e->n_pieces);
    e->first_piece = malloc(n * sizeof *e->first_piece);
    e->n_bytes = malloc(n * sizeof *e->n_bytes);
    e->first_byte = malloc(n * sizeof *e->first_byte);
    e->all_pieces = malloc(elements * sizeof *e->all_pieces);
    e->all_packed = malloc((size_t)WINDOW_BYTES);
    e->window = malloc((size_t)WINDOW_BYTES);
    return e->both != NULL && e->n_pieces != NULL && e->first_piece != NULL &&
           e->n_bytes != NULL && e->first_byte != NULL && e->all_pieces != NULL &&
           e->all_packed != NULL && e->window != NULL;
}

/* Allocates the buffers; all ranks agree, since what follows is collective. */
static bool reserve(struct sw_session *session, struct exchange *e)
{
    *e = (struct exchange){.bytes = session->share->element_bytes, .root = session->rank == ROOT};
    size_t elements = (size_t)(WINDOW_BYTES / e->bytes);
    MPI_Comm_size(session->comm, &e->n_ranks);
    e->pieces = malloc(elements * sizeof *e->pieces);
    e->packed = malloc((size_t)WINDOW_BYTES);
    if (e->pieces == NULL || e->packed == NULL || (e->root && !reserve_root(e, elements)))
        sw_fail(session, "malloc", "out of memory for the window");
    return sw_agree(session->comm, session->failure);
}

/* Finds the pieces that this rank owns from element `first` on, below `end`. `run` is the first
 * run that is not before the window. */
static void find_pieces(struct exchange *e, const struct sw_domain *domain, size_t *run,
                        int64_t first, int64_t end)
{
    e->own[0] = 0;
    e->own[1] = 0;
    while (*run < domain->n_runs && domain->runs[*run].global < end) {
        const struct sw_run *now = &domain->runs[*run];
        int64_t from = now->global > first ? now->global : first;
        int64_t to = now->global + now->count < end ? now->global + now->count : end;
        e->pieces[e->own[0]++] = (struct piece){(int)(from - first), (int)(to - from)};
        e->own[1] += (int)(to - from);
        if (now->global + now->count > end)
            break; /* continues in the next window */
        (*run)++;
    }
}

/* Copies the pieces from the array to the packed buffer, or back; `run` as before find_pieces. */
static void copy_pieces(struct exchange *e, const struct sw_domain *domain, size_t run,
                        int64_t first, char *memory, bool pack)
{
    char *next = e->packed;
    for (int p = 0; p < e->own[0]; p++, run++) {
        int64_t within = first + e->pieces[p].start - domain->runs[run].global;
        size_t bytes = (size_t)(e->pieces[p].count * e->bytes);
        char *place = memory + (domain->runs[run].memory + within) * e->bytes;
        memcpy(pack ? next : place, pack ? place : next, bytes);
        next += bytes;
    }
}

/* Tells the root which pieces the ranks own. */
static void gather_pieces(struct sw_session *session, struct exchange *e)
{
    MPI_Gather(e->own, 2, MPI_INT, e->both, 2, MPI_INT, ROOT, session->comm);
    int pieces = 0;
    int bytes = 0;
    for (int r = 0; r < e->n_ranks && e->root; r++) {
        e->n_pieces[r] = 2 * e->both[2 * r];
        e->first_piece[r] = 2 * pieces;
        e->n_bytes[r] = (int)(e->both[2 * r + 1] * e->bytes);
        e->first_byte[r] = bytes;
        pieces += e->both[2 * r];
        bytes += e->n_bytes[r];
    }
    MPI_Gatherv(e->pieces, 2 * e->own[0], MPI_INT, e->all_pieces, e->n_pieces, e->first_piece,
                MPI_INT, ROOT, session->comm);
}

/* On the root: copies between the ranks' packed pieces and the window. */
static void sort_window(struct exchange *e, bool into_window)
{
    char *next = e->all_packed;
    for (int r = 0; r < e->n_ranks; r++)
        for (int p = 0; p < e->both[2 * r]; p++) {
            const struct piece *piece = &e->all_pieces[e->first_piece[r] / 2 + p];
            size_t bytes = (size_t)(piece->count * e->bytes);
            char *place = e->window + piece->start * e->bytes;
            memcpy(into_window ? place : next, into_window ? next : place, bytes);
            next += bytes;
        }
}

/* Gathers the packed pieces of a window on the root, which writes it. */
static void write_window(struct sw_session *session, struct exchange *e, int fd, int64_t bytes,
                         int64_t offset)
{
    MPI_Gatherv(e->packed, (int)(e->own[1] * e->bytes), MPI_BYTE, e->all_packed, e->n_bytes,
                e->first_byte, MPI_BYTE, ROOT, session->comm);
    if (!e->root || session->failure->failed)
        return;
    sort_window(e, true);
    move_bytes(session, fd, e->window, bytes, offset);
}

/* Makes the root read a window, and scatters its pieces. */
static void read_window(struct sw_session *session, struct exchange *e, int fd, int64_t bytes,
                        int64_t offset)
{
    if (e->root && !session->failure->failed) {
        move_bytes(session, fd, e->window, bytes, offset);
        sort_window(e, false);
    }
    MPI_Scatterv(e->all_packed, e->n_bytes, e->first_byte, MPI_BYTE, e->packed,
                 (int)(e->own[1] * e->bytes), MPI_BYTE, ROOT, session->comm);
}

static void move_variable(struct sw_session *session, struct exchange *e, int fd, int64_t region,
                          const struct sw_domain *domain, char *memory)
{
    int64_t length = WINDOW_BYTES / e->bytes;
    size_t run = 0;
    for (int64_t first = 0; first < domain->elements; first += length) {
        int64_t end = first + length < domain->elements ? first + length : domain->elements;
        int64_t bytes = (end - first) * e->bytes;
        int64_t offset = region + first * e->bytes;
        size_t first_run = run;
        find_pieces(e, domain, &run, first, end);
        if (session->writing)
            copy_pieces(e, domain, first_run, first, memory, true);
        gather_pieces(session, e);
        if (session->writing) {
            write_window(session, e, fd, bytes, offset);
        } else {
            read_window(session, e, fd, bytes, offset);
            copy_pieces(e, domain, first_run, first, memory, false);
        }
    }
}

/* Moves all variables of a step; `fd` is only used on the root. */
static int move_serially(struct sw_session *session, int fd, int64_t step, char *buffer)
{
    struct exchange e;
    const struct sw_share *share = session->share;
    bool good = reserve(session, &e);
    for (int v = 0; v < share->n_variables && good; v++)
        move_variable(session, &e, fd, sw_region(share, step, v), share->variables[v].domain,
                      buffer + share->variables[v].memory);
    release(&e);
    return session->failure->failed ? -1 : 0;
}

/* ---- a step -------------------------------------------------------------------------------- */

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct sw_share *share = session->share;
    const struct posix_state *state = session->state;
    if (session->options->mode == SW_MODE_SERIAL)
        return move_serially(session, state->fd, step, buffer);
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_variable *variable = &share->variables[v];
        int64_t before = 0;
        for (size_t r = 0; r < variable->domain->n_runs;) {
            struct group group = next_group(session->options, share, variable->domain, r);
            int64_t bytes = group.count * share->element_bytes;
            int64_t done = move_group(session, v, &group, buffer + variable->memory,
                                      group_offset(session, step, variable, r, before));
            if (done < bytes) /* a failure, or the time limit */
                break;
            before += group.count;
            r = group.end;
        }
        if (session->options->transfer_bytes > 0)
            sw_wall_section(session);
    }
    return session->failure->failed ? -1 : 0;
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

/* ---- direct I/O (--direct) ----------------------------------------------------------------- */

static bool odd(int64_t bytes)
{
    return bytes % SW_DIRECT_BYTES != 0;
}

/* Checks lengths, offsets in the file and addresses in memory of one variable. */
static bool variable_aligned(const struct sw_options *options, const struct sw_share *share,
                             const struct sw_variable *variable, int64_t *length, int64_t *offset)
{
    const struct sw_domain *domain = variable->domain;
    const bool packed = options->files != SW_FILES_SHARED;
    int64_t before = 0;
    for (size_t r = 0; r < domain->n_runs;) {
        struct group group = next_group(options, share, domain, r);
        int64_t memory = variable->memory + domain->runs[r].memory * share->element_bytes;
        *length = group.count * share->element_bytes;
        *offset = packed ? variable->packed + before * share->element_bytes
                         : variable->region + domain->runs[r].global * share->element_bytes;
        if (odd(*length) || odd(*offset) || (group.end == r + 1 && odd(memory)))
            return false;
        before += group.count;
        r = group.end;
    }
    return true;
}

bool sw_direct_check(const struct sw_options *options, const struct sw_share *share, int rank,
                     char *trouble, size_t bytes)
{
    int64_t length = options->transfer_bytes;
    int64_t offset = 0;
    bool good = !odd(options->transfer_bytes);
    for (int v = 0; v < share->n_variables && good; v++)
        good = variable_aligned(options, share, &share->variables[v], &length, &offset);
    if (good && (options->files == SW_FILES_SHARED ? options->steps > 1 && odd(share->step_bytes)
                                                   : odd(share->owned_bytes))) {
        good = false;
        length = options->files == SW_FILES_SHARED ? share->step_bytes : share->owned_bytes;
        offset = length;
    }
    if (!good)
        snprintf(trouble, bytes,
                 "--direct: rank %d would move %lld bytes at byte %lld, and O_DIRECT needs "
                 "multiples of %d, in memory too; choose --local (and --transfer) so, with --halo "
                 "0, or leave out --direct",
                 rank, (long long)length, (long long)offset, SW_DIRECT_BYTES);
    return good;
}

const struct sw_backend sw_backend_posix = {
    .name = "posix",
    .summary = "pwrite and pread; one file, one per process, or one per node",
    .suffix = ".dat",
    .stores = true,
    .transfers = true,
    .direct = true,
    .serial = true,
    .per_process = true,
    .per_node = true,
    .closes_after_failure = true,
    .open = open_file,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
};
