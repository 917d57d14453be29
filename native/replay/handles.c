/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Open files, communicators, hints, waiting for other ranks, and handling of failures. */
#define _GNU_SOURCE
#include "replay.h"
#include "stripewise/say.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *sw_replay_memory(size_t bytes)
{
    void *memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == NULL) {
        sw_say(SW_REPLAY_PROGRAM ": out of memory for %zu bytes", bytes);
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
        abort();
    }
    return memory;
}

_Noreturn void sw_replay_die(const struct sw_replay_now *now, const char *call, const char *format,
                             ...)
{
    char text[512];
    int rank = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sw_say(SW_REPLAY_PROGRAM ": rank %d: %s on %s failed: %s", rank, call,
           now->file != NULL ? now->file->path : "no file", text);
    fflush(NULL);
    /* MPICH's launcher loses output in transit when ranks abort. */
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
    abort();
}

void sw_replay_miss(struct sw_replay_run *run, const struct sw_replay_now *now, const char *call,
                    const char *why)
{
    if (run->failures++ == 0)
        snprintf(run->first_failure, sizeof run->first_failure, "%s on %s: %s", call,
                 now->file != NULL ? now->file->path : "no file", why);
}

void sw_replay_check_mpi(const struct sw_replay_now *now, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length == 0)
        snprintf(text, sizeof text, "MPI error %d", code);
    sw_replay_die(now, call, "%s", text);
}

/* ---- handles ----------------------------------------------------------------------------- */

struct sw_replay_handle *sw_replay_push(const struct sw_replay_now *now,
                                        enum sw_replay_layer layer, void *state)
{
    struct sw_replay_handle *handle = sw_replay_memory(sizeof *handle);
    handle->below = now->file->handle[layer];
    handle->unit = 1;
    handle->state = state;
    now->file->handle[layer] = handle;
    return handle;
}

struct sw_replay_handle *sw_replay_handle(const struct sw_replay_now *now,
                                          enum sw_replay_layer layer)
{
    struct sw_replay_handle *handle = now->file != NULL ? now->file->handle[layer] : NULL;
    if (handle == NULL)
        sw_replay_die(now, now->verb->name,
                      "the file is not open: the trace holds no open of it before this call");
    return handle;
}

void sw_replay_pop(const struct sw_replay_now *now, enum sw_replay_layer layer)
{
    struct sw_replay_handle *handle = now->file->handle[layer];
    now->file->handle[layer] = handle->below;
    free(handle);
}

/* ---- communicators ------------------------------------------------------------------------ */

static bool is_member(const struct sw_replay_group *group, int rank)
{
    for (int64_t i = 0; i < group->n_ranks; i++)
        if (group->ranks[i] == rank)
            return true;
    return false;
}

static void make_group(struct sw_replay_group *group, int tag)
{
    MPI_Group world;
    MPI_Group part;
    int *ranks = sw_replay_memory((size_t)group->n_ranks * sizeof *ranks);
    for (int64_t i = 0; i < group->n_ranks; i++)
        ranks[i] = (int)group->ranks[i];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, (int)group->n_ranks, ranks, &part);
    MPI_Comm_create_group(MPI_COMM_WORLD, part, tag, &group->comm);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    free(ranks);
}

/* All ranks process them in the same order, so that there is no deadlock. */
void sw_replay_make_groups(struct sw_replay_run *run)
{
    for (int64_t i = 0; i < run->plan->n_groups; i++)
        if (is_member(&run->plan->groups[i], run->rank))
            make_group(&run->plan->groups[i], (int)(i % 32768));
}

MPI_Comm sw_replay_comm(const struct sw_replay_run *run, const struct sw_replay_now *now)
{
    int64_t group = now->call->group;
    if (group <= 0)
        return group == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF;
    if (group == 1)
        return MPI_COMM_SELF;
    MPI_Comm comm = run->plan->groups[group - 2].comm;
    if (comm == MPI_COMM_NULL)
        sw_replay_die(now, now->verb->name, "this rank is not among those that open it together");
    return comm;
}

MPI_Info sw_replay_info(const struct sw_replay_now *now)
{
    MPI_Info info = MPI_INFO_NULL;
    if (now->file->n_hints == 0)
        return info;
    MPI_Info_create(&info);
    for (int64_t i = 0; i < now->file->n_hints; i++)
        MPI_Info_set(info, now->file->hints[2 * i], now->file->hints[2 * i + 1]);
    return info;
}

/* ---- waiting for other ranks -------------------------------------------------------------- */

/* `bytes` is the file's number, which distinguishes several signals of a pair. */
static void give_signal(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    MPI_Send(NULL, 0, MPI_BYTE, (int)now->offset, (int)(now->call->bytes % 32768), run->signals);
}

static void take_signal(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    MPI_Recv(NULL, 0, MPI_BYTE, (int)now->offset, (int)(now->call->bytes % 32768), run->signals,
             MPI_STATUS_IGNORE);
}

static void meet(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    MPI_Barrier(sw_replay_comm(run, now));
}

const struct sw_replay_verb sw_replay_sync[] = {
    {"sync.signal", SW_PHASE_WAIT, give_signal},
    {"sync.barrier", SW_PHASE_WAIT, meet},
    {"sync.wait", SW_PHASE_WAIT, take_signal},
    {NULL, 0, NULL},
};
