/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Parser of the flat configuration (include/stripewise/flat.h), which works in place. */
#include <string.h>

#include "adopt/adopt.h"
#include "stripewise/flat.h"

#define FIELDS 3

struct scope {
    const char *match;
    const char *dataset;
    int override;
    bool in_series;
    struct sw_series_class series;
};

static int hex(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes %XX in place; returns false for an invalid sequence or a zero byte. */
static bool decode(char *field)
{
    char *out = field;
    for (char *in = field; *in; in++, out++) {
        *out = *in;
        if (*in != '%')
            continue;
        int high = hex(in[1]);
        int low = high < 0 ? -1 : hex(in[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *out = (char)(high * 16 + low);
        in += 2;
    }
    *out = '\0';
    return true;
}

/* Splits a line at tabs; returns the number of fields, FIELDS + 1 if there are more. */
static size_t split(char *line, char *fields[FIELDS])
{
    size_t count = 0;
    while (count < FIELDS) {
        fields[count++] = line;
        line = strchr(line, '\t');
        if (line == NULL)
            return count;
        *line++ = '\0';
    }
    return FIELDS + 1;
}

static const char *begin_file(struct scope *scope, const char *match, const char *override)
{
    if ((override[0] != '0' && override[0] != '1') || override[1] != '\0')
        return "override of a file is neither 0 nor 1";
    *scope = (struct scope){.match = match, .override = override[0] == '1'};
    return NULL;
}

static const char *begin_series(struct scope *scope, const char *kind, const char *ranges)
{
    *scope = (struct scope){.in_series = true};
    return sw_series_parse(kind, ranges, &scope->series) ? NULL : "a series of an unknown kind";
}

static const char *add(struct sw_rows *rows, const struct scope *scope,
                       enum sw_setting_group group, const char *key, const char *value)
{
    if (scope->match == NULL && !scope->in_series)
        return "a setting before any file";
    if (scope->in_series && group != SW_SETTING_MPIIO)
        return "a setting of a series that is no hint of MPI-IO";
    if (group != SW_SETTING_HDF5 && scope->dataset != NULL)
        return "a setting of a file inside a dataset";
    struct sw_row row = {.source = scope->in_series ? SW_ROW_SERIES : SW_ROW_FLAT,
                         .of = scope->series,
                         .group = group,
                         .override = scope->override,
                         .match = scope->match,
                         .dataset = scope->dataset,
                         .key = key,
                         .value = value};
    return sw_row_add(rows, &row) ? NULL : "too many settings";
}

/* Gets the group of a settings statement; returns false for another statement. */
static bool group_of(const char *name, enum sw_setting_group *group)
{
    static const char *const names[] = {[SW_SETTING_MPIIO] = "mpiio",
                                        [SW_SETTING_HDF5] = "hdf5",
                                        [SW_SETTING_PNETCDF] = "pnetcdf",
                                        [SW_SETTING_ADIOS2] = "adios2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *group = (enum sw_setting_group)i;
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static const char *statement(char *line, struct scope *scope, struct sw_rows *rows)
{
    char *fields[FIELDS];
    enum sw_setting_group group;
    size_t count = split(line, fields);
    for (size_t i = 0; i < count && i < FIELDS; i++)
        if (!decode(fields[i]))
            return "a broken %XX";
    if (count == 3 && strcmp(fields[0], "file") == 0)
        return begin_file(scope, fields[1], fields[2]);
    if (count == 3 && strcmp(fields[0], "series") == 0)
        return begin_series(scope, fields[1], fields[2]);
    if (count == 3 && group_of(fields[0], &group))
        return add(rows, scope, group, fields[1], fields[2]);
    if (count == 2 && strcmp(fields[0], "dataset") == 0 && scope->match != NULL) {
        scope->dataset = fields[1];
        return NULL;
    }
    return "an unknown statement";
}

size_t sw_count_rows_flat(const char *text)
{
    size_t lines = 1;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

const char *sw_parse_flat(char *text, struct sw_rows *rows)
{
    size_t before = rows->used;
    struct scope scope = {0};
    bool header = false;
    char *rest = text;
    for (char *line = rest; line != NULL; line = rest) {
        rest = strchr(line, '\n');
        if (rest != NULL)
            *rest++ = '\0';
        const char *problem = NULL;
        if (!header && strcmp(line, SW_FLAT_HEADER) != 0)
            problem = "it does not begin with \"" SW_FLAT_HEADER "\"";
        else if (header && line[0] != '\0')
            problem = statement(line, &scope, rows);
        header = true;
        if (problem != NULL) {
            rows->used = before;
            return problem;
        }
    }
    return NULL;
}
