/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Failures, signals, and the repeats, each of which has the phases in their order. */
#include "metadata.h"
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures: kept, not acted on; ranks agree before anybody stops --------------------------
 */

volatile sig_atomic_t sw_stopped = 0;

static const char *remedy_of(int number)
{
    static const struct {
        int number;
        const char *remedy;
    } rows[] = {
        {ENOSPC, "free some space or inodes, or give fewer --files"},
        {EDQUOT, "the quota is used up: give fewer --files or another --directory"},
        {EACCES, "give a --directory that you may write to"},
        {EPERM, "give a --directory that you may write to"},
        {EROFS, "give a --directory that can be written"},
        {EMLINK, "give fewer --files, a tree (--depth, --width) or --sharing own"},
        {ENAMETOOLONG, "give a --directory with a shorter path, or less --depth"},
        {ENOENT, "see that nothing else removes files there"},
        {ENOTEMPTY, "something else put files there: remove the directory by hand"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return rows[i].remedy;
    return "see that the file system works";
}

int sw_fail(struct sw_failure *failure, const char *call, const char *path, int number,
            const char *text)
{
    if (failure->failed)
        return -1; /* later failures that follow from the first one are not helpful */
    failure->failed = 1;
    snprintf(failure->call, sizeof failure->call, "%s", call);
    snprintf(failure->path, sizeof failure->path, "%s", path);
    if (number != 0)
        snprintf(failure->text, sizeof failure->text, "%s; %s", strerror(number),
                 remedy_of(number));
    else
        snprintf(failure->text, sizeof failure->text, "%s", text);
    return -1;
}

bool sw_agree(const struct sw_failure *failure)
{
    int any[2] = {failure->failed, (int)sw_stopped};
    MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, sw_ranks);
    if (any[1] != 0)
        sw_stopped = any[1];
    return any[0] == 0 && any[1] == 0;
}

/* "rank 3: open(/scratch/...): No space left on device; free some ..." */
static void tell(void *data, int rank, const void *record)
{
    struct sw_result *result = data;
    const struct sw_failure *failure = record;
    size_t room = sizeof result->failures / sizeof result->failures[0];
    result->n_failures++;
    if ((size_t)result->n_failures_told < room)
        snprintf(result->failures[result->n_failures_told++], sizeof result->failures[0],
                 "rank %d: %s(%s): %s", rank, failure->call, failure->path, failure->text);
}

static void collect_failures(struct sw_result *result, const struct sw_failure *failure)
{
    sw_failures_gather(sw_ranks, failure, failure->failed, sizeof *failure, tell, result);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void on_signal(int number)
{
    sw_stopped = number;
}

/* A second signal has its usual effect. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool is_wanted(const struct sw_rank *rank, enum sw_operation operation)
{
    if (operation == SW_CREATE_TREE || operation == SW_REMOVE_TREE)
        return rank->tree.n_directories > 1;
    return rank->options->wanted[operation];
}

/* The tree can be removed once it is empty. */
static bool make_phases(struct sw_rank *rank, int64_t repeat, struct sw_meeting *meeting,
                        struct sw_result *result)
{
    struct sw_phase spare = {0};
    bool good = sw_rank_begin(rank);
    for (int o = 0; o < SW_OPERATIONS && good; o++) {
        bool is_last = o == SW_REMOVE_TREE;
        if (!is_wanted(rank, o) || (is_last && (rank->files > 0 || rank->directories > 0)))
            continue;
        sw_meeting_at(meeting, o < SW_STAT ? SW_MEET_FIRST : SW_MEET_SECOND);
        struct sw_phase *phase =
            result->phases != NULL ? &result->phases[result->n_phases] : &spare;
        good = sw_phase_make(rank, o, repeat, phase);
        result->n_phases += good;
    }
    return good;
}

static void repeat_all(struct sw_rank *rank, struct sw_meeting *meeting, struct sw_result *result)
{
    bool good = true;
    for (int64_t repeat = 1; repeat <= rank->options->repeats && good; repeat++) {
        good = make_phases(rank, repeat, meeting, result);
        sw_rank_clean(rank);
        good = sw_agree(rank->failure) && good && !rank->left;
    }
}

static bool make_room(const struct sw_options *options, const struct sw_job *job,
                      struct sw_result *result, struct sw_failure *failure)
{
    size_t most = (size_t)options->repeats * SW_OPERATIONS;
    if (job->rank == 0 && (result->phases = calloc(most, sizeof *result->phases)) == NULL)
        sw_fail(failure, "malloc", options->directory, 0, "out of memory; give fewer --repeats");
    return sw_agree(failure);
}

static int end_of(struct sw_result *result, const struct sw_failure *failure)
{
    bool good = sw_agree(failure);
    result->signal = (int)sw_stopped;
    collect_failures(result, failure);
    if (result->signal != 0)
        return 128 + result->signal;
    return good ? SW_EXIT_OK : SW_EXIT_FAILED;
}

int sw_run(const struct sw_options *options, struct sw_job *job, struct sw_meeting *meeting,
           struct sw_result *result)
{
    struct timespec now;
    struct sw_failure failure = {0};
    struct sw_rank rank = {0};
    *result = (struct sw_result){.meeting = meeting};
    clock_gettime(CLOCK_REALTIME, &now);
    result->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    double start = MPI_Wtime();
    catch_signals();
    if (make_room(options, job, result, &failure)) {
        bool good = sw_job_begin(options, job, &failure);
        sw_rank_prepare(&rank, options, job, &failure);
        if (sw_agree(&failure) && good)
            repeat_all(&rank, meeting, result);
        sw_meeting_at(meeting, SW_MEET_END);
        result->n_directories = rank.tree.n_directories;
        result->left = rank.left;
        if (job->rank == 0 && job->directory[0] != '\0' && !rank.left)
            sw_job_end(job, &failure);
        sw_rank_free(&rank);
    }
    sw_meeting_at(meeting, SW_MEET_END); /* also after an earlier failure */
    result->elapsed_seconds = MPI_Wtime() - start;
    return end_of(result, &failure);
}
