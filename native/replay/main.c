/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* stripewise-replay: load the plan, make the calls, report. */
#include "replay.h"
#include "stripewise/say.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *plan;
    const char *directory;
    const char *json;
    double compute;
    bool prepare;
    bool help;
};

static const char help[] =
    "Usage: mpiexec -n N " SW_REPLAY_PROGRAM " --plan FILE [OPTION...]\n"
    "Makes the I/O calls of a plan; `stripewise bench kernel --from TRACE` makes plans.\n"
    "\n"
    "  --plan FILE       the plan\n"
    "  --directory DIR   directory of its files              [default: .]\n"
    "  --compute WHAT    time between calls: keep, none, or a factor  [default: keep]\n"
    "  --prepare         remove what an earlier replay left, make the files that it reads, "
    "and stop\n"
    "  --json FILE       the result as JSON; - for standard output\n";

static bool compute_of(const char *text, double *factor)
{
    char *end = NULL;
    if (strcmp(text, "keep") == 0 || strcmp(text, "none") == 0) {
        *factor = text[0] == 'k' ? 1.0 : 0.0;
        return true;
    }
    *factor = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*factor) && *factor >= 0.0;
}

static bool parse(int argc, char **argv, struct options *options, char *trouble, size_t room)
{
    static const struct option known[] = {
        {"plan", required_argument, NULL, 'p'},
        {"directory", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},
        {"compute", required_argument, NULL, 'c'},
        {"prepare", no_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int found;
    opterr = 0;
    *options = (struct options){.directory = ".", .compute = 1.0};
    while ((found = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (found == 'p')
            options->plan = optarg;
        else if (found == 'd')
            options->directory = optarg;
        else if (found == 'j')
            options->json = optarg;
        else if (found == 'r')
            options->prepare = true;
        else if (found == 'h')
            options->help = true;
        else if (found != 'c' || !compute_of(optarg, &options->compute)) {
            snprintf(trouble, room, "%s: no such option, or not its value; see --help",
                     found == 'c' ? optarg : argv[optind - 1]);
            return false;
        }
    }
    if (options->help || (options->plan != NULL && optind == argc))
        return true;
    snprintf(trouble, room, "give --plan FILE and options alone; see --help");
    return false;
}

/* Printed by rank 0; the result is the same on all ranks. */
static int agree(bool good, const char *trouble, int code)
{
    int rank = 0;
    int bad = !good;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0 && bad)
        sw_say(SW_REPLAY_PROGRAM ": %s", trouble);
    return bad ? code : SW_EXIT_OK;
}

static int replay(const struct options *options, struct sw_replay_plan *plan, FILE *json)
{
    static struct sw_replay_run run;
    run.plan = plan;
    run.compute = options->compute;
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &run.signals);
    sw_replay_make_groups(&run);
    double start = MPI_Wtime();
    sw_replay_execute(&run);
    MPI_Barrier(MPI_COMM_WORLD);
    bool good = sw_replay_report(&run, json, MPI_Wtime() - start);
    MPI_Comm_free(&run.signals);
    return agree(good, "the result could not be written", SW_EXIT_FAILED);
}

static int run(const struct options *options)
{
    static struct sw_replay_plan plan;
    char trouble[1024] = "";
    FILE *json = NULL;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool good = sw_replay_load(options->plan, options->directory, &plan, trouble, sizeof trouble);
    if (!good) {
        /* A rank's own section may be damaged: the lowest rank that knows the reason prints it. */
        int teller[2] = {trouble[0] == '\0', rank};
        MPI_Allreduce(MPI_IN_PLACE, teller, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
        if (rank == teller[1])
            sw_say(SW_REPLAY_PROGRAM ": %s", trouble);
        return SW_EXIT_USAGE;
    }
    if (options->prepare) {
        good = rank != 0 || sw_replay_prepare(&plan, options->directory, trouble, sizeof trouble);
        return agree(good, trouble, SW_EXIT_FAILED);
    }
    if (rank == 0 && options->json != NULL) {
        json = strcmp(options->json, "-") == 0 ? stdout : fopen(options->json, "w");
        good = json != NULL;
        if (!good)
            snprintf(trouble, sizeof trouble, "cannot write %s: %s", options->json,
                     strerror(errno));
    }
    int code = agree(good, trouble, SW_EXIT_FAILED);
    return code != SW_EXIT_OK ? code : replay(options, &plan, json);
}

int main(int argc, char **argv)
{
    struct options options;
    char trouble[512] = "";
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool good = parse(argc, argv, &options, trouble, sizeof trouble);
    int code = agree(good, trouble, SW_EXIT_USAGE);
    if (code == SW_EXIT_OK && options.help && rank == 0)
        fputs(help, stdout);
    if (code == SW_EXIT_OK && !options.help)
        code = run(&options);
    MPI_Finalize();
    return code;
}
