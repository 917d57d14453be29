/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool sw_take_number(const char *name, const char *text, int64_t least, int64_t most,
                    int64_t *number, char *trouble, size_t bytes)
{
    if (whole_number(text, least, most, number))
        return true;
    snprintf(trouble, bytes, "--%s '%s': give a whole number from %lld to %lld", name, text,
             (long long)least, (long long)most);
    return false;
}

bool sw_take_bytes(const char *name, const char *text, int64_t most, int64_t *number,
                   char *trouble, size_t bytes)
{
    static const struct {
        const char *text;
        int shift;
    } units[] = {{"", 0},   {"KiB", 10}, {"MiB", 20}, {"GiB", 30},
                 {"k", 10}, {"m", 20},   {"g", 30}}; /* as IOR has them */
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    for (size_t u = 0; end != text && errno == 0 && u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(end, units[u].text) != 0 || value < 1 || value > most >> units[u].shift)
            continue;
        *number = value << units[u].shift;
        return true;
    }
    snprintf(trouble, bytes, "--%s '%s': give bytes from 1 to %lld, as 1048576, 64KiB or 1MiB",
             name, text, (long long)most);
    return false;
}

bool sw_take_numbers(const char *name, const char *text, int64_t *numbers, int *n_numbers,
                     char *trouble, size_t bytes)
{
    char copy[128];
    char *rest = copy;
    int n = 0;
    bool good = (size_t)snprintf(copy, sizeof copy, "%s", text) < sizeof copy;
    while (good && rest != NULL) {
        char *part = strsep(&rest, ",");
        good = n < SW_MAX_DIMS && whole_number(part, 1, INT64_C(1) << 40, &numbers[n++]);
    }
    *n_numbers = n;
    if (good)
        return true;
    snprintf(trouble, bytes,
             "--%s '%s': give up to %d whole numbers from 1 on, separated by commas, as 64,64,64",
             name, text, SW_MAX_DIMS);
    return false;
}

bool sw_take_word(const char *name, const char *text, const char *const *words, int *which,
                  char *trouble, size_t bytes)
{
    for (*which = 0; words[*which] != NULL; (*which)++)
        if (strcmp(text, words[*which]) == 0)
            return true;
    int used = snprintf(trouble, bytes, "--%s '%.80s': give", name, text);
    for (int w = 0; words[w] != NULL && used > 0 && (size_t)used < bytes; w++)
        used += snprintf(trouble + used, bytes - (size_t)used, "%s %s",
                         w == 0                 ? ""
                         : words[w + 1] == NULL ? " or"
                                                : ",",
                         words[w]);
    return false;
}

bool sw_take_text(const char *name, const char *text, size_t most, const char **target,
                  char *trouble, size_t bytes)
{
    *target = text;
    if (text[0] != '\0' && strlen(text) < most)
        return true;
    snprintf(trouble, bytes, "--%s: give a name of 1 to %zu bytes", name, most - 1);
    return false;
}
