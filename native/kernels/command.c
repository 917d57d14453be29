/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include "share.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 48

/* ---- values -------------------------------------------------------------------------------- */

static void *member_of(void *options, size_t place)
{
    return (char *)options + place;
}

bool sw_apply_true(const struct sw_option_row *row, void *options, const char *value,
                   char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    *(bool *)member_of(options, row->member) = true;
    return true;
}

bool sw_apply_false(const struct sw_option_row *row, void *options, const char *value,
                    char *trouble, size_t bytes)
{
    (void)value, (void)trouble, (void)bytes;
    *(bool *)member_of(options, row->member) = false;
    return true;
}

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

bool sw_apply_number(const struct sw_option_row *row, void *options, const char *value,
                     char *trouble, size_t bytes)
{
    if (whole_number(value, row->least, row->most, member_of(options, row->member)))
        return true;
    snprintf(trouble, bytes, "--%s '%s': give a whole number from %lld to %lld", row->name, value,
             (long long)row->least, (long long)row->most);
    return false;
}

/* Parses up to SW_MAX_DIMS numbers, separated by commas. */
bool sw_apply_numbers(const struct sw_option_row *row, void *options, const char *value,
                      char *trouble, size_t bytes)
{
    int64_t *numbers = member_of(options, row->member);
    char copy[128];
    char *rest = copy;
    int n = 0;
    bool good = (size_t)snprintf(copy, sizeof copy, "%s", value) < sizeof copy;
    while (good && rest != NULL) {
        char *part = strsep(&rest, ",");
        good = n < SW_MAX_DIMS && whole_number(part, 1, INT64_C(1) << 40, &numbers[n++]);
    }
    *(int *)member_of(options, row->count) = n;
    if (good)
        return true;
    snprintf(trouble, bytes,
             "--%s '%s': give up to %d whole numbers from 1 on, separated by commas, as 64,64,64",
             row->name, value, SW_MAX_DIMS);
    return false;
}

bool sw_option_word(const struct sw_option_row *row, const char *value, int *which, char *trouble,
                    size_t bytes)
{
    const char *const *words = row->words;
    for (*which = 0; words[*which] != NULL; (*which)++)
        if (strcmp(value, words[*which]) == 0)
            return true;
    int used = snprintf(trouble, bytes, "--%s '%.80s': give", row->name, value);
    for (int w = 0; words[w] != NULL && used > 0 && (size_t)used < bytes; w++)
        used += snprintf(trouble + used, bytes - (size_t)used, "%s %s",
                         w == 0                 ? ""
                         : words[w + 1] == NULL ? " or"
                                                : ",",
                         words[w]);
    return false;
}

bool sw_apply_word(const struct sw_option_row *row, void *options, const char *value,
                   char *trouble, size_t bytes)
{
    return sw_option_word(row, value, member_of(options, row->member), trouble, bytes);
}

bool sw_apply_either(const struct sw_option_row *row, void *options, const char *value,
                     char *trouble, size_t bytes)
{
    int which = 0;
    bool good = sw_option_word(row, value, &which, trouble, bytes);
    *(bool *)member_of(options, row->member) = which == row->least;
    return good;
}

bool sw_apply_text(const struct sw_option_row *row, void *options, const char *value,
                   char *trouble, size_t bytes)
{
    *(const char **)member_of(options, row->member) = value;
    if (value[0] != '\0' && strlen(value) < (size_t)row->most)
        return true;
    snprintf(trouble, bytes, "--%s: give a name of 1 to %lld bytes", row->name,
             (long long)row->most - 1);
    return false;
}

/* ---- the command line ---------------------------------------------------------------------- */

/* Returns the number of rows. */
static int make_getopt_table(const struct sw_option_row *rows, struct option *table)
{
    int n = 0;
    for (; rows[n].name != NULL && n < MAX_ROWS; n++)
        table[n] = (struct option){
            .name = rows[n].name,
            .has_arg = rows[n].argument != NULL ? required_argument : no_argument,
            .val = 256 + n,
        };
    table[n] = (struct option){.name = NULL};
    return n;
}

bool sw_command_parse(int argc, char **argv, const struct sw_option_row *rows, void *options,
                      char *trouble, size_t bytes)
{
    struct option table[MAX_ROWS + 1];
    int n_rows = make_getopt_table(rows, table);
    int found = 0;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (found < 256 && found != 'h') {
            snprintf(trouble, bytes,
                     found == ':'
                         ? "option %.80s needs a value; see --help"
                         : "option %.80s is not known, ambiguous, or takes no value; see --help",
                     argv[optind - 1]);
            return false;
        }
        const struct sw_option_row *row = &rows[found == 'h' ? n_rows - 1 : found - 256];
        if (!row->apply(row, options, optarg, trouble, bytes))
            return false;
    }
    if (optind < argc)
        snprintf(trouble, bytes, "argument '%.80s' is not an option; see --help", argv[optind]);
    return optind >= argc;
}

void sw_command_print(const struct sw_option_row *rows, int width)
{
    printf("\nOptions:\n");
    for (; rows->name != NULL; rows++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", rows->name, rows->argument != NULL ? " " : "",
                 rows->argument != NULL ? rows->argument : "");
        printf("  %-*s %s\n", width, left, rows->help);
    }
}
