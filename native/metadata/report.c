/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Output of rank 0 about a run: a table, and JSON. */
#include "metadata.h"

#include "../kernels/json.h"

#include <stdlib.h>

#define MICROSECONDS 1e6

/* ---- the table ----------------------------------------------------------------------------- */

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

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_request(struct sw_json *json, const struct sw_options *options,
                        const struct sw_job *job, const struct sw_result *result)
{
    char *resolved = realpath(options->directory, NULL);
    sw_json_text(json, "directory", resolved != NULL ? resolved : options->directory);
    free(resolved);
    sw_json_integer(json, "n_ranks", job->n_ranks);
    sw_json_integer(json, "n_nodes", job->n_nodes);
    sw_json_integer(json, "ranks_per_node", job->most_node_ranks);
    sw_json_integer(json, "files", options->files);
    sw_json_integer(json, "file_bytes", options->file_bytes);
    sw_json_truth(json, "fsync", options->fsync);
    sw_json_text(json, "sharing", options->shared ? "shared" : "own");
    sw_json_integer(json, "depth", options->depth);
    sw_json_integer(json, "width", options->width);
    sw_json_text(json, "spread", options->leaves ? "leaves" : "all");
    sw_json_integer(json, "tree_directories", result->n_directories);
    sw_json_integer(json, "shift", job->shift);
    sw_json_truth(json, "random", options->random);
    sw_json_integer(json, "seed", options->seed);
    sw_json_number(json, "stonewall_seconds", options->stonewall_seconds);
    sw_json_integer(json, "repeats", options->repeats);
    sw_json_number(json, "clock_uncertainty_seconds", job->clock_uncertainty);
}

static void put_extreme(struct sw_json *json, const char *key, const struct sw_extreme *extreme)
{
    sw_json_begin(json, key, '{');
    sw_json_integer(json, "rank", extreme->rank);
    sw_json_text(json, "host", extreme->host);
    sw_json_integer(json, "operations", extreme->operations);
    sw_json_number(json, "seconds", extreme->seconds);
    sw_json_end(json, '}');
}

static void put_percentiles(struct sw_json *json, const struct sw_histogram *histogram)
{
    static const struct {
        const char *name;
        double percent;
    } rows[] = {{"50", 50}, {"90", 90}, {"99", 99}, {"99.9", 99.9}, {"100", 100}};
    sw_json_begin(json, "percentiles_seconds", '{');
    for (size_t p = 0; p < sizeof rows / sizeof rows[0]; p++)
        sw_json_number(json, rows[p].name, sw_histogram_percentile(histogram, rows[p].percent));
    sw_json_end(json, '}');
}

/* Writes only bins in use. */
static void put_histogram(struct sw_json *json, const struct sw_histogram *histogram)
{
    sw_json_begin(json, "histogram", '{');
    sw_json_begin(json, "seconds", '[');
    for (unsigned bin = 0; bin < SW_BINS; bin++)
        if (histogram->counts[bin] > 0)
            sw_json_number(json, NULL, sw_bin_seconds(bin));
    sw_json_end(json, ']');
    sw_json_begin(json, "operations", '[');
    for (unsigned bin = 0; bin < SW_BINS; bin++)
        if (histogram->counts[bin] > 0)
            sw_json_integer(json, NULL, (int64_t)histogram->counts[bin]);
    sw_json_end(json, ']');
    sw_json_end(json, '}');
}

static void put_wall(struct sw_json *json, const struct sw_phase *phase)
{
    if (phase->wall_seconds <= 0) {
        sw_json_null(json, "stonewall");
        return;
    }
    sw_json_begin(json, "stonewall", '{');
    sw_json_number(json, "seconds", phase->wall_seconds);
    sw_json_truth(json, "worn_out", phase->worn_out);
    sw_json_integer(json, "operations", phase->wall_operations);
    sw_json_integer(json, "least_of_a_rank", phase->wall_least);
    sw_json_integer(json, "most_of_a_rank", phase->wall_most);
    sw_json_end(json, '}');
}

/* With other programs in the job: writes seconds from the common start. */
static void put_span(struct sw_json *json, const struct sw_phase *phase,
                     const struct sw_meeting *meeting)
{
    if (meeting->n_applications == 1)
        return;
    sw_json_number(json, "begin_seconds", phase->begun - meeting->start);
    sw_json_number(json, "end_seconds", phase->ended - meeting->start);
}

static void put_phase(struct sw_json *json, const struct sw_phase *phase,
                      const struct sw_meeting *meeting)
{
    sw_json_begin(json, NULL, '{');
    sw_json_text(json, "operation", sw_operation_rows[phase->operation].name);
    sw_json_integer(json, "repeat", phase->repeat);
    sw_json_integer(json, "operations", phase->operations);
    sw_json_number(json, "seconds", phase->seconds);
    sw_json_number(json, "operations_per_second", rate(phase));
    sw_json_number(json, "mean_seconds", sw_histogram_mean(&phase->histogram));
    sw_json_number(json, "least_seconds", (double)phase->histogram.least_ns / 1e9);
    put_percentiles(json, &phase->histogram);
    put_extreme(json, "slowest", &phase->slowest);
    put_extreme(json, "fastest", &phase->fastest);
    put_wall(json, phase);
    put_span(json, phase, meeting);
    put_histogram(json, &phase->histogram);
    sw_json_end(json, '}');
}

static void put_outcome(struct sw_json *json, const struct sw_job *job,
                        const struct sw_result *result)
{
    sw_json_begin(json, "failures", '[');
    for (int f = 0; f < result->n_failures_told; f++)
        sw_json_text(json, NULL, result->failures[f]);
    sw_json_end(json, ']');
    sw_json_integer(json, "n_failures", result->n_failures);
    if (result->signal != 0)
        sw_json_integer(json, "signal", result->signal);
    else
        sw_json_null(json, "signal");
    sw_json_text(json, "left", result->left ? job->directory : NULL);
}

static void put_provenance(struct sw_json *json, const struct sw_job *job,
                           const struct sw_result *result, int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    sw_json_number(json, "started_unix_seconds", result->started);
    sw_json_number(json, "elapsed_seconds", result->elapsed_seconds);
    sw_json_text(json, "host", job->host);
    sw_json_text(json, "version", SW_METADATA_VERSION);
    sw_json_text(json, "mpi_library", library);
    sw_json_begin(json, "arguments", '[');
    for (int a = 1; a < argc; a++)
        sw_json_text(json, NULL, argv[a]);
    sw_json_end(json, ']');
}

void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_job *job,
                    const struct sw_result *result, int argc, char **argv)
{
    struct sw_json json = {.stream = stream};
    sw_json_begin(&json, NULL, '{');
    sw_json_text(&json, "schema", "stripewise-metadata");
    sw_json_integer(&json, "schema_version", 1);
    put_request(&json, options, job, result);
    sw_json_begin(&json, "phases", '[');
    for (int64_t p = 0; p < result->n_phases; p++)
        put_phase(&json, &result->phases[p], result->meeting);
    sw_json_end(&json, ']');
    put_outcome(&json, job, result);
    put_provenance(&json, job, result, argc, argv);
    sw_json_end(&json, '}');
}
