/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Values of options that only this program has; plain numbers are in ../kernels/values.c. */
#include "metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number and the word behind it; false: there is no number. */
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

bool sw_take_size(const char *name, const char *text, int64_t most, int64_t *size, char *trouble,
                  size_t bytes)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},    {"KiB", 1024},         {"MiB", 1048576}, {"KB", 1000},
                 {"kB", 1000}, {"MB", 1e6}, {"GiB", 1073741824.0}, {"GB", 1e9}};
    double number = 0;
    const char *unit = NULL;
    bool good = split(text, &number, &unit);
    for (size_t u = 0; u < sizeof units / sizeof units[0] && good; u++) {
        double all = number * units[u].bytes;
        if (strcmp(unit, units[u].unit) == 0 && all <= (double)most && all == floor(all)) {
            *size = (int64_t)all;
            return true;
        }
    }
    snprintf(trouble, bytes, "--%s '%.80s': give a size of 0 to %lld bytes, as 3901 or '4 KiB'",
             name, text, (long long)most);
    return false;
}

bool sw_take_seconds(const char *name, const char *text, double *seconds, char *trouble,
                     size_t bytes)
{
    const char *unit = NULL;
    if (split(text, seconds, &unit) && *seconds < 1e6) {
        if (strcmp(unit, "min") == 0)
            *seconds *= 60;
        if (strcmp(unit, "") == 0 || strcmp(unit, "s") == 0 || strcmp(unit, "min") == 0)
            return true;
    }
    snprintf(trouble, bytes, "--%s '%.80s': give seconds, as 30, '2.5 s' or '5 min'", name, text);
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

bool sw_take_operations(const char *name, const char *text, bool *wanted, char *trouble,
                        size_t bytes)
{
    char copy[256];
    char *rest = copy;
    memset(wanted, 0, SW_OPERATIONS * sizeof *wanted);
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
        return name_all(name, text, trouble, bytes);
    while (rest != NULL) {
        char *word = strsep(&rest, ",");
        int found = 0;
        while (found < SW_OPERATIONS && strcmp(word, sw_operation_rows[found].name) != 0)
            found++;
        if (found == SW_OPERATIONS || found == SW_CREATE_TREE || found == SW_REMOVE_TREE)
            return name_all(name, word, trouble, bytes);
        wanted[found] = true;
    }
    return true;
}
