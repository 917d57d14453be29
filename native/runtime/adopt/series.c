/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Determines to which later files of a series a setting applies (include/stripewise/flat.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adopt/adopt.h"

static bool parse_kind(const char *kind, struct sw_series_class *of)
{
    static const char *const names[] = {
        "read-independent-contiguous",  "read-independent-interleaved",
        "read-collective-contiguous",   "read-collective-interleaved",
        "write-independent-contiguous", "write-independent-interleaved",
        "write-collective-contiguous",  "write-collective-interleaved",
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        of->interleaved = (i & 1) != 0;
        of->collective = (i & 2) != 0;
        of->writing = (i & 4) != 0;
        if (strcmp(kind, names[i]) == 0)
            return true;
    }
    return false;
}

/* Parses a nonnegative number and the character after it. */
static bool parse_number(const char **at, char end, int64_t *number)
{
    char *rest;
    if (**at < '0' || **at > '9')
        return false;
    int saved_errno = errno;
    errno = 0;
    *number = strtoll(*at, &rest, 10);
    bool fits = errno == 0;
    errno = saved_errno;
    if (!fits || *rest != end)
        return false;
    *at = rest + 1;
    return true;
}

bool sw_series_parse(const char *kind, const char *ranges, struct sw_series_class *of)
{
    if (!parse_kind(kind, of))
        return false;
    for (int i = 0; i < SW_RANGE_COUNT; i++)
        if (!parse_number(&ranges, ',', &of->least[i]) ||
            !parse_number(&ranges, i + 1 < SW_RANGE_COUNT ? ',' : '\0', &of->most[i]))
            return false;
    return true;
}

bool sw_series_fits(const struct sw_series_class *of, const struct sw_file_use *use)
{
    const int64_t values[SW_RANGE_COUNT] = {
        [SW_RANGE_RANKS] = use->ranks,
        [SW_RANGE_BYTES] = use->bytes,
        [SW_RANGE_RUN] = use->run_bytes,
    };
    if (of->writing != use->writing || of->collective != use->collective ||
        of->interleaved != use->interleaved)
        return false;
    for (int i = 0; i < SW_RANGE_COUNT; i++)
        if (values[i] < of->least[i] || values[i] > of->most[i])
            return false;
    return true;
}

bool sw_setting_store(const struct sw_row *row, struct sw_setting *settings, size_t *used,
                      size_t room)
{
    size_t slot = 0;
    while (slot < *used && strcmp(settings[slot].key, row->key) != 0)
        slot++;
    if (slot == room)
        return false;
    settings[slot] =
        (struct sw_setting){.key = row->key, .value = row->value, .override = row->override};
    *used += slot == *used;
    return true;
}
