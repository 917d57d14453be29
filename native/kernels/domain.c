/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Boxes, and the runs of adjacent elements that they consist of. */
#include "kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sw_split(int64_t extent, int64_t parts, int64_t index, int64_t *start, int64_t *count)
{
    int64_t base = extent / parts;
    int64_t rest = extent % parts;
    *start = base * index + (index < rest ? index : rest);
    *count = base + (index < rest ? 1 : 0);
}

bool sw_domain_add(struct sw_domain *domain, const int64_t *start, const int64_t *count,
                   const int64_t *halo)
{
    int64_t owned = 1;
    int64_t allocated = 1;
    struct sw_box box = {.memory = domain->allocated};
    for (int d = 0; d < domain->n_dims; d++) {
        box.start[d] = start[d];
        box.count[d] = count[d];
        box.halo[d] = halo[d];
        box.allocated[d] = count[d] + 2 * halo[d];
        owned *= count[d];
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

/* Rows of a box: its elements along the last dimension. */
static int64_t rows_of(const struct sw_domain *domain, const struct sw_box *box)
{
    int64_t rows = 1;
    for (int d = 0; d < domain->n_dims - 1; d++)
        rows *= box->count[d];
    return rows;
}

/* The row with the given number in C order. */
static struct sw_run row_at(const struct sw_domain *domain, const struct sw_box *box, int64_t row)
{
    int last = domain->n_dims - 1;
    int64_t place[SW_MAX_DIMS] = {0};
    for (int d = last - 1; d >= 0; d--) {
        place[d] = row % box->count[d];
        row /= box->count[d];
    }
    struct sw_run run = {.count = box->count[last]};
    for (int d = 0; d <= last; d++) {
        run.global = run.global * domain->extent[d] + box->start[d] + place[d];
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

static bool make_runs(struct sw_domain *domain)
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
    for (size_t b = 0; b < domain->n_boxes; b++)
        for (int64_t row = 0; row < rows_of(domain, &domain->boxes[b]); row++)
            domain->runs[n++] = row_at(domain, &domain->boxes[b], row);
    if (domain->n_boxes > 1)
        qsort(domain->runs, n, sizeof *domain->runs, by_global);
    domain->n_runs = join(domain->runs, n);
    return true;
}

/* All offsets and values must fit 63 bits, all extents an int (MPI's subarrays). */
static bool count_elements(const struct sw_options *options, struct sw_domain *domain)
{
    domain->elements = 1;
    for (int d = 0; d < domain->n_dims; d++) {
        int64_t padded = 0;
        if (__builtin_add_overflow(domain->extent[d], 2 * options->halo, &padded) ||
            padded > INT_MAX)
            return false;
        if (__builtin_mul_overflow(domain->elements, domain->extent[d], &domain->elements))
            return false;
    }
    int64_t all = 0;
    return !__builtin_mul_overflow(domain->elements, (int64_t)domain->n_variables, &all) &&
           !__builtin_mul_overflow(all, options->steps, &all) &&
           !__builtin_mul_overflow(all, (int64_t)SW_ELEMENT_BYTES, &all);
}

bool sw_domain_make(const struct sw_options *options, int rank, int n_ranks,
                    struct sw_domain *domain, char *trouble, size_t bytes)
{
    *domain = (struct sw_domain){.n_variables = options->pattern->n_variables};
    if (!options->pattern->shape(options, n_ranks, domain, trouble, bytes))
        return false;
    if (!count_elements(options, domain)) {
        snprintf(
            trouble, bytes,
            "the arrays are too large (a dimension above %d, or more than 2^63 bytes in all); "
            "give a smaller --size, --local, --halo or --steps",
            INT_MAX);
        return false;
    }
    if (rank < 0)
        return true; /* the shape is all that was asked for */
    if (options->pattern->boxes(options, rank, n_ranks, domain) && make_runs(domain))
        return true;
    snprintf(trouble, bytes, "out of memory for the description of rank %d's share", rank);
    sw_domain_free(domain);
    return false;
}

void sw_domain_free(struct sw_domain *domain)
{
    free(domain->boxes);
    free(domain->runs);
    domain->boxes = NULL;
    domain->runs = NULL;
}

int64_t sw_region(const struct sw_domain *domain, int64_t step, int variable)
{
    return (step * domain->n_variables + variable) * domain->elements;
}
