/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many runs of the kernel in one start of mpiexec: kernel_batch FILE, a line of options a run.
 * Rank 0 prints "CODE VERDICT OPTIONS", and what went wrong.
 */
#include "../../native/kernels/kernel.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64

static int split(char *line, char **words)
{
    int n = 0;
    words[n++] = (char *)"kernel";
    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok(line, " "); word != NULL && n < MAX_WORDS - 1;
         word = strtok(NULL, " "))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

static void tell(int code, const struct sw_result *result, const char *line)
{
    char text[512] = "";
    printf("%d %s %s\n", code, result->verdict == SW_VERDICT_RIGHT ? "right" : "unproved", line);
    for (int f = 0; f < result->n_failures_told; f++)
        printf("  %s\n", result->failures[f]);
    if (result->verdict == SW_VERDICT_WRONG) {
        sw_mismatch_text(result, text, sizeof text);
        printf("  %s\n", text);
    }
    fflush(stdout);
}

static void run(const char *line, int rank, int n_ranks)
{
    static struct sw_options options;
    static struct sw_result result;
    char copy[4096];
    char trouble[512] = "";
    char *words[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", line);
    int n = split(copy, words);
    optind = 0;
    if (!sw_options_parse(n, words, &options, trouble, sizeof trouble) ||
        !sw_options_check(&options, rank, n_ranks, trouble, sizeof trouble)) {
        if (rank == 0)
            printf("2 refused %s\n  %s\n", line, trouble);
        return;
    }
    int code = sw_run(&options, MPI_COMM_WORLD, NULL, &result);
    if (rank == 0)
        tell(code, &result, line);
    sw_result_free(&result);
}

int main(int argc, char **argv)
{
    char line[4096];
    int rank = 0;
    int n_ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    FILE *lines = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (lines == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (fgets(line, sizeof line, lines) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        run(line, rank, n_ranks);
    }
    fclose(lines);
    MPI_Finalize();
    return 0;
}
