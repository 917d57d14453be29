/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parser of MPICH_MPIIO_HINTS, in place:
 *
 *   pattern:key=value:key=value,pattern:key=value
 *
 * A value that contains ':' or ',' is enclosed in '#' (cb_config_list=#*:8#). Cray MPICH applies
 * these over the program's own info, hence override.
 */
#include <string.h>

#include "adopt/adopt.h"

/* Cuts off the next piece at `:` or `,` outside of '#...#'; *ended is that character, or '\0'.
 * NULL if a '#' is not closed. */
static char *cut(char **rest, char *ended)
{
    char *start = *rest;
    char *end = start;
    bool quoted = false;
    for (; *end && (quoted || (*end != ':' && *end != ',')); end++)
        quoted ^= *end == '#';
    if (quoted)
        return NULL;
    *ended = *end;
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

static char *unquote(char *value)
{
    char *out = value;
    for (char *in = value; *in; in++)
        if (*in != '#')
            *out++ = *in;
    *out = '\0';
    return value;
}

static const char *add(struct sw_rows *rows, const char *pattern, char *piece)
{
    char *equals = strchr(piece, '=');
    if (equals == NULL || equals == piece)
        return "a hint is not key=value";
    *equals = '\0';
    struct sw_row row = {.source = SW_ROW_MPICH_HINTS,
                         .group = SW_SETTING_MPIIO,
                         .override = 1,
                         .match = pattern,
                         .key = piece,
                         .value = unquote(equals + 1)};
    return sw_row_add(rows, &row) ? NULL : "too many hints";
}

static const char *parse(char *text, struct sw_rows *rows)
{
    const char *pattern = NULL;
    while (*text != '\0') {
        char ended;
        char *piece = cut(&text, &ended);
        if (piece == NULL)
            return "a '#' is not closed";
        while (*piece == ' ' || *piece == '\n' || *piece == '\t')
            piece++;
        if (pattern == NULL && piece[0] == '\0')
            continue; /* a comma at the end */
        const char *problem = NULL;
        if (pattern != NULL)
            problem = add(rows, pattern, piece);
        else if (ended != ':')
            problem = "a pattern without hints";
        if (problem != NULL)
            return problem;
        pattern = ended == ',' ? NULL : pattern != NULL ? pattern : piece;
    }
    return NULL;
}

size_t sw_count_rows_mpich(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '=';
    return count;
}

const char *sw_parse_mpich_hints(char *text, struct sw_rows *rows)
{
    size_t before = rows->used;
    const char *problem = parse(text, rows);
    if (problem != NULL)
        rows->used = before;
    return problem;
}
