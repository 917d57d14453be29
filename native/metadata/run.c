/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The repeats, each of them the phases in their order. */
#include "metadata.h"

#include <stdlib.h>

static void on_signal(int number)
{
    sw_stopped = number;
}

/* The second one acts as it would have. */
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

/* The tree can be removed once nothing is in it. */
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
    sw_failures_collect(result, failure);
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
    sw_meeting_at(meeting, SW_MEET_END); /* also of what failed before */
    result->elapsed_seconds = MPI_Wtime() - start;
    return end_of(result, &failure);
}
