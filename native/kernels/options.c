/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The options: one table row each; getopt's table and --help are made from it. */
#include "kernel.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 40

/* ---- values -------------------------------------------------------------------------- */

static bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most)
        return false;
    *number = value;
    return true;
}

static bool take_number(const char *name, const char *text, int64_t least, int64_t most,
                        int64_t *number, char *trouble, size_t bytes)
{
    if (whole_number(text, least, most, number))
        return true;
    snprintf(trouble, bytes, "--%s '%s': give a whole number from %lld to %lld", name, text,
             (long long)least, (long long)most);
    return false;
}

static bool take_numbers(const char *name, const char *text, int64_t *numbers, int *n_numbers,
                         char *trouble, size_t bytes)
{
    char copy[128];
    char *rest = copy;
    int n = 0;
    bool good = (size_t)snprintf(copy, sizeof copy, "%s", text) < sizeof copy;
    while (good && rest != NULL) {
        char *part = strsep(&rest, ",");
        good = n < SW_MAX_DIMS && whole_number(part, 1, INT_MAX, &numbers[n++]);
    }
    *n_numbers = n;
    if (good)
        return true;
    snprintf(trouble, bytes,
             "--%s '%s': give up to %d whole numbers from 1 on, separated by commas, as 64,64,64",
             name, text, SW_MAX_DIMS);
    return false;
}

/* One of two words; *second tells which. */
static bool take_word(const char *name, const char *text, const char *first_word,
                      const char *second_word, bool *second, char *trouble, size_t bytes)
{
    *second = strcmp(text, second_word) == 0;
    if (*second || strcmp(text, first_word) == 0)
        return true;
    snprintf(trouble, bytes, "--%s '%s': give %s or %s", name, text, first_word, second_word);
    return false;
}

static bool take_text(const char *name, const char *text, size_t most, const char **target,
                      char *trouble, size_t bytes)
{
    *target = text;
    if (text[0] != '\0' && strlen(text) < most)
        return true;
    snprintf(trouble, bytes, "--%s: give a name of 1 to %zu bytes", name, most - 1);
    return false;
}

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
    bool second = false;
    bool good = take_word("mode", value, "independent", "collective", &second, trouble, bytes);
    o->mode = second ? SW_MODE_COLLECTIVE : SW_MODE_INDEPENDENT;
    return good;
}

static bool set_layout(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    bool second = false;
    bool good = take_word("layout", value, "shared", "per-process", &second, trouble, bytes);
    o->files = second ? SW_FILES_PER_PROCESS : SW_FILES_SHARED;
    return good;
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
    return take_numbers("size", value, o->size, &o->n_size, trouble, bytes);
}

static bool set_local(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_numbers("local", value, o->local, &o->n_local, trouble, bytes);
}

static bool set_grid(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_numbers("grid", value, o->grid, &o->n_grid, trouble, bytes);
}

static bool set_halo(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_number("halo", value, 0, 1 << 20, &o->halo, trouble, bytes);
}

static bool set_steps(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_number("steps", value, 1, 999999, &o->steps, trouble, bytes);
}

static bool set_seed(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_number("seed", value, 0, INT64_C(1) << 62, &o->seed, trouble, bytes);
}

static bool set_shift(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_number("read-shift", value, 0, INT_MAX, &o->read_shift, trouble, bytes);
}

static bool set_compute(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    char *end = NULL;
    o->compute_seconds = strtod(value, &end);
    if (end != value && *end == '\0' && isfinite(o->compute_seconds) &&
        o->compute_seconds >= 0.0 && o->compute_seconds <= 86400.0)
        return true;
    snprintf(trouble, bytes, "--compute '%s': give seconds from 0 to 86400, as 0.5", value);
    return false;
}

static bool set_compute_kind(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    bool second = false;
    bool good = take_word("compute-kind", value, "busy", "sleep", &second, trouble, bytes);
    o->compute = second ? SW_COMPUTE_SLEEP : SW_COMPUTE_BUSY;
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

/* Leaves room for the ".RRRRRR" of a file per process. */
static bool set_file(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_text("file", value, SW_PATH_BYTES - 16, &o->file, trouble, bytes);
}

static bool set_json(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return take_text("json", value, SW_PATH_BYTES, &o->json, trouble, bytes);
}

static bool set_hint(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0' ||
        equals - value >= MPI_MAX_INFO_KEY || strlen(equals + 1) >= MPI_MAX_INFO_VAL) {
        snprintf(trouble, bytes, "--hint '%.80s': give key=value, as cb_nodes=4", value);
        return false;
    }
    if (o->n_hints == SW_MAX_HINTS) {
        snprintf(trouble, bytes, "--hint '%.80s': there are %d hints already, the most", value,
                 SW_MAX_HINTS);
        return false;
    }
    struct sw_hint_text *hint = &o->hints[o->n_hints++];
    snprintf(hint->key, sizeof hint->key, "%.*s", (int)(equals - value), value);
    snprintf(hint->value, sizeof hint->value, "%s", equals + 1);
    return true;
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
     .help = "independent (default) or collective",
     .apply = set_mode},
    {.name = "layout",
     .argument = "LAYOUT",
     .help = "shared (default) or per-process files",
     .apply = set_layout},
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
     .help = "instead: share of a rank (array3d), blocks "
             "of a rank (flash), a cell (btio)",
     .apply = set_local},
    {.name = "grid",
     .argument = "P,P,P",
     .help = "process grid (array3d; default "
             "MPI_Dims_create)",
     .apply = set_grid},
    {.name = "halo",
     .argument = "N",
     .help = "cells around each box in memory (default 1; flash "
             "4, btio 2)",
     .apply = set_halo},
    {.name = "steps",
     .argument = "N",
     .help = "how often the arrays are written (default 1)",
     .apply = set_steps},
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
    {.name = "file",
     .argument = "PATH",
     .help = "default stripewise-kernel.dat, .h5 for hdf5; "
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
    if (options->file == NULL)
        options->file = strcmp(options->backend->suffix, ".h5") == 0 ? "stripewise-kernel.h5"
                                                                     : "stripewise-kernel.dat";
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
        .halo = -1,
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
