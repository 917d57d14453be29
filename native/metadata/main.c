/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-metadata: parse, run, report; the same exit code on every rank. */
#include "metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "stripewise-metadata"

/* Options on all ranks; the lowest rank with trouble tells it. */
static int understand(int argc, char **argv, struct sw_options *options)
{
    char trouble[512] = "";
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool good = sw_options_parse(argc, argv, options, trouble, sizeof trouble);
    if (good && !options->help && !options->version)
        good = sw_options_check(options, trouble, sizeof trouble);
    int first = good ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == rank)
        fprintf(stderr, PROGRAM ": %s\n", trouble);
    return first == size ? SW_EXIT_OK : SW_EXIT_USAGE;
}

/* Opened before the run, so that a bad path costs no time.  Agreed on by all ranks. */
static int open_json(const struct sw_options *options, int rank, FILE **stream)
{
    int code = SW_EXIT_OK;
    if (rank == 0 && options->json != NULL) {
        *stream = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
        if (*stream == NULL) {
            fprintf(stderr, PROGRAM ": --json: cannot write %s: %s; give another path\n",
                    options->json, strerror(errno));
            code = SW_EXIT_FAILED;
        }
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

static void tell_errors(const struct sw_job *job, const struct sw_result *result)
{
    for (int f = 0; f < result->n_failures_told; f++)
        fprintf(stderr, PROGRAM ": %s\n", result->failures[f]);
    if (result->n_failures > result->n_failures_told)
        fprintf(stderr, PROGRAM ": and %d rank(s) more\n",
                result->n_failures - result->n_failures_told);
    if (result->signal != 0)
        fprintf(stderr, PROGRAM ": ended by signal %d (%s)\n", result->signal,
                strsignal(result->signal));
    if (result->left)
        fprintf(stderr, PROGRAM ": files are left in %s: remove that directory\n", job->directory);
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
        fprintf(stderr, PROGRAM ": the result could not be written: %s\n", strerror(errno));
    tell_errors(job, result);
    return good;
}

static int run(const struct sw_options *options, int argc, char **argv)
{
    static struct sw_job job;
    struct sw_result result;
    FILE *json = NULL;
    sw_job_find(options, &job);
    int code = open_json(options, job.rank, &json);
    if (code != SW_EXIT_OK)
        return code;
    code = sw_run(options, &job, &result);
    if (job.rank == 0 && !report(options, &job, &result, json, argc, argv) && code == SW_EXIT_OK)
        code = SW_EXIT_FAILED;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
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
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char **given = copy_of(argc, argv);
    int code = understand(argc, argv, &options);
    if (code == SW_EXIT_OK && options.help) {
        if (rank == 0)
            sw_help_print();
    } else if (code == SW_EXIT_OK && options.version) {
        if (rank == 0)
            printf(PROGRAM " %s\n", SW_METADATA_VERSION);
    } else if (code == SW_EXIT_OK) {
        code = run(&options, given != NULL ? argc : 0, given);
    }
    free(given);
    MPI_Finalize();
    return code;
}
