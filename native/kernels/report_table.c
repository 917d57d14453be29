/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <string.h>

#define MEBIBYTE 1048576.0

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
