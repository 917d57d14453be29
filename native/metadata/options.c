/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The options: one table row each (../kernels/command.h). */
#include "metadata.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const sharings[] = {"shared", "own", NULL};
static const char *const spreads[] = {"all", "leaves", NULL};

/* ---- kinds of values that only this program has ----------------------------------------------
 * */

/* Parses a number and the word after it; returns false if there is no number. */
static bool split(const char *text, double *number, const char **unit)
{
    char *end = NULL;
    *number = strtod(text, &end);
    if (end == text || !isfinite(*number) || *number < 0)
        return false;
    while (*end == ' ')
        end++;
    *unit = end;
    return true;
}

/* Parses "4 KiB". */
static bool set_file_bytes(const struct sw_option_row *row, void *options, const char *value,
                           char *trouble, size_t bytes)
{
    struct sw_options *o = options;
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},    {"KiB", 1024},         {"MiB", 1048576}, {"KB", 1000},
                 {"kB", 1000}, {"MB", 1e6}, {"GiB", 1073741824.0}, {"GB", 1e9}};
    double number = 0;
    const char *unit = NULL;
    bool good = split(value, &number, &unit);
    for (size_t u = 0; u < sizeof units / sizeof units[0] && good; u++) {
        double all = number * units[u].bytes;
        if (strcmp(unit, units[u].unit) == 0 && all <= (double)row->most && all == floor(all)) {
            o->file_bytes = (int64_t)all;
            return true;
        }
    }
    snprintf(trouble, bytes, "--%s '%.80s': give a size of 0 to %lld bytes, as 3901 or '4 KiB'",
             row->name, value, (long long)row->most);
    return false;
}

/* Parses "2.5 s". */
static bool set_stonewall(const struct sw_option_row *row, void *options, const char *value,
                          char *trouble, size_t bytes)
{
    double *seconds = &((struct sw_options *)options)->stonewall_seconds;
    const char *unit = NULL;
    if (split(value, seconds, &unit) && *seconds < 1e6) {
        if (strcmp(unit, "min") == 0)
            *seconds *= 60;
        if (strcmp(unit, "") == 0 || strcmp(unit, "s") == 0 || strcmp(unit, "min") == 0)
            return true;
    }
    snprintf(trouble, bytes, "--%s '%.80s': give seconds, as 30, '2.5 s' or '5 min'", row->name,
             value);
    return false;
}

static bool name_all(const char *name, const char *text, char *trouble, size_t bytes)
{
    int used = snprintf(trouble, bytes, "--%s '%.80s' is not known; give some of", name, text);
    for (int o = 0; o < SW_OPERATIONS && used > 0 && (size_t)used < bytes; o++)
        if (o != SW_CREATE_TREE && o != SW_REMOVE_TREE)
            used +=
                snprintf(trouble + used, bytes - (size_t)used, " %s", sw_operation_rows[o].name);
    return false;
}

/* Parses "create,stat". */
static bool set_phases(const struct sw_option_row *row, void *options, const char *value,
                       char *trouble, size_t bytes)
{
    bool *wanted = ((struct sw_options *)options)->wanted;
    char copy[256];
    char *rest = copy;
    memset(wanted, 0, SW_OPERATIONS * sizeof *wanted);
    if ((size_t)snprintf(copy, sizeof copy, "%s", value) >= sizeof copy)
        return name_all(row->name, value, trouble, bytes);
    while (rest != NULL) {
        char *word = strsep(&rest, ",");
        int found = 0;
        while (found < SW_OPERATIONS && strcmp(word, sw_operation_rows[found].name) != 0)
            found++;
        if (found == SW_OPERATIONS || found == SW_CREATE_TREE || found == SW_REMOVE_TREE)
            return name_all(row->name, word, trouble, bytes);
        wanted[found] = true;
    }
    return true;
}

const struct sw_option_row sw_option_rows[] = {
    {"directory", "DIR", "where the directory for the files is made  [default: .]",
     SW_TEXT(directory, SW_PATH_BYTES / 2)},
    {"files", "N", "number of files, and of directories, per rank  [default: 1000]",
     SW_NUMBER(files, 1, SW_MOST_FILES)},
    {"file-bytes", "SIZE", "bytes written to and read from each file  [default: 0]",
     .apply = set_file_bytes, .most = INT64_C(1) << 30},
    {"fsync", NULL, "call fsync before a file is closed", SW_SETS(fsync)},
    {"sharing", "HOW", "shared: one tree for all ranks; own: one for each  [default: shared]",
     SW_EITHER(shared, sharings, 0)},
    {"depth", "N", "levels of directories below the tree's root  [default: 0]",
     SW_NUMBER(depth, 0, 100)},
    {"width", "N", "directories in each directory of the tree  [default: 2 with --depth]",
     SW_NUMBER(width, 0, SW_MOST_DIRECTORIES)},
    {"spread", "HOW", "all: files lie in every directory of the tree; leaves: in the last level",
     SW_EITHER(leaves, spreads, 1)},
    {"shift", "N", "rank r uses what rank r + N made  [default: another node's; 0 on one node]",
     SW_NUMBER(shift, 0, INT_MAX)},
    {"node-ranks", "N",
     "successive ranks that count as a node  [default: those that share memory]",
     SW_NUMBER(node_ranks, 1, INT_MAX)},
    {"phases", "LIST", "operations to time, separated by commas", .apply = set_phases},
    {"repeats", "N", "repeats of all phases  [default: 1]", SW_NUMBER(repeats, 1, 1000)},
    {"stonewall", "SECONDS",
     "stop creating after this time; then all ranks make as many as the fastest",
     .apply = set_stonewall},
    {"random", NULL, "stat and read in random order", SW_SETS(random)},
    {"seed", "N", "seed of that order  [default: 0]", SW_NUMBER(seed, 0, INT64_C(1) << 62)},
    {"json", "PATH", "write the result as JSON; -: instead of the table",
     SW_TEXT(json, SW_PATH_BYTES)},
    {"quiet", NULL, "print no table", SW_SETS(quiet)},
    {"version", NULL, "print the version", SW_SETS(version)},
    {"help", NULL, "print this", SW_SETS(help)},
    {.name = NULL},
};

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
    *options = (struct sw_options){
        .files = 1000,
        .shift = -1,
        .repeats = 1,
        .shared = true,
        .directory = ".",
    };
    if (!sw_command_parse(argc, argv, sw_option_rows, options, trouble, bytes))
        return false;
    set_defaults(options);
    return true;
}

/* Operations on files, or directories, need those that create them. */
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
