/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-metadata: parse, run, report; the same exit code on every rank. */
#include "metadata.h"
#include "stripewise/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "stripewise-metadata"

MPI_Comm sw_ranks;

/* False: nothing is to be measured. */
static bool runs(const struct sw_options *options)
{
    return !options->help && !options->version;
}

/* Options on all ranks; the lowest rank with trouble tells it. */
static int understand(int argc, char **argv, struct sw_options *options)
{
    char trouble[512] = "";
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(sw_ranks, &rank);
    MPI_Comm_size(sw_ranks, &size);
    bool good = sw_options_parse(argc, argv, options, trouble, sizeof trouble);
    if (good && runs(options))
        good = sw_options_check(options, trouble, sizeof trouble);
    int first = good ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, sw_ranks);
    if (first == rank)
        sw_say(PROGRAM ": %s", trouble);
    return first == size ? SW_EXIT_OK : SW_EXIT_USAGE;
}

/* That the applications do not use each other's files; on all ranks of all. */
static int check_meeting(const struct sw_meeting *meeting, const struct sw_options *options,
                         int rank)
{
    char trouble[512] = "";
    struct sw_plan plan = {false, "", options->json};
    bool good = sw_meeting_check(meeting, &plan, trouble, sizeof trouble);
    if (!good && rank == 0)
        sw_say(PROGRAM ": %s", trouble);
    return sw_meeting_agree(meeting, good ? SW_EXIT_OK : SW_EXIT_USAGE, true);
}

/* Opened before the run, so that a bad path costs no time.  Agreed on by all ranks of all. */
static int open_json(const struct sw_options *options, int rank, const struct sw_meeting *meeting,
                     FILE **stream)
{
    int code = SW_EXIT_OK;
    if (rank == 0 && options->json != NULL) {
        *stream = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
        if (*stream == NULL) {
            sw_say(PROGRAM ": --json: cannot write %s: %s; give another path", options->json,
                   strerror(errno));
            code = SW_EXIT_FAILED;
        }
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, sw_ranks);
    return sw_meeting_agree(meeting, code, true);
}

static void tell_errors(const struct sw_job *job, const struct sw_result *result)
{
    for (int f = 0; f < result->n_failures_told; f++)
        sw_say(PROGRAM ": %s", result->failures[f]);
    if (result->n_failures > result->n_failures_told)
        sw_say(PROGRAM ": and %d rank(s) more", result->n_failures - result->n_failures_told);
    if (result->signal != 0)
        sw_say(PROGRAM ": ended by signal %d (%s)", result->signal, strsignal(result->signal));
    if (result->left)
        sw_say(PROGRAM ": files are left in %s: remove that directory", job->directory);
}

static bool report(const struct sw_options *options, const struct sw_job *job,
                   const struct sw_result *result, FILE *json, int argc, char **argv)
{
    bool good = true;
    if (json != stdout && !options->quiet)
        sw_report_table(stdout, options, job, result);
    if (json != NULL)
        sw_report_json(json, options, job, result, argc, argv);
    if (json != NULL && json != stdout)
        good = fclose(json) == 0;
    good = fflush(stdout) == 0 && good;
    if (!good)
        sw_say(PROGRAM ": the result could not be written: %s", strerror(errno));
    tell_errors(job, result);
    return good;
}

static int run(const struct sw_options *options, struct sw_meeting *meeting, int argc, char **argv)
{
    static struct sw_job job;
    struct sw_result result;
    FILE *json = NULL;
    sw_job_find(options, &job);
    int code = open_json(options, job.rank, meeting, &json);
    if (code != SW_EXIT_OK)
        return code;
    code = sw_run(options, &job, meeting, &result);
    for (int application = 0; application < meeting->n_applications; application++) {
        if (application == meeting->number && job.rank == 0 &&
            !report(options, &job, &result, json, argc, argv) && code == SW_EXIT_OK)
            code = SW_EXIT_FAILED;
        sw_meeting_said(meeting);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, sw_ranks);
    free(result.phases);
    return code;
}

/* getopt reorders its array; the report shows the arguments as given. */
static char **copy_of(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    for (int a = 0; copy != NULL && a < argc; a++)
        copy[a] = argv[a];
    return copy;
}

int main(int argc, char **argv)
{
    struct sw_options options;
    struct sw_meeting meeting;
    int rank = 0;
    sw_meeting_before_init();
    MPI_Init(&argc, &argv);
    sw_meeting_make(&meeting);
    sw_ranks = meeting.comm;
    MPI_Comm_rank(sw_ranks, &rank);
    char **given = copy_of(argc, argv);
    int code = understand(argc, argv, &options);
    code = sw_meeting_agree(&meeting, code, runs(&options));
    if (code == SW_EXIT_OK && runs(&options))
        code = check_meeting(&meeting, &options, rank);
    if (code == SW_EXIT_OK && options.help) {
        if (rank == 0)
            sw_help_print();
    } else if (code == SW_EXIT_OK && options.version) {
        if (rank == 0)
            printf(PROGRAM " %s\n", SW_METADATA_VERSION);
    } else if (code == SW_EXIT_OK) {
        code = run(&options, &meeting, given != NULL ? argc : 0, given);
    }
    free(given);
    sw_meeting_free(&meeting);
    MPI_Finalize();
    return code;
}
