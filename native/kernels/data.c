/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the arrays hold: a value that occurs once in a run, and its check. */
#include "kernel.h"

#include <stddef.h>

int64_t sw_value(const struct sw_options *options, const struct sw_domain *domain, int64_t step,
                 int variable, int64_t index)
{
    return options->seed + 1 + sw_region(domain, step, variable) + index;
}

void sw_data_clear(const struct sw_domain *domain, int64_t *buffer)
{
    int64_t n = domain->allocated * domain->n_variables;
    for (int64_t i = 0; i < n; i++)
        buffer[i] = SW_SENTINEL;
}

void sw_data_fill(const struct sw_options *options, const struct sw_domain *domain, int64_t step,
                  int64_t *buffer)
{
    sw_data_clear(domain, buffer);
    for (int v = 0; v < domain->n_variables; v++)
        for (size_t r = 0; r < domain->n_runs; r++) {
            const struct sw_run *run = &domain->runs[r];
            int64_t *memory = buffer + v * domain->allocated + run->memory;
            int64_t first = sw_value(options, domain, step, v, run->global);
            for (int64_t i = 0; i < run->count; i++)
                memory[i] = first + i;
        }
}

static void note(struct sw_mismatch *mismatch, const struct sw_mismatch *found)
{
    if (mismatch->wrong++ > 0)
        return;
    int64_t wrong = mismatch->wrong;
    *mismatch = *found;
    mismatch->wrong = wrong;
}

/* Elements outside the owned ones must be as they were before the read. */
static void check_halo(const struct sw_domain *domain, int64_t step, int variable,
                       const int64_t *memory, struct sw_mismatch *mismatch)
{
    int64_t untouched = 0;
    for (int64_t i = 0; i < domain->allocated; i++)
        untouched += memory[i] == SW_SENTINEL;
    if (untouched >= domain->allocated - domain->owned)
        return;
    struct sw_mismatch found = {
        .step = step,
        .variable = variable,
        .index = -1,
        .expected = domain->allocated - domain->owned,
        .found = untouched,
    };
    note(mismatch, &found);
}

void sw_data_check(const struct sw_options *options, const struct sw_domain *domain, int64_t step,
                   const int64_t *buffer, struct sw_mismatch *mismatch)
{
    for (int v = 0; v < domain->n_variables; v++) {
        const int64_t *memory = buffer + v * domain->allocated;
        for (size_t r = 0; r < domain->n_runs; r++) {
            const struct sw_run *run = &domain->runs[r];
            int64_t first = sw_value(options, domain, step, v, run->global);
            for (int64_t i = 0; i < run->count; i++) {
                if (memory[run->memory + i] == first + i)
                    continue;
                struct sw_mismatch found = {
                    .step = step,
                    .variable = v,
                    .index = run->global + i,
                    .expected = first + i,
                    .found = memory[run->memory + i],
                };
                note(mismatch, &found);
            }
        }
        check_halo(domain, step, v, memory, mismatch);
    }
}
