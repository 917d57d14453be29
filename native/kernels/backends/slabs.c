/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "slabs.h"

#include <string.h>

/* Returns whether every dimension has single elements at equal distances (or no gaps). */
static bool is_strided(const struct sw_domain *domain, const struct sw_box *box)
{
    bool gaps = false;
    for (int d = 0; d < domain->n_dims; d++) {
        if (box->count[d] > 1 && box->block[d] > 1)
            return false;
        gaps = gaps || box->count[d] > 1;
    }
    return gaps;
}

/* `box` is plain, or strided as a whole. */
static void from_box(const struct sw_domain *domain, const struct sw_box *box,
                     struct sw_slab *slab)
{
    *slab = (struct sw_slab){.n_dims = domain->n_dims, .memory = box->memory, .elements = 1};
    for (int d = 0; d < domain->n_dims; d++) {
        slab->start[d] = box->start[d];
        slab->count[d] = box->count[d] * box->block[d];
        slab->stride[d] = box->count[d] > 1 ? box->stride[d] : 1;
        slab->allocated[d] = box->allocated[d];
        slab->offset[d] = box->halo[d];
        slab->elements *= slab->count[d];
    }
}

bool sw_slabs_next(struct sw_slabs *slabs, struct sw_slab *slab)
{
    const struct sw_domain *domain = slabs->domain;
    struct sw_box plain;
    for (; slabs->box < domain->n_boxes; slabs->box++, slabs->block = 0) {
        const struct sw_box *box = &domain->boxes[slabs->box];
        if (slabs->strides && is_strided(domain, box)) {
            slabs->box++;
            from_box(domain, box, slab);
            return true;
        }
        if (sw_box_blocks(domain, box, slabs->block, &plain)) {
            slabs->block++;
            from_box(domain, &plain, slab);
            return true;
        }
    }
    return false;
}

int64_t sw_slabs_count(const struct sw_domain *domain, bool strides)
{
    int64_t n = 0;
    for (size_t b = 0; b < domain->n_boxes; b++) {
        const struct sw_box *box = &domain->boxes[b];
        int64_t blocks = 1;
        for (int d = 0; d < domain->n_dims; d++)
            blocks *= box->count[d];
        n += strides && is_strided(domain, box) ? 1 : blocks;
    }
    return n;
}

bool sw_slabs_strided(const struct sw_domain *domain)
{
    for (size_t b = 0; b < domain->n_boxes; b++)
        if (is_strided(domain, &domain->boxes[b]))
            return true;
    return false;
}

int64_t sw_slab_first(const struct sw_slab *slab)
{
    int64_t place = 0;
    for (int d = 0; d < slab->n_dims; d++)
        place = place * slab->allocated[d] + slab->offset[d];
    return slab->memory + place;
}

/* Before the last dimension in which memory is larger than the slab, there must only be single
 * elements. */
bool sw_slab_dense(const struct sw_slab *slab)
{
    bool partial = false;
    for (int d = slab->n_dims - 1; d >= 0; d--) {
        if (partial && slab->count[d] != 1)
            return false;
        partial = partial || slab->count[d] != slab->allocated[d];
    }
    return true;
}

bool sw_domain_dense(const struct sw_domain *domain)
{
    struct sw_slabs slabs = {.domain = domain, .strides = false};
    struct sw_slab slab;
    int64_t next = 0;
    while (sw_slabs_next(&slabs, &slab)) {
        if (!sw_slab_dense(&slab) || sw_slab_first(&slab) != next)
            return false;
        next += slab.elements;
    }
    return true;
}

/* Returns the position in memory of a row (its elements along the last dimension), in C order. */
static int64_t row_place(const struct sw_slab *slab, int64_t row)
{
    int64_t place = slab->offset[slab->n_dims - 1];
    int64_t extent = slab->allocated[slab->n_dims - 1];
    for (int d = slab->n_dims - 2; d >= 0; d--) {
        place += (slab->offset[d] + row % slab->count[d]) * extent;
        row /= slab->count[d];
        extent *= slab->allocated[d];
    }
    return slab->memory + place;
}

void sw_slab_copy(const struct sw_slab *slab, int64_t element_bytes, char *variable, char *packed,
                  enum sw_direction direction)
{
    int64_t length = slab->count[slab->n_dims - 1];
    for (int64_t row = 0; row < slab->elements / length; row++) {
        char *place = variable + row_place(slab, row) * element_bytes;
        char *next = packed + row * length * element_bytes;
        memcpy(direction == SW_PACK ? next : place, direction == SW_PACK ? place : next,
               (size_t)(length * element_bytes));
    }
}

/* ---- slices ----------------------------------------------------------------------------- */

char *sw_slice_place(const struct sw_slices *slices, char *memory, int64_t count)
{
    const struct sw_domain *domain = slices->domain;
    const struct sw_run *run = &domain->runs[slices->run];
    int64_t first = run->memory + slices->within;
    int64_t have = run->count - slices->within;
    for (size_t r = slices->run + 1; have < count; r++) {
        if (r == domain->n_runs || domain->runs[r].memory != first + have)
            return NULL;
        have += domain->runs[r].count;
    }
    return memory + first * slices->element_bytes;
}

/* Returns the next elements that are adjacent in memory, at most `count`, and advances behind
 * them. */
static int64_t next_piece(struct sw_slices *slices, int64_t count, int64_t *memory)
{
    const struct sw_run *run = &slices->domain->runs[slices->run];
    int64_t left = run->count - slices->within;
    *memory = (run->memory + slices->within) * slices->element_bytes;
    if (count < left) {
        slices->within += count;
        return count;
    }
    slices->run++;
    slices->within = 0;
    return left;
}

void sw_slices_copy(struct sw_slices *slices, char *memory, int64_t count, char *stage,
                    bool gather)
{
    while (count > 0) {
        int64_t place = 0;
        int64_t n = next_piece(slices, count, &place);
        if (stage != NULL) {
            memcpy(gather ? stage : memory + place, gather ? memory + place : stage,
                   (size_t)(n * slices->element_bytes));
            stage += n * slices->element_bytes;
        }
        count -= n;
    }
}
