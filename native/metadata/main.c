/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-metadata: parse, run, report (../kernels/program.h). */
#include "metadata.h"
#include "program.h"
#include "stripewise/say.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM "stripewise-metadata"

MPI_Comm sw_ranks;
static struct sw_options options;
static struct sw_job job;
static struct sw_result result;

static bool understand(int argc, char **argv, MPI_Comm comm, struct sw_request *request,
                       char *trouble, size_t bytes)
{
    sw_ranks = comm;
    bool good = sw_options_parse(argc, argv, &options, trouble, bytes);
    *request = (struct sw_request){
        .help = options.help,
        .version = options.version,
        .plan = {false, "", options.json},
    };
    if (!good || options.help || options.version)
        return good;
    return sw_options_check(&options, trouble, bytes);
}

/* Prints --help, generated from the tables. */
static void print_help(void)
{
    printf(
        "Usage: mpiexec -n RANKS stripewise-metadata [OPTION]...\n"
        "\n"
        "Time operations on files and directories: how many a second, and how long each takes.\n"
        "\nOperations (--phases), in their order; (*): by default:\n");
    for (int o = 0; o < SW_OPERATIONS; o++)
        printf("  %-17s %s%s\n", sw_operation_rows[o].name, sw_operation_rows[o].summary,
               sw_operation_rows[o].is_default              ? " (*)"
               : o == SW_CREATE_TREE || o == SW_REMOVE_TREE ? " (with --depth)"
                                                            : "");
    sw_command_print(sw_option_rows, 20);
    printf("\nAll files lie in a new directory stripewise-metadata-HEX, which is removed at the "
           "end.\n"
           "\nExit code: 0 all went well; 1 an operation failed; 2 the request is impossible; "
           "128 and\nmore: a signal ended it.\n"
           "\nExamples:\n"
           "  mpiexec -n 4 stripewise-metadata --directory /scratch/me --files 10000\n"
           "  mpiexec -n 4 stripewise-metadata --sharing own --file-bytes 3901 --fsync\n"
           "  mpiexec -n 4 stripewise-metadata --depth 3 --width 4 --spread leaves --random\n"
           "  mpiexec -n 4 stripewise-metadata --files 1000000 --stonewall 30 --json out.json\n");
}

static int run(struct sw_meeting *meeting)
{
    sw_job_find(&options, &job);
    return sw_run(&options, &job, meeting, &result);
}

static void print_table(FILE *stream)
{
    if (!options.quiet)
        sw_report_table(stream, &options, &job, &result);
}

static void print_json(FILE *stream, int argc, char **argv)
{
    sw_report_json(stream, &options, &job, &result, argc, argv);
}

static void tell_errors(void)
{
    for (int f = 0; f < result.n_failures_told; f++)
        sw_say(PROGRAM ": %s", result.failures[f]);
    if (result.n_failures > result.n_failures_told)
        sw_say(PROGRAM ": and %d rank(s) more", result.n_failures - result.n_failures_told);
    if (result.signal != 0)
        sw_say(PROGRAM ": ended by signal %d (%s)", result.signal, strsignal(result.signal));
    if (result.left)
        sw_say(PROGRAM ": files are left in %s: remove that directory", job.directory);
}

static void end(MPI_Comm comm, int code)
{
    (void)comm, (void)code;
    free(result.phases);
}

int main(int argc, char **argv)
{
    static const struct sw_program program = {
        .name = PROGRAM,
        .version = SW_METADATA_VERSION,
        .json_remedy = "; give another path",
        .understand = understand,
        .print_help = print_help,
        .run = run,
        .print_table = print_table,
        .print_json = print_json,
        .tell_errors = tell_errors,
        .end = end,
    };
    return sw_program_main(&program, argc, argv);
}
