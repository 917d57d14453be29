/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything through rank 0, as codes do that were parallelised around a serial writer.  The
 * global array passes in windows of 4 MiB: the ranks tell which pieces of the window they own and
 * send them (or receive them) packed, and rank 0 writes (or reads) the window with one call.
 */
#include "posix.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES ((int64_t)4 << 20)
#define ROOT 0

/* A piece of the window; elements from the window's first. */
struct piece {
    int start;
    int count;
};

/* What a rank holds of a window: it never has more pieces than elements. */
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

/* Buffers of all ranks; agreed on, since what follows is collective. */
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

/* The pieces that this rank owns from element `first` on, below `end`.  `run` is the first run
 * that does not lie before the window. */
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
            break; /* goes on in the next window */
        (*run)++;
    }
}

/* Copy the pieces from the array to the packed buffer, or back; `run` as before find_pieces. */
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

/* Tell the root which pieces the ranks own. */
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

/* The root's: between the ranks' packed pieces and the window. */
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

/* Gather the packed pieces of a window on the root, which writes it. */
static void write_window(struct sw_session *session, struct exchange *e, int fd, int64_t bytes,
                         int64_t offset)
{
    MPI_Gatherv(e->packed, (int)(e->own[1] * e->bytes), MPI_BYTE, e->all_packed, e->n_bytes,
                e->first_byte, MPI_BYTE, ROOT, session->comm);
    if (!e->root || session->failure->failed)
        return;
    sort_window(e, true);
    sw_posix_move(session, fd, e->window, bytes, offset);
}

/* Have the root read a window, and scatter its pieces. */
static void read_window(struct sw_session *session, struct exchange *e, int fd, int64_t bytes,
                        int64_t offset)
{
    if (e->root && !session->failure->failed) {
        sw_posix_move(session, fd, e->window, bytes, offset);
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

int sw_serial_move(struct sw_session *session, int fd, int64_t step, char *buffer)
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
