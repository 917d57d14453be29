/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-kernel: parse, run, report (program.h). */
#include "kernel.h"
#include "program.h"
#include "stripewise/say.h"

#include <time.h>

#define PROGRAM "stripewise-kernel"

static struct sw_options options; /* large: contains the hints */
static struct sw_result result;

static bool understand(int argc, char **argv, MPI_Comm comm, struct sw_request *request,
                       char *trouble, size_t bytes)
{
    bool good = sw_options_parse(argc, argv, &options, trouble, bytes);
    *request = (struct sw_request){
        .help = options.help,
        .version = options.version,
        .plan = {options.write, options.file, options.json},
    };
    if (!good || options.help || options.version)
        return good;
    return sw_options_check(&options, sw_rank_in(comm), sw_size_of(comm), trouble, bytes);
}

/* Prints --help, generated from the tables. */
static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS stripewise-kernel [OPTION]...\n"
           "\n"
           "Write and read arrays the way that simulation programs do, and report the times:\n"
           "minimum, median and maximum over the ranks, for each step and phase.\n"
           "\nPatterns (--pattern), with what --size takes:\n");
    for (size_t i = 0; sw_patterns[i] != NULL; i++)
        printf("  %-8s %s\n           --size %s\n", sw_patterns[i]->name, sw_patterns[i]->summary,
               sw_patterns[i]->size_help);
    printf("\nBack ends (--backend):\n");
    for (size_t i = 0; sw_backends[i] != NULL; i++)
        printf("  %-8s %s\n", sw_backends[i]->name, sw_backends[i]->summary);
    sw_command_print(sw_option_rows, 22);
    printf(
        "\nExit code: 0 all went well; 1 a call failed or an element is wrong; 2 the request is\n"
        "impossible.\n"
        "\nExamples:\n"
        "  mpiexec -n 4 stripewise-kernel --pattern array3d --backend mpiio --mode collective "
        "--size 256,256,256 --verify\n"
        "  mpiexec -n 4 stripewise-kernel --pattern btio --backend mpiio --size 64,64,64 "
        "--hint romio_ds_write=disable\n"
        "  mpiexec -n 2 stripewise-kernel --pattern flash --backend hdf5 --steps 3 "
        "--compute 0.5 --json out.json\n"
        "  mpiexec -n 2 stripewise-kernel --backend posix --layout per-process "
        "--op write-read --fsync\n"
        "  mpiexec -n 4 stripewise-kernel --backend adios2 --engine BP5 --parameter "
        "NumAggregators=1 --open-once --steps 4\n");
}

static int run(struct sw_meeting *meeting)
{
    return sw_run(&options, meeting->comm, meeting, &result);
}

static void print_table(FILE *stream)
{
    sw_report_table(stream, &options, &result);
}

static void print_json(FILE *stream, int argc, char **argv)
{
    sw_report_json(stream, &options, &result, argc, argv);
}

static void tell_errors(void)
{
    char text[512];
    for (int f = 0; f < result.n_failures_told; f++)
        sw_say(PROGRAM ": %s", result.failures[f]);
    if (result.n_failures > result.n_failures_told)
        sw_say(PROGRAM ": and %d rank(s) more", result.n_failures - result.n_failures_told);
    if (result.verdict == SW_VERDICT_WRONG) {
        sw_mismatch_text(&result, text, sizeof text);
        sw_say(PROGRAM ": verification failed: %s", text);
    }
}

/* MPI_Finalize would close what cannot be closed. */
static void end(MPI_Comm comm, int code)
{
    int rank = sw_rank_in(comm);
    if (result.abandoned && rank == 0) {
        /* MPICH's launcher loses output in transit when ranks abort. */
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    if (result.abandoned)
        MPI_Barrier(comm);
    sw_result_free(&result);
}

int main(int argc, char **argv)
{
    static const struct sw_program program = {
        .name = PROGRAM,
        .version = SW_KERNEL_VERSION,
        .json_remedy = "",
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
