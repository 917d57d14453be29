/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Content of the arrays, and its check. */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>

#define DOUBLE_MODULUS (INT64_C(1) << 53)
#define FLOAT_MODULUS (INT64_C(1) << 24)

static int64_t whole_value(const struct sw_options *options, const struct sw_share *share,
                           int64_t step, int variable, int64_t index)
{
    return options->seed + 1 + sw_region(share, step, variable) / share->element_bytes + index;
}

/* ---- contiguous elements, a loop a type -------------------------------------------------- */

static void fill_run(enum sw_type type, char *memory, int64_t n, int64_t first)
{
    int64_t *integers = (int64_t *)memory;
    double *doubles = (double *)memory;
    float *floats = (float *)memory;
    if (type == SW_TYPE_INT64)
        for (int64_t i = 0; i < n; i++)
            integers[i] = first + i;
    else if (type == SW_TYPE_DOUBLE)
        for (int64_t i = 0; i < n; i++)
            doubles[i] = (double)((first + i) % DOUBLE_MODULUS);
    else
        for (int64_t i = 0; i < n; i++)
            floats[i] = (float)((first + i) % FLOAT_MODULUS);
}

static bool is_right(enum sw_type type, const char *memory, int64_t i, int64_t value)
{
    if (type == SW_TYPE_INT64)
        return ((const int64_t *)memory)[i] == value;
    if (type == SW_TYPE_DOUBLE)
        return ((const double *)memory)[i] == (double)(value % DOUBLE_MODULUS);
    return ((const float *)memory)[i] == (float)(value % FLOAT_MODULUS);
}

static bool is_untouched(enum sw_type type, const char *memory, int64_t i)
{
    if (type == SW_TYPE_INT64)
        return ((const int64_t *)memory)[i] == SW_SENTINEL;
    if (type == SW_TYPE_DOUBLE)
        return ((const double *)memory)[i] == SW_SENTINEL;
    return ((const float *)memory)[i] == SW_SENTINEL;
}

static void element_text(enum sw_type type, const char *memory, char *text, size_t bytes)
{
    if (type == SW_TYPE_INT64)
        snprintf(text, bytes, "%lld", (long long)*(const int64_t *)memory);
    else if (type == SW_TYPE_DOUBLE)
        snprintf(text, bytes, "%.17g", *(const double *)memory);
    else
        snprintf(text, bytes, "%.9g", (double)*(const float *)memory);
}

/* ---- a rank's share ------------------------------------------------------------------------ */

void sw_data_clear(const struct sw_share *share, char *buffer)
{
    int64_t n = share->memory_bytes / share->element_bytes;
    int64_t *integers = (int64_t *)buffer;
    double *doubles = (double *)buffer;
    float *floats = (float *)buffer;
    for (int64_t i = 0; i < n; i++) {
        if (share->type == SW_TYPE_INT64)
            integers[i] = SW_SENTINEL;
        else if (share->type == SW_TYPE_DOUBLE)
            doubles[i] = SW_SENTINEL;
        else
            floats[i] = SW_SENTINEL;
    }
}

void sw_data_fill(const struct sw_options *options, const struct sw_share *share, int64_t step,
                  char *buffer)
{
    sw_data_clear(share, buffer);
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *domain = share->variables[v].domain;
        char *memory = buffer + share->variables[v].memory;
        for (size_t r = 0; r < domain->n_runs; r++) {
            const struct sw_run *run = &domain->runs[r];
            fill_run(share->type, memory + run->memory * share->element_bytes, run->count,
                     whole_value(options, share, step, v, run->global));
        }
    }
}

static void note(struct sw_mismatch *mismatch, const struct sw_share *share,
                 const struct sw_mismatch *place, int64_t expected, const char *found)
{
    int64_t right = 0; /* room and alignment for any type */
    if (mismatch->wrong++ > 0)
        return;
    int64_t wrong = mismatch->wrong;
    *mismatch = *place;
    mismatch->wrong = wrong;
    if (found == NULL)
        return;
    fill_run(share->type, (char *)&right, 1, expected);
    element_text(share->type, (const char *)&right, mismatch->expected, sizeof mismatch->expected);
    element_text(share->type, found, mismatch->found, sizeof mismatch->found);
}

/* Elements outside those that were moved must be unchanged by the read. */
static void check_halo(const struct sw_share *share, int64_t step, int variable, int64_t moved,
                       const char *memory, struct sw_mismatch *mismatch)
{
    const struct sw_domain *domain = share->variables[variable].domain;
    const struct sw_mismatch place = {.step = step, .variable = variable, .index = -1};
    int64_t untouched = 0;
    for (int64_t i = 0; i < domain->allocated; i++)
        untouched += is_untouched(share->type, memory, i);
    if (untouched < domain->allocated - moved)
        note(mismatch, share, &place, 0, NULL);
}

/* Checks the first `count` elements of a run. */
static void check_run(const struct sw_options *options, const struct sw_share *share,
                      const struct sw_run *run, int64_t count, const struct sw_mismatch *variable,
                      const char *memory, struct sw_mismatch *mismatch)
{
    int64_t first =
        whole_value(options, share, variable->step, (int)variable->variable, run->global);
    const char *start = memory + run->memory * share->element_bytes;
    for (int64_t i = 0; i < count; i++) {
        if (is_right(share->type, start, i, first + i))
            continue;
        struct sw_mismatch place = *variable;
        place.index = run->global + i;
        note(mismatch, share, &place, first + i, start + i * share->element_bytes);
    }
}

void sw_data_check(const struct sw_options *options, const struct sw_share *share, int64_t step,
                   const char *buffer, const int64_t *moved, struct sw_mismatch *mismatch)
{
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *domain = share->variables[v].domain;
        const struct sw_mismatch variable = {.step = step, .variable = v};
        const char *memory = buffer + share->variables[v].memory;
        const int64_t all = moved != NULL ? moved[v] : domain->owned;
        int64_t left = all;
        for (size_t r = 0; r < domain->n_runs && left > 0; r++) {
            const struct sw_run *run = &domain->runs[r];
            int64_t count = run->count < left ? run->count : left;
            check_run(options, share, run, count, &variable, memory, mismatch);
            left -= count;
        }
        check_halo(share, step, v, all, memory, mismatch);
    }
}

char *sw_memory(int64_t bytes)
{
    void *memory = NULL;
    return posix_memalign(&memory, SW_DIRECT_BYTES, (size_t)bytes) == 0 ? memory : NULL;
}
