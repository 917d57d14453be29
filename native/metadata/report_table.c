/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata.h"

#define MICROSECONDS 1e6

static double rate(const struct sw_phase *phase)
{
    return phase->seconds > 0 ? (double)phase->operations / phase->seconds : 0;
}

static void print_head(FILE *stream, const struct sw_options *options, const struct sw_job *job,
                       const struct sw_result *result)
{
    fprintf(stream, "ranks      %d on %d node%s", job->n_ranks, job->n_nodes,
            job->n_nodes == 1 ? "" : "s");
    if (job->shift > 0)
        fprintf(stream, "; rank r uses what rank r + %d made", job->shift);
    fprintf(stream, "\n");
    fprintf(stream, "directory  %s\n", options->directory);
    fprintf(stream,
            "work       %s%lld files and directories of each rank, %s, %lld bytes each%s\n",
            options->stonewall_seconds > 0 ? "up to " : "", (long long)options->files,
            options->shared ? "in one tree for all" : "in a tree of its own",
            (long long)options->file_bytes, options->fsync ? ", synced" : "");
    if (result->n_directories > 1)
        fprintf(stream, "tree       %lld directories (depth %lld, width %lld), files in %s\n",
                (long long)result->n_directories, (long long)options->depth,
                (long long)options->width, options->leaves ? "its leaves" : "all of them");
}

static void print_phase(FILE *stream, const struct sw_phase *phase)
{
    static const double percents[] = {50, 90, 99, 99.9, 100};
    fprintf(stream, "%-17s %4lld %11lld %11.6f %11.1f %10.2f",
            sw_operation_rows[phase->operation].name, (long long)phase->repeat,
            (long long)phase->operations, phase->seconds, rate(phase),
            sw_histogram_mean(&phase->histogram) * MICROSECONDS);
    for (size_t p = 0; p < sizeof percents / sizeof percents[0]; p++)
        fprintf(stream, " %10.2f",
                sw_histogram_percentile(&phase->histogram, percents[p]) * MICROSECONDS);
    fprintf(stream, "  %d: %.6f\n", phase->slowest.rank, phase->slowest.seconds);
}

static void print_walls(FILE *stream, const struct sw_result *result)
{
    for (int64_t p = 0; p < result->n_phases; p++) {
        const struct sw_phase *phase = &result->phases[p];
        if (phase->worn_out)
            fprintf(stream,
                    "stonewall  %s: %lld operations in %g s, %lld to %lld a rank; then all made "
                    "%lld\n",
                    sw_operation_rows[phase->operation].name, (long long)phase->wall_operations,
                    phase->wall_seconds, (long long)phase->wall_least, (long long)phase->wall_most,
                    (long long)phase->wall_most);
    }
}

void sw_report_table(FILE *stream, const struct sw_options *options, const struct sw_job *job,
                     const struct sw_result *result)
{
    if (result->n_phases == 0)
        return;
    print_head(stream, options, job, result);
    fprintf(stream, "\n%-17s %4s %11s %11s %11s %10s %10s %10s %10s %10s %10s  %s\n", "operation",
            "run", "operations", "seconds", "per second", "mean us", "50 %", "90 %", "99 %",
            "99.9 %", "100 %", "slowest rank: seconds");
    for (int64_t p = 0; p < result->n_phases; p++)
        print_phase(stream, &result->phases[p]);
    fputc('\n', stream);
    print_walls(stream, result);
}
