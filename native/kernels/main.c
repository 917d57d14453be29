/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-kernel: parse, run, report; the same exit code on every rank. */
#define _GNU_SOURCE
#include "report.h"
#include "stripewise/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "stripewise-kernel"

/* All ranks have one; the lowest rank with trouble tells it. */
static int tell_trouble(MPI_Comm comm, bool good, const char *trouble)
{
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int first = good ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == rank)
        sw_say(PROGRAM ": %s", trouble);
    return first == size ? SW_EXIT_OK : SW_EXIT_USAGE;
}

/* False: nothing is to be measured. */
static bool runs(const struct sw_options *options)
{
    return !options->help && !options->version;
}

/* The options, on all ranks of this application. */
static int understand(int argc, char **argv, const struct sw_meeting *meeting,
                      struct sw_options *options)
{
    char trouble[512] = "";
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(meeting->comm, &rank);
    MPI_Comm_size(meeting->comm, &size);
    bool good = sw_options_parse(argc, argv, options, trouble, sizeof trouble);
    if (good && runs(options))
        good = sw_options_check(options, rank, size, trouble, sizeof trouble);
    return tell_trouble(meeting->comm, good, trouble);
}

/* That the applications do not use each other's files; on all ranks of all. */
static int check_meeting(const struct sw_meeting *meeting, const struct sw_options *options)
{
    char trouble[512] = "";
    struct sw_plan plan = {options->write, options->file, options->json};
    bool good = sw_meeting_check(meeting, &plan, trouble, sizeof trouble);
    return sw_meeting_agree(meeting, tell_trouble(meeting->comm, good, trouble), true);
}

/* Opened before the run, so that a bad path costs no time.  Agreed on by all ranks. */
static int open_json(const struct sw_options *options, const struct sw_meeting *meeting,
                     FILE **stream)
{
    int rank = 0;
    int code = SW_EXIT_OK;
    MPI_Comm_rank(meeting->comm, &rank);
    if (rank == 0 && options->json != NULL) {
        *stream = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
        if (*stream == NULL) {
            sw_say(PROGRAM ": --json: cannot write %s: %s", options->json, strerror(errno));
            code = SW_EXIT_FAILED;
        }
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, meeting->comm);
    return sw_meeting_agree(meeting, code, true);
}

static void tell_errors(const struct sw_result *result)
{
    char text[512];
    for (int f = 0; f < result->n_failures_told; f++)
        sw_say(PROGRAM ": %s", result->failures[f]);
    if (result->n_failures > result->n_failures_told)
        sw_say(PROGRAM ": and %d rank(s) more", result->n_failures - result->n_failures_told);
    if (result->verdict == SW_VERDICT_WRONG) {
        sw_mismatch_text(result, text, sizeof text);
        sw_say(PROGRAM ": verification failed: %s", text);
    }
}

/* False if the JSON could not be written. */
static bool report(const struct sw_options *options, const struct sw_result *result, FILE *json,
                   int argc, char **argv)
{
    bool good = true;
    if (json != stdout)
        sw_report_table(stdout, options, result);
    if (json != NULL)
        sw_report_json(json, options, result, argc, argv);
    if (json != NULL && json != stdout)
        good = fclose(json) == 0;
    good = fflush(stdout) == 0 && good;
    if (!good)
        sw_say(PROGRAM ": the result could not be written: %s", strerror(errno));
    tell_errors(result);
    return good;
}

/* MPI_Finalize would close what cannot be closed; all has been said by now. */
static void end_here(MPI_Comm comm, int rank, int code)
{
    if (rank == 0) {
        /* MPICH's launcher loses what is on its way when ranks abort. */
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Barrier(comm);
}

/* Each application in its turn. */
static int report_in_turn(const struct sw_options *options, const struct sw_meeting *meeting,
                          const struct sw_result *result, FILE *json, int argc, char **argv)
{
    int rank = 0;
    int code = SW_EXIT_OK;
    MPI_Comm_rank(meeting->comm, &rank);
    for (int application = 0; application < meeting->n_applications; application++) {
        if (application == meeting->number && rank == 0 &&
            !report(options, result, json, argc, argv))
            code = SW_EXIT_FAILED;
        sw_meeting_said(meeting);
    }
    return code;
}

static int run(const struct sw_options *options, struct sw_meeting *meeting, int argc, char **argv)
{
    FILE *json = NULL;
    int rank = 0;
    int code = open_json(options, meeting, &json);
    struct sw_result *result = code == SW_EXIT_OK ? malloc(sizeof *result) : NULL;
    if (code != SW_EXIT_OK)
        return code;
    if (result == NULL)
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
    MPI_Comm_rank(meeting->comm, &rank);
    code = sw_run(options, meeting->comm, meeting, result);
    int told = report_in_turn(options, meeting, result, json, argc, argv);
    code = told != SW_EXIT_OK ? told : code;
    MPI_Bcast(&code, 1, MPI_INT, 0, meeting->comm);
    if (result->abandoned)
        end_here(meeting->comm, rank, code);
    sw_result_free(result);
    free(result);
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
    static struct sw_options options; /* large: holds the hints */
    struct sw_meeting meeting;
    int rank = 0;
    sw_meeting_before_init();
    MPI_Init(&argc, &argv);
    sw_meeting_make(&meeting);
    MPI_Comm_rank(meeting.comm, &rank);
    char **given = copy_of(argc, argv);
    int code = understand(argc, argv, &meeting, &options);
    code = sw_meeting_agree(&meeting, code, runs(&options));
    if (code == SW_EXIT_OK && runs(&options))
        code = check_meeting(&meeting, &options);
    if (code == SW_EXIT_OK && options.help) {
        if (rank == 0)
            sw_help_print();
    } else if (code == SW_EXIT_OK && options.version) {
        if (rank == 0)
            printf(PROGRAM " %s\n", SW_KERNEL_VERSION);
    } else if (code == SW_EXIT_OK) {
        code = run(&options, &meeting, given != NULL ? argc : 0, given);
    }
    free(given);
    sw_meeting_free(&meeting);
    MPI_Finalize();
    return code;
}
