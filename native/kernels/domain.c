/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Boxes, and the runs of adjacent elements that they consist of. */
#include "share.h"

#include <stdlib.h>

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

/* Rows of a box: its contiguous elements along the last dimension. */
static int64_t rows_of(const struct sw_domain *domain, const struct sw_box *box)
{
    int last = domain->n_dims - 1;
    int64_t rows = box->count[last];
    for (int d = 0; d < last; d++)
        rows *= sw_box_length(box, d);
    return rows;
}

/* The row with the given number in C order. */
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

/* Join runs that follow each other in the global array and in memory. */
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
