/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * One phase: all ranks begin together, and each times its operations individually. The clock is
 * read once per operation: one ends where the next begins, which includes making its name.
 */
#include "metadata.h"

#include <math.h>
#include <string.h>

struct span {
    uint64_t begin_ns, end_ns;
    int64_t done;
};

/* ---- on one rank ------------------------------------------------------------------------------
 */

static int64_t count_of(const struct sw_rank *rank, enum sw_operation operation)
{
    switch (operation) {
    case SW_CREATE_TREE:
    case SW_REMOVE_TREE:
        return rank->options->shared && rank->job->rank != 0 ? 0 : rank->tree.n_directories - 1;
    case SW_LIST:
        return rank->tree.n_directories;
    case SW_CREATE:
    case SW_CREATE_DIRECTORY:
        return rank->options->files;
    case SW_STAT_DIRECTORY:
    case SW_REMOVE_DIRECTORY:
        return rank->directories;
    default:
        return rank->files;
    }
}

static const char *kind_of(const struct sw_rank *rank, enum sw_operation operation)
{
    if (operation == SW_CREATE_DIRECTORY || operation == SW_STAT_DIRECTORY ||
        operation == SW_REMOVE_DIRECTORY)
        return "directory";
    return rank->renamed ? "moved" : "file";
}

static void prepare(struct sw_rank *rank, enum sw_operation operation, int64_t repeat)
{
    const struct sw_operation_row *row = &sw_operation_rows[operation];
    const struct sw_job *job = rank->job;
    bool shared = rank->options->shared;
    rank->owner = row->shifts ? (job->rank + job->shift) % job->n_ranks : job->rank;
    sw_names_begin(&rank->names, &rank->tree, job, shared, kind_of(rank, operation), rank->owner);
    if (operation == SW_RENAME) {
        sw_names_begin(&rank->others, &rank->tree, job, shared, "moved", rank->owner);
        rank->renames = true;
    }
    if (row->draws && rank->order != NULL)
        sw_rank_draw(rank, count_of(rank, operation), repeat * SW_OPERATIONS + operation);
}

static inline const char *path_of(struct sw_rank *rank, enum sw_operation operation,
                                  int64_t number)
{
    if (operation == SW_LIST)
        return sw_name_of_directory(&rank->names, number);
    if (operation == SW_CREATE_TREE)
        return sw_name_of_directory(&rank->names, number + 1);
    if (operation == SW_REMOVE_TREE)
        return sw_name_of_directory(&rank->names, rank->tree.n_directories - 1 - number);
    return sw_name_of(&rank->names, number);
}

/* Continues from span->done on; ends after the operation during which `wall_ns` is reached. */
static void operate(struct sw_rank *rank, enum sw_operation operation, int64_t count,
                    uint64_t wall_ns, struct span *span, struct sw_histogram *histogram)
{
    const struct sw_operation_row *row = &sw_operation_rows[operation];
    const int64_t *order = row->draws ? rank->order : NULL;
    uint64_t last_ns = sw_now_ns();
    int64_t next = span->done;
    if (next == 0)
        span->begin_ns = last_ns;
    for (; next < count && !sw_stopped && last_ns < wall_ns; next++) {
        int64_t number = order != NULL ? order[next] : next;
        if (row->operate(rank, path_of(rank, operation, number), number) != 0)
            break;
        uint64_t now_ns = sw_now_ns();
        sw_histogram_add(histogram, now_ns - last_ns);
        last_ns = now_ns;
    }
    span->done = next;
    span->end_ns = last_ns;
}

/* Records what exists now, or may exist, for later phases and for clean-up. */
static void note_made(struct sw_rank *rank, enum sw_operation operation, int64_t done)
{
    int64_t begun = done + rank->failure->failed; /* one that failed may have created its file */
    if (operation == SW_CREATE)
        rank->made_files = begun;
    else if (operation == SW_CREATE_DIRECTORY)
        rank->made_directories = begun;
    else if (operation == SW_CREATE_TREE)
        rank->made_tree = begun;
}

/* ---- with the others --------------------------------------------------------------------------
 */

/* Ranks that were stopped by the time limit continue until all have made as many as the fastest.
 * */
static void wear_out(struct sw_rank *rank, enum sw_operation operation, struct span *span,
                     struct sw_histogram *histogram, struct sw_phase *phase)
{
    int64_t wall[2] = {span->done, -span->done};
    MPI_Allreduce(&span->done, &phase->wall_operations, 1, MPI_INT64_T, MPI_SUM, sw_ranks);
    MPI_Allreduce(MPI_IN_PLACE, wall, 2, MPI_INT64_T, MPI_MAX, sw_ranks);
    phase->wall_most = wall[0];
    phase->wall_least = -wall[1];
    phase->worn_out = phase->wall_least < rank->options->files;
    phase->wall_seconds = rank->options->stonewall_seconds;
    if (sw_agree(rank->failure) && span->done < wall[0])
        operate(rank, operation, wall[0], SW_NO_WALL, span, histogram);
}

/* Finds the rank with most or fewest seconds, on rank 0. */
static void find_extreme(const struct sw_job *job, const struct span *span, bool slowest,
                         struct sw_extreme *extreme)
{
    struct {
        double seconds;
        int rank;
    } found = {slowest ? -1 : INFINITY, job->rank};
    struct sw_extreme own = {.rank = job->rank, .operations = span->done};
    own.seconds = (double)(span->end_ns - span->begin_ns) / 1e9;
    memcpy(own.host, job->host, sizeof own.host);
    if (span->done > 0)
        found.seconds = own.seconds;
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_DOUBLE_INT, slowest ? MPI_MAXLOC : MPI_MINLOC,
                  sw_ranks);
    if (job->rank == found.rank && job->rank != 0)
        MPI_Send(&own, (int)sizeof own, MPI_BYTE, 0, 4, sw_ranks);
    if (job->rank != 0)
        return;
    *extreme = own;
    if (found.rank != 0)
        MPI_Recv(extreme, (int)sizeof *extreme, MPI_BYTE, found.rank, 4, sw_ranks,
                 MPI_STATUS_IGNORE);
}

/* Computes the results by the clock of rank 0. */
static void reduce(const struct sw_job *job, const struct span *span, struct sw_phase *phase)
{
    int64_t sum = 0;
    int64_t ends[2] = {INT64_MIN, INT64_MIN};
    if (span->done > 0) {
        ends[0] = -((int64_t)span->begin_ns - job->offset_ns);
        ends[1] = (int64_t)span->end_ns - job->offset_ns;
    }
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, sw_ranks);
    MPI_Reduce(&span->done, &sum, 1, MPI_INT64_T, MPI_SUM, 0, sw_ranks);
    phase->operations = sum;
    phase->seconds = ends[1] > INT64_MIN ? (double)(ends[1] + ends[0]) / 1e9 : 0;
    sw_histogram_reduce(&phase->histogram, sw_ranks);
    find_extreme(job, span, true, &phase->slowest);
    find_extreme(job, span, false, &phase->fastest);
}

/* Records that all ranks have completed it. */
static void note_done(struct sw_rank *rank, enum sw_operation operation, int64_t done)
{
    if (operation == SW_CREATE)
        rank->files = done;
    else if (operation == SW_CREATE_DIRECTORY)
        rank->directories = done;
    else if (operation == SW_RENAME)
        rank->renamed = true;
    else if (operation == SW_REMOVE)
        rank->files = rank->made_files = 0;
    else if (operation == SW_REMOVE_DIRECTORY)
        rank->directories = rank->made_directories = 0;
    else if (operation == SW_REMOVE_TREE)
        rank->made_tree = 0;
}

bool sw_phase_make(struct sw_rank *rank, enum sw_operation operation, int64_t repeat,
                   struct sw_phase *phase)
{
    double stonewall = rank->options->stonewall_seconds;
    bool walled = stonewall > 0 && (operation == SW_CREATE || operation == SW_CREATE_DIRECTORY);
    int64_t count = count_of(rank, operation);
    struct span span = {0};
    uint64_t wall_ns = SW_NO_WALL;
    phase->operation = operation;
    phase->repeat = repeat;
    sw_histogram_clear(&phase->histogram);
    prepare(rank, operation, repeat);
    MPI_Barrier(sw_ranks);
    phase->begun = MPI_Wtime();
    if (walled)
        wall_ns = sw_now_ns() + (uint64_t)(stonewall * 1e9);
    operate(rank, operation, count, wall_ns, &span, &phase->histogram);
    if (walled)
        wear_out(rank, operation, &span, &phase->histogram, phase);
    note_made(rank, operation, span.done);
    bool good = sw_agree(rank->failure);
    phase->ended = MPI_Wtime();
    reduce(rank->job, &span, phase);
    if (good)
        note_done(rank, operation, span.done);
    return good;
}
