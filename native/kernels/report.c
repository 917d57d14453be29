/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Output of rank 0 about a run: a table, and JSON. */
#include "kernel.h"

#include "json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MEBIBYTE 1048576.0

/* ---- the table ----------------------------------------------------------------------------- */

static const char *const files[] = {
    [SW_FILES_SHARED] = "one shared file",
    [SW_FILES_PER_PROCESS] = "a file per process",
    [SW_FILES_PER_NODE] = "a file per node",
};

static double rate(int64_t bytes, double seconds)
{
    return seconds > 0.0 ? (double)bytes / seconds / MEBIBYTE : 0.0;
}

static void join(char *text, size_t bytes, const int64_t *numbers, int n)
{
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%lld", i > 0 ? "x" : "", (long long)numbers[i]);
    }
}

static void print_head(FILE *stream, const struct sw_options *options,
                       const struct sw_result *result)
{
    const struct sw_share *share = &result->share;
    char extent[128];
    char grid[128];
    char distribution[128] = "cells";
    join(extent, sizeof extent, share->domains[0].extent, share->domains[0].n_dims);
    join(grid, sizeof grid, share->grid, share->n_dims);
    if (options->pattern->boxes == NULL)
        sw_distribution_text(share->parts, share->n_dims, distribution, sizeof distribution);
    fprintf(stream, "pattern   %s  %s x %d variable(s) of %s  halo %lld  %d rank(s)\n",
            options->pattern->name, extent, share->n_variables, sw_type_name(share->type),
            (long long)options->halo, result->n_ranks);
    fprintf(stream, "parts     %s  grid %s\n", distribution, grid);
    fprintf(stream, "back end  %s  %s%s  %s  %s\n", options->backend->name,
            sw_mode_names[options->mode], options->view ? "" : " without views",
            files[options->files], options->file);
    if (options->engine != NULL) {
        fprintf(stream, "engine    %s", options->engine);
        for (int p = 0; p < options->n_parameters; p++)
            fprintf(stream, " %s=%s", options->parameters[p].key, options->parameters[p].value);
        fprintf(stream, "\n");
    }
    fprintf(stream, "hints    ");
    for (int h = 0; h < options->n_hints; h++)
        fprintf(stream, " %s=%s", options->hints[h].key, options->hints[h].value);
    fprintf(stream, "%s\n\n", options->n_hints == 0 ? " none requested" : "");
}

static void print_step(FILE *stream, const struct sw_step_result *step)
{
    for (int p = 0; p < SW_PHASE_COUNT; p++) {
        if (p == 0)
            fprintf(stream, "%-6s %5lld %14lld %10.1f", step->writing ? "write" : "read",
                    (long long)step->step, (long long)step->bytes,
                    rate(step->bytes, step->seconds));
        else
            fprintf(stream, "%-6s %5s %14s %10s", "", "", "", "");
        fprintf(stream, "  %-8s %11.6f %11.6f %11.6f\n", sw_phase_names[p], step->phase[p].min,
                step->phase[p].median, step->phase[p].max);
    }
}

static void print_total(FILE *stream, const struct sw_result *result, bool writing)
{
    int64_t bytes = sw_statistics_bytes(result, writing);
    if (bytes > 0)
        fprintf(stream, "%-9s %lld bytes  %.6f s I/O time  %.1f MiB/s\n",
                writing ? "written" : "read", (long long)bytes, result->io_seconds[writing],
                rate(bytes, result->io_seconds[writing]));
}

static void print_wall(FILE *stream, const struct sw_result *result, bool writing)
{
    const struct sw_wall_result *wall = &result->wall[writing];
    if (wall->used && wall->hit)
        fprintf(stream,
                "stonewall %s stopped after %.6f s with %lld bytes; the fastest rank had made "
                "%lld %ss\n",
                writing ? "write" : "read", wall->seconds, (long long)wall->bytes,
                (long long)wall->most, wall->steps ? "step" : "transfer");
}

void sw_report_table(FILE *stream, const struct sw_options *options,
                     const struct sw_result *result)
{
    print_head(stream, options, result);
    if (options->namelist > 0 && options->backend->stores)
        fprintf(stream, "namelist  %lld bytes, read by every rank  %.6f %.6f %.6f s\n\n",
                (long long)options->namelist, result->namelist.min, result->namelist.median,
                result->namelist.max);
    if (result->n_steps > 0)
        fprintf(stream, "%-6s %5s %14s %10s  %-8s %11s %11s %11s\n", "op", "step", "bytes",
                "MiB/s", "phase", "min s", "median s", "max s");
    for (int64_t s = 0; s < result->n_steps; s++)
        print_step(stream, &result->steps[s]);
    fputc('\n', stream);
    print_total(stream, result, true);
    print_total(stream, result, false);
    print_wall(stream, result, true);
    print_wall(stream, result, false);
    if (result->verdict == SW_VERDICT_RIGHT)
        fprintf(stream, "verified  every element is right\n");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* The bandwidth for a time of zero is not finite, which JSON represents as null. */
static void put_rate(struct sw_json *json, int64_t bytes, double seconds)
{
    double bandwidth = seconds > 0.0 ? (double)bytes / seconds : NAN;
    sw_json_integer(json, "bytes", bytes);
    sw_json_number(json, "seconds", seconds);
    sw_json_number(json, "bandwidth_bytes_per_second", bandwidth);
    sw_json_number(json, "mib_per_second", bandwidth / MEBIBYTE);
}

static void put_variables(struct sw_json *json, const struct sw_share *share)
{
    sw_json_begin(json, "variables", '[');
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *shape = share->variables[v].domain;
        sw_json_begin(json, NULL, '{');
        sw_json_text(json, "name", share->variables[v].name);
        sw_json_integers(json, "shape", shape->extent, shape->n_dims);
        sw_json_end(json, '}');
    }
    sw_json_end(json, ']');
}

static void put_request(struct sw_json *json, const struct sw_options *options,
                        const struct sw_result *result)
{
    const struct sw_share *share = &result->share;
    char distribution[128];
    sw_distribution_text(share->parts, share->n_dims, distribution, sizeof distribution);
    sw_json_text(json, "pattern", options->pattern->name);
    sw_json_text(json, "backend", options->backend->name);
    sw_json_text(json, "mode", sw_mode_names[options->mode]);
    sw_json_text(json, "layout", sw_files_names[options->files]);
    sw_json_text(json, "operation",
                 options->write ? (options->read ? "write-read" : "write") : "read");
    sw_json_text(json, "file", options->file);
    sw_json_integer(json, "n_ranks", result->n_ranks);
    sw_json_integers(json, "grid", share->grid, share->n_dims);
    sw_json_text(json, "distribution", options->pattern->boxes == NULL ? distribution : NULL);
    sw_json_integers(json, "shape", share->domains[0].extent, share->domains[0].n_dims);
    put_variables(json, share);
    sw_json_integer(json, "n_variables", share->n_variables);
    sw_json_text(json, "type", sw_type_name(share->type));
    sw_json_integer(json, "element_bytes", share->element_bytes);
    sw_json_integer(json, "halo", options->halo);
    sw_json_integer(json, "n_steps", options->steps);
    sw_json_integer(json, "seed", options->seed);
    sw_json_integer(json, "read_shift", options->read_shift);
    sw_json_number(json, "compute_seconds", options->compute_seconds);
    sw_json_text(json, "compute_kind", options->compute == SW_COMPUTE_BUSY ? "busy" : "sleep");
    sw_json_truth(json, "fsync", options->fsync);
    if (options->transfer_bytes > 0)
        sw_json_integer(json, "transfer_bytes", options->transfer_bytes);
    else
        sw_json_null(json, "transfer_bytes");
    sw_json_truth(json, "direct", options->direct);
    sw_json_truth(json, "drop_caches", options->drop_caches);
    sw_json_truth(json, "view", options->view && options->backend->removes_view);
    sw_json_truth(json, "open_once", options->open_once);
    sw_json_truth(json, "keep", options->keep);
}

/* Writes "key=value\n" lines as members. */
static void put_lines(struct sw_json *json, const char *lines)
{
    while (*lines != '\0') {
        const char *end = strchr(lines, '\n');
        const char *equals = strchr(lines, '=');
        char key[MPI_MAX_INFO_KEY + 1];
        if (end == NULL || equals == NULL || equals > end)
            return;
        snprintf(key, sizeof key, "%.*s", (int)(equals - lines), lines);
        sw_json_text_n(json, key, equals + 1, (size_t)(end - equals - 1));
        lines = end + 1;
    }
}

/* If a key was given twice, the later value counts, as in MPI_Info_set. */
static bool superseded(const struct sw_hint_text *pairs, int n_pairs, int pair)
{
    for (int p = pair + 1; p < n_pairs; p++)
        if (strcmp(pairs[p].key, pairs[pair].key) == 0)
            return true;
    return false;
}

static void put_pairs(struct sw_json *json, const char *key, const struct sw_hint_text *pairs,
                      int n_pairs)
{
    sw_json_begin(json, key, '{');
    for (int p = 0; p < n_pairs; p++)
        if (!superseded(pairs, n_pairs, p))
            sw_json_text(json, pairs[p].key, pairs[p].value);
    sw_json_end(json, '}');
}

static void put_engine(struct sw_json *json, const struct sw_options *options)
{
    sw_json_begin(json, "engine", '{');
    sw_json_text(json, "name", options->engine);
    put_pairs(json, "parameters", options->parameters, options->n_parameters);
    sw_json_end(json, '}');
}

static void put_hints(struct sw_json *json, const struct sw_options *options,
                      const struct sw_result *result)
{
    sw_json_begin(json, "hints", '{');
    put_pairs(json, "requested", options->hints, options->n_hints);
    sw_json_begin(json, "reported", '{');
    put_lines(json, result->reported);
    sw_json_end(json, '}');
    sw_json_end(json, '}');
}

static void put_spread(struct sw_json *json, const struct sw_spread *spread)
{
    sw_json_number(json, "min_seconds", spread->min);
    sw_json_number(json, "median_seconds", spread->median);
    sw_json_number(json, "max_seconds", spread->max);
}

static void put_steps(struct sw_json *json, const struct sw_result *result)
{
    sw_json_begin(json, "steps", '[');
    for (int64_t s = 0; s < result->n_steps; s++) {
        const struct sw_step_result *step = &result->steps[s];
        sw_json_begin(json, NULL, '{');
        sw_json_text(json, "operation", step->writing ? "write" : "read");
        sw_json_integer(json, "step", step->step);
        put_rate(json, step->bytes, step->seconds);
        sw_json_begin(json, "phases", '{');
        for (int p = 0; p < SW_PHASE_COUNT; p++) {
            sw_json_begin(json, sw_phase_names[p], '{');
            put_spread(json, &step->phase[p]);
            sw_json_end(json, '}');
        }
        sw_json_end(json, '}');
        sw_json_end(json, '}');
    }
    sw_json_end(json, ']');
}

static void put_namelist(struct sw_json *json, const struct sw_options *options,
                         const struct sw_result *result)
{
    if (options->namelist == 0 || !options->backend->stores) {
        sw_json_null(json, "namelist");
        return;
    }
    sw_json_begin(json, "namelist", '{');
    sw_json_integer(json, "bytes", options->namelist);
    put_spread(json, &result->namelist);
    sw_json_end(json, '}');
}

/* Writes where each direction was stopped by --stonewall. */
static void put_stonewall(struct sw_json *json, const struct sw_options *options,
                          const struct sw_result *result)
{
    if (options->stonewall_seconds <= 0.0) {
        sw_json_null(json, "stonewall");
        return;
    }
    sw_json_begin(json, "stonewall", '{');
    sw_json_number(json, "requested_seconds", options->stonewall_seconds);
    sw_json_text(json, "unit", options->transfer_bytes > 0 ? "transfer" : "step");
    for (int writing = 1; writing >= 0; writing--) {
        const struct sw_wall_result *wall = &result->wall[writing];
        if (!wall->used) {
            sw_json_null(json, writing ? "write" : "read");
            continue;
        }
        sw_json_begin(json, writing ? "write" : "read", '{');
        sw_json_truth(json, "reached", wall->hit);
        sw_json_integer(json, "most_transfers", wall->most);
        sw_json_integer(json, "least_transfers", wall->least);
        sw_json_integer(json, "bytes", wall->bytes);
        sw_json_number(json, "seconds", wall->seconds);
        sw_json_number(json, "whole_seconds", wall->whole_seconds);
        sw_json_end(json, '}');
    }
    sw_json_end(json, '}');
}

/* Writes what remained in memory before the read. */
static void put_cached(struct sw_json *json, const struct sw_result *result)
{
    if (result->counted_caches && result->cached_bytes >= 0)
        sw_json_integer(json, "cached_bytes_before_read", result->cached_bytes);
    else
        sw_json_null(json, "cached_bytes_before_read");
}

/* For one of several kernels of a job: the times of its passes, in seconds from the common start.
 * */
static void put_application(struct sw_json *json, const struct sw_result *result)
{
    const struct sw_meeting *meeting = result->meeting;
    if (meeting == NULL || meeting->n_applications == 1) {
        sw_json_null(json, "application");
        return;
    }
    sw_json_begin(json, "application", '{');
    sw_json_integer(json, "number", meeting->number);
    sw_json_integer(json, "n_applications", meeting->n_applications);
    sw_json_integer(json, "n_world_ranks", meeting->n_world_ranks);
    for (int writing = 1; writing >= 0; writing--) {
        if (sw_statistics_bytes(result, writing) == 0) {
            sw_json_null(json, writing ? "write" : "read");
            continue;
        }
        sw_json_begin(json, writing ? "write" : "read", '{');
        sw_json_number(json, "begin_seconds", result->span[writing][0]);
        sw_json_number(json, "end_seconds", result->span[writing][1]);
        sw_json_end(json, '}');
    }
    sw_json_end(json, '}');
}

static void put_totals(struct sw_json *json, const struct sw_result *result)
{
    sw_json_begin(json, "totals", '{');
    for (int writing = 1; writing >= 0; writing--) {
        int64_t bytes = sw_statistics_bytes(result, writing);
        if (bytes == 0) {
            sw_json_null(json, writing ? "write" : "read");
            continue;
        }
        sw_json_begin(json, writing ? "write" : "read", '{');
        put_rate(json, bytes, result->io_seconds[writing]);
        sw_json_number(json, "seconds_without_sync", result->unsynced_seconds[writing]);
        sw_json_number(json, "elapsed_seconds", result->pass_seconds[writing]);
        sw_json_end(json, '}');
    }
    sw_json_end(json, '}');
}

static void put_outcome(struct sw_json *json, const struct sw_result *result)
{
    char text[512];
    if (result->verdict == SW_VERDICT_NONE)
        sw_json_null(json, "verified");
    else
        sw_json_truth(json, "verified", result->verdict == SW_VERDICT_RIGHT);
    sw_json_begin(json, "errors", '[');
    if (result->verdict == SW_VERDICT_WRONG) {
        sw_mismatch_text(result, text, sizeof text);
        sw_json_text(json, NULL, text);
    }
    for (int f = 0; f < result->n_failures_told; f++)
        sw_json_text(json, NULL, result->failures[f]);
    sw_json_end(json, ']');
}

static void put_provenance(struct sw_json *json, const struct sw_options *options,
                           const struct sw_result *result, int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    char io_library[64] = "";
    char when[64] = "";
    char standard[16];
    int length = 0;
    int major = 0;
    int minor = 0;
    time_t seconds = (time_t)result->started;
    struct tm broken;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&major, &minor);
    snprintf(standard, sizeof standard, "%d.%d", major, minor);
    library[strcspn(library, "\n")] = '\0';
    if (options->backend->library != NULL)
        options->backend->library(io_library, sizeof io_library);
    if (gmtime_r(&seconds, &broken) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &broken);
    sw_json_begin(json, "provenance", '{');
    sw_json_text(json, "version", SW_KERNEL_VERSION);
    sw_json_text(json, "mpi_library", library);
    sw_json_text(json, "mpi_standard", standard);
    sw_json_text(json, "io_library", io_library[0] != '\0' ? io_library : NULL);
    sw_json_text(json, "compiler", __VERSION__);
    sw_json_text(json, "host", result->host);
    sw_json_text(json, "started", when);
    sw_json_number(json, "elapsed_seconds", result->elapsed_seconds);
    sw_json_begin(json, "arguments", '[');
    for (int a = 1; a < argc; a++)
        sw_json_text(json, NULL, argv[a]);
    sw_json_end(json, ']');
    sw_json_end(json, '}');
}

void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_result *result,
                    int argc, char **argv)
{
    struct sw_json json = {.stream = stream};
    sw_json_begin(&json, NULL, '{');
    sw_json_text(&json, "schema", "stripewise-kernel");
    sw_json_integer(&json, "schema_version", 1);
    put_request(&json, options, result);
    put_hints(&json, options, result);
    put_engine(&json, options);
    put_namelist(&json, options, result);
    put_cached(&json, result);
    put_application(&json, result);
    put_steps(&json, result);
    put_totals(&json, result);
    put_stonewall(&json, options, result);
    put_outcome(&json, result);
    put_provenance(&json, options, result, argc, argv);
    sw_json_end(&json, '}');
}
