/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The options: one table row each (command.h). */
#include "kernel.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sw_mode_names[] = {
    [SW_MODE_INDEPENDENT] = "independent",
    [SW_MODE_COLLECTIVE] = "collective",
    [SW_MODE_SERIAL] = "serial",
    [SW_MODE_SERIAL + 1] = NULL,
};
const char *const sw_files_names[] = {
    [SW_FILES_SHARED] = "shared",
    [SW_FILES_PER_PROCESS] = "per-process",
    [SW_FILES_PER_NODE] = "per-node",
    [SW_FILES_PER_NODE + 1] = NULL,
};

/* A new back end needs its file, its `extern` in kernel.h, and a row here. */
const struct sw_backend *const sw_backends[] = {
    &sw_backend_posix,   &sw_backend_mpiio,  &sw_backend_hdf5, &sw_backend_netcdf4,
    &sw_backend_pnetcdf, &sw_backend_adios2, &sw_backend_null, NULL,
};

static const char *const types[] = {"int64", "double", "float", NULL};
static const char *const compute_kinds[] = {"busy", "sleep", NULL};
static const char *const engines[] = {"BP4", "BP5", NULL};

/* ---- kinds of values that only this program has --------------------------------------------- */

static bool set_pattern(const struct sw_option_row *row, void *options, const char *value,
                        char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    (void)row;
    o->pattern = sw_pattern_find(value);
    if (o->pattern != NULL)
        return true;
    int used = snprintf(trouble, bytes, "--pattern '%s' is not known; give one of", value);
    for (size_t i = 0; sw_patterns[i] != NULL && used > 0 && (size_t)used < bytes; i++)
        used += snprintf(trouble + used, bytes - (size_t)used, " %s", sw_patterns[i]->name);
    return false;
}

static const struct sw_backend *find_backend(const char *name)
{
    for (size_t i = 0; sw_backends[i] != NULL; i++)
        if (strcmp(sw_backends[i]->name, name) == 0)
            return sw_backends[i];
    return NULL;
}

static bool set_backend(const struct sw_option_row *row, void *options, const char *value,
                        char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    (void)row;
    o->backend = find_backend(value);
    if (o->backend != NULL)
        return true;
    int used = snprintf(trouble, bytes, "--backend '%s' is not known; give one of", value);
    for (size_t i = 0; sw_backends[i] != NULL && used > 0 && (size_t)used < bytes; i++)
        used += snprintf(trouble + used, bytes - (size_t)used, " %s", sw_backends[i]->name);
    return false;
}

static bool set_distribution(const struct sw_option_row *row, void *options, const char *value,
                             char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    (void)row;
    if (sw_distribution_parse(value, o->parts, &o->n_parts))
        return true;
    snprintf(trouble, bytes,
             "--distribution '%.80s': give BLOCK, BLOCK(n), CYCLIC, CYCLIC(n) or * for each "
             "dimension, as 'BLOCK,CYCLIC(4),*'",
             value);
    return false;
}

static bool set_op(const struct sw_option_row *row, void *options, const char *value,
                   char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    (void)row;
    o->write = strcmp(value, "write") == 0 || strcmp(value, "write-read") == 0;
    o->read = strcmp(value, "read") == 0 || strcmp(value, "write-read") == 0;
    if (o->write || o->read)
        return true;
    snprintf(trouble, bytes, "--op '%s': give write, read or write-read", value);
    return false;
}

static bool take_seconds(const struct sw_option_row *row, const char *value, double least,
                         double *seconds, char *trouble, size_t bytes)
{
    char *end = NULL;
    *seconds = strtod(value, &end);
    if (end != value && *end == '\0' && isfinite(*seconds) && *seconds >= least &&
        *seconds <= 86400.0)
        return true;
    snprintf(trouble, bytes, "--%s '%s': give seconds from %g to 86400, as 0.5", row->name, value,
             least);
    return false;
}

static bool set_stonewall(const struct sw_option_row *row, void *options, const char *value,
                          char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    return take_seconds(row, value, 1e-6, &o->stonewall_seconds, trouble, bytes);
}

static bool set_compute(const struct sw_option_row *row, void *options, const char *value,
                        char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    return take_seconds(row, value, 0.0, &o->compute_seconds, trouble, bytes);
}

/* Parses a number of bytes, with or without a unit. */
static bool set_bytes(const struct sw_option_row *row, void *options, const char *value,
                      char *trouble, size_t bytes)
{
    static const struct {
        const char *text;
        int shift;
    } units[] = {{"", 0},   {"KiB", 10}, {"MiB", 20}, {"GiB", 30},
                 {"k", 10}, {"m", 20},   {"g", 30}}; /* as in IOR */
    int64_t *number = (int64_t *)((char *)options + row->member);
    char *end = NULL;
    errno = 0;
    long long given = strtoll(value, &end, 10);
    for (size_t u = 0; end != value && errno == 0 && u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(end, units[u].text) != 0 || given < 1 || given > row->most >> units[u].shift)
            continue;
        *number = given << units[u].shift;
        return true;
    }
    snprintf(trouble, bytes, "--%s '%s': give bytes from 1 to %lld, as 1048576, 64KiB or 1MiB",
             row->name, value, (long long)row->most);
    return false;
}

/* Adds one more key=value. */
static bool take_pair(const struct sw_option_row *row, const char *value, const char *example,
                      struct sw_hint_text *pairs, int *n_pairs, char *trouble, size_t bytes)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0' ||
        equals - value >= MPI_MAX_INFO_KEY || strlen(equals + 1) >= MPI_MAX_INFO_VAL) {
        snprintf(trouble, bytes, "--%s '%.80s': give key=value, as %s", row->name, value, example);
        return false;
    }
    if (*n_pairs == SW_MAX_HINTS) {
        snprintf(trouble, bytes, "--%s '%.80s': there are %d already, the most", row->name, value,
                 SW_MAX_HINTS);
        return false;
    }
    struct sw_hint_text *pair = &pairs[(*n_pairs)++];
    snprintf(pair->key, sizeof pair->key, "%.*s", (int)(equals - value), value);
    snprintf(pair->value, sizeof pair->value, "%s", equals + 1);
    return true;
}

static bool set_hint(const struct sw_option_row *row, void *options, const char *value,
                     char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    return take_pair(row, value, "cb_nodes=4", o->hints, &o->n_hints, trouble, bytes);
}

static bool set_parameter(const struct sw_option_row *row, void *options, const char *value,
                          char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    return take_pair(row, value, "NumAggregators=1", o->parameters, &o->n_parameters, trouble,
                     bytes);
}

static bool set_engine(const struct sw_option_row *row, void *options, const char *value,
                       char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    int which = 0;
    bool good = sw_option_word(row, value, &which, trouble, bytes);
    o->engine = engines[which];
    return good;
}

const struct sw_option_row sw_option_rows[] = {
    {"pattern", "NAME", "what is moved (default array3d)", .apply = set_pattern},
    {"backend", "NAME", "how it is moved (default mpiio)", .apply = set_backend},
    {"mode", "MODE", "independent (default), collective, or serial (posix: all through rank 0)",
     SW_WORD(mode, sw_mode_names)},
    {"layout", "LAYOUT", "shared (default), per-process or per-node files",
     SW_WORD(files, sw_files_names)},
    {"node-ranks", "N",
     "per-node: number of successive ranks that count as a node (default: those that share "
     "memory)",
     SW_NUMBER(node_ranks, 1, INT_MAX)},
    {"op", "OP", "write (default), read or write-read", .apply = set_op},
    {"size", "N,N,...",
     "extents of the whole array, any number of ranks; last one fastest in memory",
     SW_NUMBERS(size, n_size)},
    {"local", "N,N,...",
     "instead of --size: a rank's part of each dimension that is cut, and the whole of the others "
     "(btio: a cell)",
     SW_NUMBERS(local, n_local)},
    {"grid", "P,P,...",
     "parts of each dimension, 1 where it is not cut (default: MPI_Dims_create)",
     SW_NUMBERS(grid, n_grid)},
    {"distribution", "D,D,...",
     "how each dimension is cut: BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), * (default: the pattern's)",
     .apply = set_distribution},
    {"type", "TYPE", "elements: int64, double or float (default: the pattern's)",
     SW_WORD(type, types)},
    {"halo", "N", "cells around each box in memory (default 1; flash 4, btio 2, wrf 5, others 0)",
     SW_NUMBER(halo, 0, 1 << 20)},
    {"steps", "N", "number of times the arrays are written (default 1)",
     SW_NUMBER(steps, 1, 999999)},
    {"namelist", "BYTES",
     "size of FILE.namelist, which every rank reads first (default: wrf 12288, others 0)",
     SW_NUMBER(namelist, 0, 1 << 30)},
    {"namelist-file", "PATH", "another path for this small file; an existing file is replaced",
     SW_TEXT(namelist_file, SW_PATH_BYTES)},
    {"transfer", "BYTES",
     "bytes that a call moves, such as 1048576 or 1MiB (posix, mpiio; hdf5 in one dimension)",
     .apply = set_bytes, SW_MEMBER(transfer_bytes), .most = INT64_C(1) << 31},
    {"stonewall", "SECONDS",
     "stop after this time, then make as many transfers (or steps) on all ranks as the fastest",
     .apply = set_stonewall},
    {"direct", NULL, "posix: bypass the page cache (O_DIRECT)", SW_SETS(direct)},
    {"drop-caches", NULL, "drop the files from the page cache before they are read",
     SW_SETS(drop_caches)},
    {"compute", "SECONDS", "time between two steps (default 0)", .apply = set_compute},
    {"compute-kind", "KIND", "busy (default) or sleep", SW_WORD(compute, compute_kinds)},
    {"open-once", NULL, "keep the file open over all steps (default: open and close it in each)",
     SW_SETS(open_once)},
    {"no-view", NULL, "mpiio: a call per contiguous piece, without file views", SW_CLEARS(view)},
    {"fsync", NULL, "sync before each close", SW_SETS(fsync)},
    {"verify", NULL,
     "check every element (after --op write: in an untimed read of another rank's share)",
     SW_SETS(verify)},
    {"read-shift", "N", "read what rank+N wrote (default 0)", SW_NUMBER(read_shift, 0, INT_MAX)},
    {"seed", "N", "added to all values: tells runs apart (default 0)",
     SW_NUMBER(seed, 0, INT64_C(1) << 62)},
    {"hint", "KEY=VALUE", "MPI-IO hint; may be repeated", .apply = set_hint},
    {"engine", "NAME", "adios2: BP4 or BP5 (default)", .apply = set_engine, .words = engines},
    {"parameter", "KEY=VALUE", "adios2: parameter of the engine; may be repeated",
     .apply = set_parameter},
    /* Leaves room for ".RRRRRR", ".nodeNNNNNN", ".namelist". */
    {"file", "PATH",
     "default stripewise-kernel.dat, .h5 for hdf5, ...; an existing file is replaced by --op "
     "write",
     SW_TEXT(file, SW_PATH_BYTES - 32)},
    {"keep", NULL, "don't remove what was written", SW_SETS(keep)},
    {"json", "PATH", "write the result as JSON; -: instead of the table",
     SW_TEXT(json, SW_PATH_BYTES)},
    {"version", NULL, "print the version", SW_SETS(version)},
    {"help", NULL, "print this", SW_SETS(help)},
    {.name = NULL},
};

static void set_defaults(struct sw_options *options)
{
    const struct sw_pattern *pattern = options->pattern;
    if (options->n_size == 0 && options->n_local == 0) {
        options->n_local = pattern->n_dims;
        memcpy(options->local, pattern->default_local, sizeof options->local);
    }
    if (options->halo < 0)
        options->halo = pattern->default_halo;
    if (options->namelist < 0)
        options->namelist = pattern->namelist_bytes;
    if (options->type == SW_TYPE_COUNT)
        options->type = pattern->default_type;
    if (options->engine == NULL && options->backend->engines)
        options->engine = "BP5";
    snprintf(options->default_file, sizeof options->default_file, "stripewise-kernel%s",
             options->backend->suffix);
    if (options->file == NULL)
        options->file = options->default_file;
}

bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes)
{
    *options = (struct sw_options){
        .pattern = sw_pattern_find("array3d"),
        .backend = &sw_backend_mpiio,
        .write = true,
        .view = true,
        .type = SW_TYPE_COUNT,
        .halo = -1,
        .namelist = -1,
        .steps = 1,
    };
    if (!sw_command_parse(argc, argv, sw_option_rows, options, trouble, bytes))
        return false;
    set_defaults(options);
    return true;
}
