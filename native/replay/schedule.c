/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Merges folded runs of calls by their order: a heap whose top is the run with the next call. */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

const char *const sw_replay_phases[] = {"open",  "read", "write", "sync",
                                        "close", "meta", "wait",  "compute"};

static int64_t at_levels(int64_t k, const int64_t *inner, const int64_t *stride)
{
    int64_t first = inner[0] > 0 ? inner[0] : INT64_MAX;
    int64_t second = inner[1] > 0 ? inner[1] : INT64_MAX;
    int64_t outer = k / first;
    return k % first * stride[0] + outer % second * stride[1] + outer / second * stride[2];
}

static int64_t next_place(const struct sw_replay_call *call)
{
    return call->place + at_levels(call->done, call->inner, call->place_stride);
}

/* ---- heap ------------------------------------------------------------------------------ */

struct entry {
    int64_t place;
    struct sw_replay_call *call;
};

static void sink(struct entry *heap, int64_t count, int64_t at)
{
    struct entry moved = heap[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && heap[child + 1].place < heap[child].place)
            child++;
        if (heap[child].place >= moved.place)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* ---- one call ----------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* A sleep ends late, and other ranks may wait for this one: the last part is a busy wait. */
#define LATE_SECONDS 0.0002

static void rest(struct sw_replay_run *run, int64_t ns)
{
    double seconds = (double)ns / 1e9 * run->compute;
    if (seconds <= 0.0)
        return;
    double start = MPI_Wtime();
    if (seconds > LATE_SECONDS)
        sleep_for(seconds - LATE_SECONDS);
    while (MPI_Wtime() - start < seconds)
        continue;
    run->seconds[SW_PHASE_COMPUTE] += MPI_Wtime() - start;
}

static void make(struct sw_replay_run *run, struct sw_replay_call *call)
{
    struct sw_replay_plan *plan = run->plan;
    struct sw_replay_now now = {
        .call = call,
        .verb = plan->verbs[call->verb],
        .offset = call->offset,
        .file = call->file >= 0 ? &plan->files[call->file] : NULL,
        .object = call->object >= 0 ? &plan->objects[call->object] : NULL,
        .shape = call->detail >= 0 && call->detail < plan->n_shapes ? &plan->shapes[call->detail]
                                                                    : NULL,
    };
    if (call->offset >= 0)
        now.offset += at_levels(call->done, call->inner, call->stride);
    sw_replay_take(run, &now);
    rest(run, call->done == 0 ? call->gap : call->rest);
    run->moved = call->bytes;
    double start = MPI_Wtime();
    now.verb->call(run, &now);
    run->seconds[now.verb->phase] += MPI_Wtime() - start;
    run->calls[now.verb->phase]++;
    if (now.verb->phase == SW_PHASE_READ)
        run->read_bytes += run->moved;
    if (now.verb->phase == SW_PHASE_WRITE)
        run->write_bytes += run->moved;
}

void sw_replay_execute(struct sw_replay_run *run)
{
    struct sw_replay_plan *plan = run->plan;
    int64_t count = plan->n_calls;
    struct entry *heap = sw_replay_memory(((size_t)count + 1) * sizeof *heap);
    for (int64_t i = 0; i < count; i++)
        heap[i] = (struct entry){.place = next_place(&plan->calls[i]), .call = &plan->calls[i]};
    for (int64_t i = count / 2 - 1; i >= 0; i--)
        sink(heap, count, i);
    sw_replay_make_buffers(run);
    MPI_Barrier(MPI_COMM_WORLD);
    while (count > 0) {
        struct sw_replay_call *call = heap[0].call;
        make(run, call);
        if (++call->done < call->count)
            heap[0].place = next_place(call);
        else
            heap[0] = heap[--count];
        sink(heap, count, 0);
    }
    free(heap);
    sw_replay_free_buffers(run);
}
