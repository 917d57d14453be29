/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The options: one table row each; getopt's table and --help are made from it. */
#include "metadata.h"

#include "../kernels/values.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#define MAX_ROWS 32

static bool set_files(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("files", value, 1, SW_MOST_FILES, &o->files, trouble, bytes);
}

static bool set_file_bytes(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_size("file-bytes", value, INT64_C(1) << 30, &o->file_bytes, trouble, bytes);
}

static bool set_directory(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_text("directory", value, SW_PATH_BYTES / 2, &o->directory, trouble, bytes);
}

static bool set_sharing(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    static const char *const names[] = {"shared", "own", NULL};
    int which = 0;
    bool good = sw_take_word("sharing", value, names, &which, trouble, bytes);
    o->shared = which == 0;
    return good;
}

static bool set_depth(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("depth", value, 0, 100, &o->depth, trouble, bytes);
}

static bool set_width(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("width", value, 0, SW_MOST_DIRECTORIES, &o->width, trouble, bytes);
}

static bool set_spread(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    static const char *const names[] = {"all", "leaves", NULL};
    int which = 0;
    bool good = sw_take_word("spread", value, names, &which, trouble, bytes);
    o->leaves = which == 1;
    return good;
}

static bool set_shift(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("shift", value, 0, INT_MAX, &o->shift, trouble, bytes);
}

static bool set_node_ranks(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("node-ranks", value, 1, INT_MAX, &o->node_ranks, trouble, bytes);
}

static bool set_phases(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_operations("phases", value, o->wanted, trouble, bytes);
}

static bool set_repeats(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("repeats", value, 1, 1000, &o->repeats, trouble, bytes);
}

static bool set_stonewall(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_seconds("stonewall", value, &o->stonewall_seconds, trouble, bytes);
}

static bool set_random(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->random = true;
    return true;
}

static bool set_seed(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_number("seed", value, 0, INT64_C(1) << 62, &o->seed, trouble, bytes);
}

static bool set_fsync(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->fsync = true;
    return true;
}

static bool set_json(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    return sw_take_text("json", value, SW_PATH_BYTES, &o->json, trouble, bytes);
}

static bool set_quiet(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->quiet = true;
    return true;
}

static bool set_version(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->version = true;
    return true;
}

static bool set_help(struct sw_options *o, const char *value, char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    o->help = true;
    return true;
}

const struct sw_option_row sw_option_rows[] = {
    {"directory", "DIR", "where a directory is made for the files  [default: .]", set_directory},
    {"files", "N", "files, and directories, of each rank  [default: 1000]", set_files},
    {"file-bytes", "SIZE", "written to each file, and read  [default: 0]", set_file_bytes},
    {"fsync", NULL, "call fsync before a file is closed", set_fsync},
    {"sharing", "HOW", "shared: one tree for all ranks; own: one for each  [default: shared]",
     set_sharing},
    {"depth", "N", "levels of directories below the tree's root  [default: 0]", set_depth},
    {"width", "N", "directories in each directory of the tree  [default: 2 with --depth]",
     set_width},
    {"spread", "HOW", "all: files lie in every directory of the tree; leaves: in the last level",
     set_spread},
    {"shift", "N", "rank r uses what rank r + N made  [default: another node's; 0 on one node]",
     set_shift},
    {"node-ranks", "N", "successive ranks that count as a node  [default: what shares memory]",
     set_node_ranks},
    {"phases", "LIST", "operations to time, separated by commas", set_phases},
    {"repeats", "N", "repeats of all phases  [default: 1]", set_repeats},
    {"stonewall", "SECONDS", "end creating after that; then all ranks make as many as the fastest",
     set_stonewall},
    {"random", NULL, "stat and read in an order that is drawn", set_random},
    {"seed", "N", "of that order  [default: 0]", set_seed},
    {"json", "PATH", "write the result as JSON; -: instead of the table", set_json},
    {"quiet", NULL, "print no table", set_quiet},
    {"version", NULL, "print the version", set_version},
    {"help", NULL, "print this", set_help},
    {NULL, NULL, NULL, NULL},
};

/* ---- the command line -------------------------------------------------------------------------
 */

static void make_getopt_table(struct option *table)
{
    int n = 0;
    for (; sw_option_rows[n].name != NULL && n < MAX_ROWS; n++)
        table[n] = (struct option){
            .name = sw_option_rows[n].name,
            .has_arg = sw_option_rows[n].argument != NULL ? required_argument : no_argument,
            .val = 256 + n,
        };
    table[n] = (struct option){.name = NULL};
}

static bool bad_option(int found, char **argv, char *trouble, size_t bytes)
{
    snprintf(trouble, bytes,
             found == ':' ? "option %.80s needs a value; see --help"
                          : "option %.80s is not known, ambiguous, or takes no value; see --help",
             argv[optind - 1]);
    return false;
}

static void set_defaults(struct sw_options *options)
{
    bool any = false;
    for (int o = 0; o < SW_OPERATIONS; o++)
        any = any || options->wanted[o];
    for (int o = 0; o < SW_OPERATIONS && !any; o++)
        options->wanted[o] = sw_operation_rows[o].is_default;
    if (options->depth > 0 && options->width == 0)
        options->width = 2;
}

bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes)
{
    struct option table[MAX_ROWS + 1];
    int found = 0;
    make_getopt_table(table);
    *options = (struct sw_options){
        .files = 1000,
        .shift = -1,
        .repeats = 1,
        .shared = true,
        .directory = ".",
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

/* What works on files, or directories, needs those that make them. */
static bool has_what_it_needs(const struct sw_options *options, char *trouble, size_t bytes)
{
    for (int o = 0; o < SW_OPERATIONS; o++) {
        bool of_directories = o == SW_STAT_DIRECTORY || o == SW_REMOVE_DIRECTORY;
        bool of_files = o == SW_STAT || o == SW_READ_FILE || o == SW_RENAME || o == SW_REMOVE;
        int needed = of_directories ? SW_CREATE_DIRECTORY : SW_CREATE;
        if (options->wanted[o] && (of_directories || of_files) && !options->wanted[needed]) {
            snprintf(trouble, bytes, "--phases: %s needs %s before it; name that, too",
                     sw_operation_rows[o].name, sw_operation_rows[needed].name);
            return false;
        }
    }
    return true;
}

bool sw_options_check(const struct sw_options *options, char *trouble, size_t bytes)
{
    if (options->width > 0 && options->depth == 0) {
        snprintf(trouble, bytes, "--width %lld goes with --depth: give the number of levels",
                 (long long)options->width);
        return false;
    }
    if (sw_tree_size(options->depth, options->width) > SW_MOST_DIRECTORIES) {
        snprintf(trouble, bytes,
                 "--depth %lld and --width %lld make more than %d directories; give less",
                 (long long)options->depth, (long long)options->width, SW_MOST_DIRECTORIES);
        return false;
    }
    return has_what_it_needs(options, trouble, bytes);
}
