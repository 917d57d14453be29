/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* How one dimension is dealt out, in the terms of High Performance Fortran.
 * Source: HPF Language Specification 2.0 (1997), section 3.3 (DISTRIBUTE); documented.  Unlike
 * there, BLOCK without a number is balanced, as in most codes: lengths differ by at most one. */
#include "share.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void sw_split(int64_t extent, int64_t parts, int64_t index, int64_t *start, int64_t *count)
{
    int64_t base = extent / parts;
    int64_t rest = extent % parts;
    *start = base * index + (index < rest ? index : rest);
    *count = base + (index < rest ? 1 : 0);
}

static int consecutive(int64_t start, int64_t count, struct sw_piece *piece)
{
    *piece = (struct sw_piece){.start = start, .stride = count, .count = 1, .block = count};
    return count > 0 ? 1 : 0;
}

/* Blocks of `length` in turn: the full ones of part `index`, then what is left at the end. */
static int cyclic(int64_t length, int64_t extent, int64_t parts, int64_t index,
                  struct sw_piece pieces[2])
{
    int n = 0;
    if (parts == 1)
        return consecutive(0, extent, pieces);
    int64_t stride = length * parts;
    int64_t start = length * index;
    int64_t full = extent - start >= length ? (extent - start - length) / stride + 1 : 0;
    int64_t last = start + full * stride;
    if (full > 1)
        pieces[n++] = (struct sw_piece){start, stride, full, length};
    else if (full > 0)
        n += consecutive(start, length, &pieces[n]);
    if (last < extent)
        n += consecutive(last, extent - last, &pieces[n]);
    return n;
}

int sw_part_pieces(struct sw_part part, int64_t extent, int64_t parts, int64_t index,
                   struct sw_piece pieces[2])
{
    int64_t start = 0;
    int64_t count = extent;
    switch (part.kind) {
    case SW_PART_WHOLE:
        break;
    case SW_PART_BLOCK:
        sw_split(extent, parts, index, &start, &count);
        break;
    case SW_PART_FIXED_BLOCK:
        start = part.length * index;
        count = extent - start < part.length ? extent - start : part.length;
        break;
    case SW_PART_CYCLIC:
        return cyclic(part.length, extent, parts, index, pieces);
    }
    return consecutive(start, count, pieces);
}

/* "(4)" to 4; 0 if it is not a length from 1 on. */
static int64_t length_of(const char *text)
{
    char *end = NULL;
    if (text[0] != '(' || text[1] < '0' || text[1] > '9')
        return 0;
    errno = 0;
    long long length = strtoll(text + 1, &end, 10);
    return errno == 0 && strcmp(end, ")") == 0 && length > 0 && length <= INT_MAX ? length : 0;
}

static bool parse_part(const char *word, struct sw_part *part)
{
    *part = (struct sw_part){.kind = SW_PART_WHOLE};
    if (strcmp(word, "*") == 0)
        return true;
    if (strcasecmp(word, "BLOCK") == 0 || strcasecmp(word, "CYCLIC") == 0) {
        bool block = strcasecmp(word, "BLOCK") == 0;
        part->kind = block ? SW_PART_BLOCK : SW_PART_CYCLIC;
        part->length = block ? 0 : 1;
        return true;
    }
    bool block = strncasecmp(word, "BLOCK(", 6) == 0;
    if (!block && strncasecmp(word, "CYCLIC(", 7) != 0)
        return false;
    part->kind = block ? SW_PART_FIXED_BLOCK : SW_PART_CYCLIC;
    part->length = length_of(strchr(word, '('));
    return part->length > 0;
}

bool sw_distribution_parse(const char *text, struct sw_part *parts, int *n_parts)
{
    char copy[128];
    char *rest = copy;
    *n_parts = 0;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
        return false;
    while (rest != NULL) {
        char *word = strsep(&rest, ",");
        word += strspn(word, " ");
        for (size_t end = strlen(word); end > 0 && word[end - 1] == ' '; end--)
            word[end - 1] = '\0';
        if (*n_parts == SW_MAX_DIMS || !parse_part(word, &parts[(*n_parts)++]))
            return false;
    }
    return true;
}

void sw_distribution_text(const struct sw_part *parts, int n_parts, char *text, size_t bytes)
{
    text[0] = '\0';
    for (int d = 0; d < n_parts; d++) {
        size_t used = strlen(text);
        const struct sw_part *part = &parts[d];
        const char *comma = d > 0 ? "," : "";
        bool cyclic = part->kind == SW_PART_CYCLIC;
        const char *name = part->kind == SW_PART_WHOLE ? "*" : cyclic ? "CYCLIC" : "BLOCK";
        if (part->length > (cyclic ? 1 : 0))
            snprintf(text + used, bytes - used, "%s%s(%lld)", comma, name,
                     (long long)part->length);
        else
            snprintf(text + used, bytes - used, "%s%s", comma, name);
    }
}
