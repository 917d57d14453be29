/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The options: one table row each; getopt's table and --help are made from it. */
#include "kernel.h"
#include "values.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 48

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

/* ---- one function an option ------------------------------------------------------------ */

static bool set_pattern(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    o->pattern = sw_pattern_find(value);
    if (o->pattern != NULL)
        return true;
    int used = snprintf(trouble, bytes, "--pattern '%s' is not known; give one of", value);
    for (size_t i = 0; sw_patterns[i] != NULL && used > 0 && (size_t)used < bytes; i++)
        used += snprintf(trouble + used, bytes - (size_t)used, " %s", sw_patterns[i]->name);
    return false;
}

static bool set_backend(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    o->backend = sw_backend_find(value);
    if (o->backend != NULL)
        return true;
    int used = snprintf(trouble, bytes, "--backend '%s' is not known; give one of", value);
    for (size_t i = 0; sw_backends[i] != NULL && used > 0 && (size_t)used < bytes; i++)
        used += snprintf(trouble + used, bytes - (size_t)used, " %s", sw_backends[i]->name);
    return false;
}

static bool set_mode(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    int which = 0;
    bool good = sw_take_word("mode", value, sw_mode_names, &which, trouble, bytes);
    o->mode = (enum sw_mode)which;
    return good;
}

static bool set_layout(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    int which = 0;
    bool good = sw_take_word("layout", value, sw_files_names, &which, trouble, bytes);
    o->files = (enum sw_files)which;
    return good;
}

static bool set_node_ranks(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("node-ranks", value, 1, INT_MAX, &o->node_ranks, trouble, bytes);
}

static bool set_type(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    static const char *const names[] = {"int64", "double", "float", NULL};
    int which = 0;
    bool good = sw_take_word("type", value, names, &which, trouble, bytes);
    o->type = (enum sw_type)which;
    return good;
}

static bool set_distribution(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    if (sw_distribution_parse(value, o->parts, &o->n_parts))
        return true;
    snprintf(trouble, bytes,
             "--distribution '%.80s': give BLOCK, BLOCK(n), CYCLIC, CYCLIC(n) or * for each "
             "dimension, as 'BLOCK,CYCLIC(4),*'",
             value);
    return false;
}

static bool set_op(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    o->write = strcmp(value, "write") == 0 || strcmp(value, "write-read") == 0;
    o->read = strcmp(value, "read") == 0 || strcmp(value, "write-read") == 0;
    if (o->write || o->read)
        return true;
    snprintf(trouble, bytes, "--op '%s': give write, read or write-read", value);
    return false;
}

static bool set_size(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_numbers("size", value, o->size, &o->n_size, trouble, bytes);
}

static bool set_local(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_numbers("local", value, o->local, &o->n_local, trouble, bytes);
}

static bool set_grid(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_numbers("grid", value, o->grid, &o->n_grid, trouble, bytes);
}

static bool set_halo(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("halo", value, 0, 1 << 20, &o->halo, trouble, bytes);
}

static bool set_namelist(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("namelist", value, 0, 1 << 30, &o->namelist, trouble, bytes);
}

static bool set_steps(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("steps", value, 1, 999999, &o->steps, trouble, bytes);
}

static bool set_seed(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("seed", value, 0, INT64_C(1) << 62, &o->seed, trouble, bytes);
}

static bool set_shift(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("read-shift", value, 0, INT_MAX, &o->read_shift, trouble, bytes);
}

static bool take_seconds(const char *name, const char *value, double least, double *seconds,
                         char *trouble, size_t bytes)
{
    char *end = NULL;
    *seconds = strtod(value, &end);
    if (end != value && *end == '\0' && isfinite(*seconds) && *seconds >= least &&
        *seconds <= 86400.0)
        return true;
    snprintf(trouble, bytes, "--%s '%s': give seconds from %g to 86400, as 0.5", name, value,
             least);
    return false;
}

static bool set_stonewall(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_seconds("stonewall", value, 1e-6, &o->stonewall_seconds, trouble, bytes);
}

static bool set_transfer(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_bytes("transfer", value, INT64_C(1) << 31, &o->transfer_bytes, trouble, bytes);
}

static bool set_direct(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->direct = true;
}

static bool set_drop_caches(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->drop_caches = true;
}

static bool set_compute(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_seconds("compute", value, 0.0, &o->compute_seconds, trouble, bytes);
}

static bool set_compute_kind(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    static const char *const names[] = {"busy", "sleep", NULL};
    int which = 0;
    bool good = sw_take_word("compute-kind", value, names, &which, trouble, bytes);
    o->compute = (enum sw_compute)which;
    return good;
}

static bool set_verify(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->verify = true;
}

static bool set_fsync(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->fsync = true;
}

static bool set_keep(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->keep = true;
}

static bool set_open_once(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->open_once = true;
}

static bool set_no_view(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->view = false;
    return true;
}

static bool set_help(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->help = true;
}

static bool set_version(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    return o->version = true;
}

/* Leaves room for ".RRRRRR", ".nodeNNNNNN", ".namelist". */
static bool set_file(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_text("file", value, SW_PATH_BYTES - 32, &o->file, trouble, bytes);
}

static bool set_namelist_file(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_text("namelist-file", value, SW_PATH_BYTES, &o->namelist_file, trouble, bytes);
}

static bool set_json(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_text("json", value, SW_PATH_BYTES, &o->json, trouble, bytes);
}

/* key=value, one more of them. */
static bool take_pair(const char *name, const char *value, const char *example,
                      struct sw_hint_text *pairs, int *n_pairs, char *trouble, size_t bytes)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0' ||
        equals - value >= MPI_MAX_INFO_KEY || strlen(equals + 1) >= MPI_MAX_INFO_VAL) {
        snprintf(trouble, bytes, "--%s '%.80s': give key=value, as %s", name, value, example);
        return false;
    }
    if (*n_pairs == SW_MAX_HINTS) {
        snprintf(trouble, bytes, "--%s '%.80s': there are %d already, the most", name, value,
                 SW_MAX_HINTS);
        return false;
    }
    struct sw_hint_text *pair = &pairs[(*n_pairs)++];
    snprintf(pair->key, sizeof pair->key, "%.*s", (int)(equals - value), value);
    snprintf(pair->value, sizeof pair->value, "%s", equals + 1);
    return true;
}

static bool set_hint(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_pair("hint", value, "cb_nodes=4", o->hints, &o->n_hints, trouble, bytes);
}

static bool set_engine(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    static const char *const names[] = {"BP4", "BP5", NULL};
    int which = 0;
    bool good = sw_take_word("engine", value, names, &which, trouble, bytes);
    o->engine = names[which];
    return good;
}

static bool set_parameter(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_pair("parameter", value, "NumAggregators=1", o->parameters, &o->n_parameters,
                     trouble, bytes);
}

const struct sw_option_row sw_option_rows[] = {
    {.name = "pattern",
     .argument = "NAME",
     .help = "what is moved (default array3d)",
     .apply = set_pattern},
    {.name = "backend",
     .argument = "NAME",
     .help = "how it is moved (default mpiio)",
     .apply = set_backend},
    {.name = "mode",
     .argument = "MODE",
     .help = "independent (default), collective, or serial (posix: all through rank 0)",
     .apply = set_mode},
    {.name = "layout",
     .argument = "LAYOUT",
     .help = "shared (default), per-process or per-node files",
     .apply = set_layout},
    {.name = "node-ranks",
     .argument = "N",
     .help = "per-node: so many successive ranks count as a node (default: those that share "
             "memory)",
     .apply = set_node_ranks},
    {.name = "op",
     .argument = "OP",
     .help = "write (default), read or write-read",
     .apply = set_op},
    {.name = "size",
     .argument = "N,N,...",
     .help = "extents of the whole array, any number of "
             "ranks; last one fastest in memory",
     .apply = set_size},
    {.name = "local",
     .argument = "N,N,...",
     .help = "instead: a rank's part of each dimension that is cut, the whole of the others "
             "(btio: a cell)",
     .apply = set_local},
    {.name = "grid",
     .argument = "P,P,...",
     .help = "parts of each dimension, 1 where it is not cut (default: MPI_Dims_create)",
     .apply = set_grid},
    {.name = "distribution",
     .argument = "D,D,...",
     .help = "how each dimension is cut: BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), * (default: the "
             "pattern's)",
     .apply = set_distribution},
    {.name = "type",
     .argument = "TYPE",
     .help = "elements: int64, double or float (default: the pattern's)",
     .apply = set_type},
    {.name = "halo",
     .argument = "N",
     .help = "cells around each box in memory (default 1; flash 4, "
             "btio 2, wrf 5, others 0)",
     .apply = set_halo},
    {.name = "steps",
     .argument = "N",
     .help = "how often the arrays are written (default 1)",
     .apply = set_steps},
    {.name = "namelist",
     .argument = "BYTES",
     .help = "size of FILE.namelist, which every rank reads first (default: wrf 12288, others 0)",
     .apply = set_namelist},
    {.name = "namelist-file",
     .argument = "PATH",
     .help = "where this small file is instead; an existing file is replaced",
     .apply = set_namelist_file},
    {.name = "transfer",
     .argument = "BYTES",
     .help = "move so many bytes a call, as 1048576 or 1MiB (posix, mpiio; hdf5 in one dimension)",
     .apply = set_transfer},
    {.name = "stonewall",
     .argument = "SECONDS",
     .help = "stop after this time, then make as many transfers (or steps) on all ranks as the "
             "fastest",
     .apply = set_stonewall},
    {.name = "direct",
     .argument = NULL,
     .help = "posix: bypass the page cache (O_DIRECT)",
     .apply = set_direct},
    {.name = "drop-caches",
     .argument = NULL,
     .help = "drop the files from the page cache before they are read",
     .apply = set_drop_caches},
    {.name = "compute",
     .argument = "SECONDS",
     .help = "time between two steps (default 0)",
     .apply = set_compute},
    {.name = "compute-kind",
     .argument = "KIND",
     .help = "busy (default) or sleep",
     .apply = set_compute_kind},
    {.name = "open-once",
     .argument = NULL,
     .help = "keep the file open over all steps (default: "
             "open and close it in each)",
     .apply = set_open_once},
    {.name = "no-view",
     .argument = NULL,
     .help = "mpiio: a call per contiguous piece, without "
             "file views",
     .apply = set_no_view},
    {.name = "fsync", .argument = NULL, .help = "sync before each close", .apply = set_fsync},
    {.name = "verify",
     .argument = NULL,
     .help = "check every element (after --op write: in an "
             "untimed read of another rank's share)",
     .apply = set_verify},
    {.name = "read-shift",
     .argument = "N",
     .help = "read what rank+N wrote (default 0)",
     .apply = set_shift},
    {.name = "seed",
     .argument = "N",
     .help = "added to all values: tells runs apart (default 0)",
     .apply = set_seed},
    {.name = "hint",
     .argument = "KEY=VALUE",
     .help = "MPI-IO hint; may be repeated",
     .apply = set_hint},
    {.name = "engine",
     .argument = "NAME",
     .help = "adios2: BP4 or BP5 (default)",
     .apply = set_engine},
    {.name = "parameter",
     .argument = "KEY=VALUE",
     .help = "adios2: parameter of the engine; may be repeated",
     .apply = set_parameter},
    {.name = "file",
     .argument = "PATH",
     .help = "default stripewise-kernel.dat, .h5 for hdf5, ...; "
             "an existing file is replaced by --op write",
     .apply = set_file},
    {.name = "keep", .argument = NULL, .help = "don't remove what was written", .apply = set_keep},
    {.name = "json",
     .argument = "PATH",
     .help = "write the result as JSON; -: instead of the "
             "table",
     .apply = set_json},
    {.name = "version", .argument = NULL, .help = "print the version", .apply = set_version},
    {.name = "help", .argument = NULL, .help = "print this", .apply = set_help},
    {.name = NULL, .argument = NULL, .help = NULL, .apply = NULL},
};

/* ---- the command line ----------------------------------------------------------------- */

static int make_getopt_table(struct option *table)
{
    int n = 0;
    for (; sw_option_rows[n].name != NULL && n < MAX_ROWS; n++)
        table[n] = (struct option){
            .name = sw_option_rows[n].name,
            .has_arg = sw_option_rows[n].argument != NULL ? required_argument : no_argument,
            .flag = NULL,
            .val = 256 + n,
        };
    table[n] = (struct option){.name = NULL, .has_arg = 0, .flag = NULL, .val = 0};
    return n;
}

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

static bool bad_option(int found, char **argv, char *trouble, size_t bytes)
{
    if (found == ':')
        snprintf(trouble, bytes, "option %.80s needs a value; see --help", argv[optind - 1]);
    else
        snprintf(trouble, bytes,
                 "option %.80s is not known, ambiguous, or takes no value; "
                 "see --help",
                 argv[optind - 1]);
    return false;
}

bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes)
{
    struct option table[MAX_ROWS + 1];
    int found = 0;
    make_getopt_table(table);
    *options = (struct sw_options){
        .pattern = &sw_pattern_array3d,
        .backend = &sw_backend_mpiio,
        .write = true,
        .view = true,
        .type = SW_TYPE_COUNT,
        .halo = -1,
        .namelist = -1,
        .steps = 1,
    };
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (found == 'h')
            options->help = true;
        else if (found < 256)
            return bad_option(found, argv, trouble, bytes);
        else if (!sw_option_rows[found - 256].apply(options, optarg, trouble, bytes))
            return false;
    }
    if (optind < argc) {
        snprintf(trouble, bytes, "argument '%.80s' is not an option; see --help", argv[optind]);
        return false;
    }
    set_defaults(options);
    return true;
}
