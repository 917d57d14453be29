/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-kernel: parse, run, report; the same exit code on every rank. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "stripewise-kernel"

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
        good = sw_options_check(options, size, trouble, sizeof trouble);
    int first = good ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == rank)
        fprintf(stderr, PROGRAM ": %s\n", trouble);
    return first == size ? SW_EXIT_OK : SW_EXIT_USAGE;
}

/* Opened before the run, so that a bad path costs no time.  Agreed on by all ranks. */
static int open_json(const struct sw_options *options, FILE **stream)
{
    int rank = 0;
    int code = SW_EXIT_OK;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && options->json != NULL) {
        *stream = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
        if (*stream == NULL) {
            fprintf(stderr, PROGRAM ": --json: cannot write %s: %s\n", options->json,
                    strerror(errno));
            code = SW_EXIT_FAILED;
        }
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

static void tell_errors(const struct sw_result *result)
{
    char text[512];
    for (int f = 0; f < result->n_failures_told; f++)
        fprintf(stderr, PROGRAM ": %s\n", result->failures[f]);
    if (result->n_failures > result->n_failures_told)
        fprintf(stderr, PROGRAM ": and %d rank(s) more\n",
                result->n_failures - result->n_failures_told);
    if (result->verdict == SW_VERDICT_WRONG) {
        sw_mismatch_text(result, text, sizeof text);
        fprintf(stderr, PROGRAM ": verification failed: %s\n", text);
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
        fprintf(stderr, PROGRAM ": the result could not be written: %s\n", strerror(errno));
    tell_errors(result);
    return good;
}

/* MPI_Finalize would close what cannot be closed; all has been said by now. */
static void end_here(int rank, int code)
{
    if (rank == 0) {
        /* MPICH's launcher loses what is on its way when ranks abort. */
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int run(const struct sw_options *options, int argc, char **argv)
{
    FILE *json = NULL;
    int rank = 0;
    int code = open_json(options, &json);
    struct sw_result *result = code == SW_EXIT_OK ? malloc(sizeof *result) : NULL;
    if (code != SW_EXIT_OK)
        return code;
    if (result == NULL)
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    code = sw_run(options, MPI_COMM_WORLD, result);
    if (rank == 0 && !report(options, result, json, argc, argv))
        code = SW_EXIT_FAILED;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (result->abandoned)
        end_here(rank, code);
    free(result->steps);
    sw_share_free(&result->share);
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
            printf(PROGRAM " %s\n", SW_KERNEL_VERSION);
    } else if (code == SW_EXIT_OK) {
        code = run(&options, given != NULL ? argc : 0, given);
    }
    free(given);
    MPI_Finalize();
    return code;
}
