/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"
#include "stripewise/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All ranks have a code; the lowest rank with an error prints it. */
static int tell_trouble(const struct sw_program *program, MPI_Comm comm, bool good,
                        const char *trouble)
{
    int rank = sw_rank_in(comm);
    int size = sw_size_of(comm);
    int first = good ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == rank)
        sw_say("%s: %s", program->name, trouble);
    return first == size ? SW_EXIT_OK : SW_EXIT_USAGE;
}

/* Returns false if nothing is to be measured. */
static bool runs(const struct sw_request *request)
{
    return !request->help && !request->version;
}

/* Parses the options, on all ranks of this application. */
static int understand(const struct sw_program *program, int argc, char **argv,
                      const struct sw_meeting *meeting, struct sw_request *request)
{
    char trouble[512] = "";
    bool good = program->understand(argc, argv, meeting->comm, request, trouble, sizeof trouble);
    int code = tell_trouble(program, meeting->comm, good, trouble);
    return sw_meeting_agree(meeting, code, runs(request));
}

/* Checks that the applications do not use each other's files; on all ranks of all. */
static int check_meeting(const struct sw_program *program, const struct sw_meeting *meeting,
                         const struct sw_plan *plan)
{
    char trouble[512] = "";
    bool good = sw_meeting_check(meeting, plan, trouble, sizeof trouble);
    return sw_meeting_agree(meeting, tell_trouble(program, meeting->comm, good, trouble), true);
}

/* Opened before the run, so that a bad path costs no time. All ranks of all applications agree. */
static int open_json(const struct sw_program *program, const char *path, int rank,
                     const struct sw_meeting *meeting, FILE **stream)
{
    int code = SW_EXIT_OK;
    if (rank == 0 && path != NULL) {
        *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
        if (*stream == NULL) {
            sw_say("%s: --json: cannot write %s: %s%s", program->name, path, strerror(errno),
                   program->json_remedy);
            code = SW_EXIT_FAILED;
        }
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, meeting->comm);
    return sw_meeting_agree(meeting, code, true);
}

/* Returns false if the result could not be written. */
static bool report(const struct sw_program *program, FILE *json, int argc, char **argv)
{
    bool good = true;
    if (json != stdout)
        program->print_table(stdout);
    if (json != NULL)
        program->print_json(json, argc, argv);
    if (json != NULL && json != stdout)
        good = fclose(json) == 0;
    good = fflush(stdout) == 0 && good;
    if (!good)
        sw_say("%s: the result could not be written: %s", program->name, strerror(errno));
    program->tell_errors();
    return good;
}

/* Runs, and reports: each application in its turn. */
static int run(const struct sw_program *program, const char *json_path, struct sw_meeting *meeting,
               int argc, char **argv)
{
    FILE *json = NULL;
    int rank = sw_rank_in(meeting->comm);
    int code = open_json(program, json_path, rank, meeting, &json);
    if (code != SW_EXIT_OK)
        return code;
    code = program->run(meeting);
    for (int application = 0; application < meeting->n_applications; application++) {
        if (application == meeting->number && rank == 0 && !report(program, json, argc, argv) &&
            code == SW_EXIT_OK)
            code = SW_EXIT_FAILED;
        sw_meeting_said(meeting);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, meeting->comm);
    program->end(meeting->comm, code);
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

int sw_program_main(const struct sw_program *program, int argc, char **argv)
{
    struct sw_meeting meeting;
    struct sw_request request = {0};
    sw_meeting_before_init();
    MPI_Init(&argc, &argv);
    sw_meeting_make(&meeting);
    int rank = sw_rank_in(meeting.comm);
    char **given = copy_of(argc, argv);
    int code = understand(program, argc, argv, &meeting, &request);
    if (code == SW_EXIT_OK && runs(&request))
        code = check_meeting(program, &meeting, &request.plan);
    if (code == SW_EXIT_OK && runs(&request))
        code = run(program, request.plan.json, &meeting, given != NULL ? argc : 0, given);
    else if (code == SW_EXIT_OK && rank == 0 && request.help)
        program->print_help();
    else if (code == SW_EXIT_OK && rank == 0)
        printf("%s %s\n", program->name, program->version);
    free(given);
    sw_meeting_free(&meeting);
    MPI_Finalize();
    return code;
}

void sw_failures_gather(MPI_Comm comm, const void *failure, bool failed, size_t bytes,
                        void (*tell)(void *result, int rank, const void *failure), void *result)
{
    int own = failed;
    int rank = sw_rank_in(comm);
    int size = sw_size_of(comm);
    int *all = rank == 0 ? calloc((size_t)size, sizeof *all) : NULL;
    char *other = rank == 0 ? malloc(bytes) : NULL;
    int enough = rank != 0 || (all != NULL && other != NULL);
    MPI_Bcast(&enough, 1, MPI_INT, 0, comm);
    if (enough)
        MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    if (enough && rank != 0 && failed)
        MPI_Send(failure, (int)bytes, MPI_BYTE, 0, 3, comm);
    for (int r = 0; enough && rank == 0 && r < size; r++) {
        if (!all[r])
            continue;
        if (r != 0)
            MPI_Recv(other, (int)bytes, MPI_BYTE, r, 3, comm, MPI_STATUS_IGNORE);
        tell(result, r, r != 0 ? other : failure);
    }
    free(other);
    free(all);
}
