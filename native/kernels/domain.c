/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* How one dimension is distributed, in the terms of High Performance Fortran. Source: HPF Language
 * Specification 2.0 (1997), section 3.3 (DISTRIBUTE); documented. Unlike there, BLOCK without a
 * number is balanced, as in most codes: lengths differ by at most one. */
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

/* Gets blocks of `length` in turn: the full ones of part `index`, then what is left at the end. */
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

/* Converts "(4)" to 4; returns 0 if it is not a length of at least 1. */
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

/* ---- boxes, and the runs of adjacent elements that they consist of -------------------------- */

int64_t sw_box_length(const struct sw_box *box, int d)
{
    return box->count[d] * box->block[d];
}

bool sw_domain_add(struct sw_domain *domain, const struct sw_piece *pieces, const int64_t *halo)
{
    int64_t owned = 1;
    int64_t allocated = 1;
    struct sw_box box = {.memory = domain->allocated};
    for (int d = 0; d < domain->n_dims; d++) {
        box.start[d] = pieces[d].start;
        box.stride[d] = pieces[d].stride;
        box.count[d] = pieces[d].count;
        box.block[d] = pieces[d].block;
        box.halo[d] = halo[d];
        box.allocated[d] = sw_box_length(&box, d) + 2 * halo[d];
        owned *= sw_box_length(&box, d);
        if (__builtin_mul_overflow(allocated, box.allocated[d], &allocated))
            return false;
    }
    if (owned == 0)
        return true;
    struct sw_box *boxes = realloc(domain->boxes, (domain->n_boxes + 1) * sizeof *boxes);
    if (boxes == NULL)
        return false;
    domain->boxes = boxes;
    boxes[domain->n_boxes++] = box;
    domain->owned += owned;
    return !__builtin_add_overflow(domain->allocated, allocated, &domain->allocated);
}

bool sw_box_plain(const struct sw_domain *domain, const struct sw_box *box)
{
    for (int d = 0; d < domain->n_dims; d++)
        if (box->count[d] != 1)
            return false;
    return true;
}

bool sw_box_blocks(const struct sw_domain *domain, const struct sw_box *box, int64_t index,
                   struct sw_box *plain)
{
    *plain = *box;
    for (int d = domain->n_dims - 1; d >= 0; d--) {
        int64_t number = index % box->count[d];
        index /= box->count[d];
        plain->start[d] = box->start[d] + number * box->stride[d];
        plain->halo[d] = box->halo[d] + number * box->block[d];
        plain->stride[d] = box->block[d];
        plain->count[d] = 1;
    }
    return index == 0;
}

/* Returns the rows of a box: its contiguous elements along the last dimension. */
static int64_t rows_of(const struct sw_domain *domain, const struct sw_box *box)
{
    int last = domain->n_dims - 1;
    int64_t rows = box->count[last];
    for (int d = 0; d < last; d++)
        rows *= sw_box_length(box, d);
    return rows;
}

/* Returns the row with the given number in C order. */
static struct sw_run row_at(const struct sw_domain *domain, const struct sw_box *box, int64_t row)
{
    int last = domain->n_dims - 1;
    int64_t place[SW_MAX_DIMS] = {0}; /* in memory, from the first owned element */
    place[last] = row % box->count[last] * box->block[last];
    row /= box->count[last];
    for (int d = last - 1; d >= 0; d--) {
        place[d] = row % sw_box_length(box, d);
        row /= sw_box_length(box, d);
    }
    struct sw_run run = {.memory = 0, .count = box->block[last]};
    for (int d = 0; d <= last; d++) {
        int64_t global =
            box->start[d] + place[d] / box->block[d] * box->stride[d] + place[d] % box->block[d];
        run.global = run.global * domain->extent[d] + global;
        run.memory = run.memory * box->allocated[d] + box->halo[d] + place[d];
    }
    run.memory += box->memory;
    return run;
}

static int by_global(const void *left, const void *right)
{
    int64_t a = ((const struct sw_run *)left)->global;
    int64_t b = ((const struct sw_run *)right)->global;
    return (a > b) - (a < b);
}

/* Merges runs that follow each other in the global array and in memory. */
static size_t join(struct sw_run *runs, size_t n_runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_runs; i++) {
        struct sw_run *last = kept > 0 ? &runs[kept - 1] : NULL;
        if (last != NULL && last->global + last->count == runs[i].global &&
            last->memory + last->count == runs[i].memory)
            last->count += runs[i].count;
        else
            runs[kept++] = runs[i];
    }
    return kept;
}

bool sw_domain_finish(struct sw_domain *domain)
{
    int64_t rows = 0;
    for (size_t b = 0; b < domain->n_boxes; b++)
        rows += rows_of(domain, &domain->boxes[b]);
    if (rows == 0)
        return true;
    domain->runs = calloc((size_t)rows, sizeof *domain->runs);
    if (domain->runs == NULL)
        return false;
    size_t n = 0;
    for (size_t b = 0; b < domain->n_boxes; b++) {
        const struct sw_box *box = &domain->boxes[b];
        rows = rows_of(domain, box);
        for (int64_t row = 0; row < rows; row++)
            domain->runs[n++] = row_at(domain, box, row);
    }
    if (domain->n_boxes > 1)
        qsort(domain->runs, n, sizeof *domain->runs, by_global);
    domain->n_runs = join(domain->runs, n);
    return true;
}

void sw_domain_free(struct sw_domain *domain)
{
    free(domain->boxes);
    free(domain->runs);
    domain->boxes = NULL;
    domain->runs = NULL;
}
