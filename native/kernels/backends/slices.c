/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "slices.h"

#include <string.h>

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

/* The next elements that are adjacent in memory, at most `count`; goes on behind them. */
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
