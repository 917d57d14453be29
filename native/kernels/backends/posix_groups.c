/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "posix_groups.h"

#include <stdio.h>

struct sw_group sw_group_next(const struct sw_options *options, const struct sw_share *share,
                              const struct sw_domain *domain, size_t first)
{
    const struct sw_run *runs = domain->runs;
    const int64_t room = SW_STAGE_BYTES / share->element_bytes;
    const bool packed = options->files != SW_FILES_SHARED;
    struct sw_group group = {.first = first, .end = first + 1, .count = runs[first].count};
    while (group.end < domain->n_runs) {
        const struct sw_run *last = &runs[group.end - 1];
        const struct sw_run *next = &runs[group.end];
        if ((!packed && last->global + last->count != next->global) ||
            group.count + next->count > room)
            break;
        group.count += next->count;
        group.end++;
    }
    return group;
}

/* ---- direct I/O (--direct) ----------------------------------------------------------------- */

static bool odd(int64_t bytes)
{
    return bytes % SW_DIRECT_BYTES != 0;
}

/* Lengths, places in the file and places in memory of one variable. */
static bool variable_aligned(const struct sw_options *options, const struct sw_share *share,
                             const struct sw_variable *variable, int64_t *length, int64_t *offset)
{
    const struct sw_domain *domain = variable->domain;
    const bool packed = options->files != SW_FILES_SHARED;
    int64_t before = 0;
    for (size_t r = 0; r < domain->n_runs;) {
        struct sw_group group = sw_group_next(options, share, domain, r);
        int64_t memory = variable->memory + domain->runs[r].memory * share->element_bytes;
        *length = group.count * share->element_bytes;
        *offset = packed ? variable->packed + before * share->element_bytes
                         : variable->region + domain->runs[r].global * share->element_bytes;
        if (odd(*length) || odd(*offset) || (group.end == r + 1 && odd(memory)))
            return false;
        before += group.count;
        r = group.end;
    }
    return true;
}

bool sw_direct_check(const struct sw_options *options, const struct sw_share *share, int rank,
                     char *trouble, size_t bytes)
{
    int64_t length = options->transfer_bytes;
    int64_t offset = 0;
    bool good = !odd(options->transfer_bytes);
    for (int v = 0; v < share->n_variables && good; v++)
        good = variable_aligned(options, share, &share->variables[v], &length, &offset);
    if (good && (options->files == SW_FILES_SHARED ? options->steps > 1 && odd(share->step_bytes)
                                                   : odd(share->owned_bytes))) {
        good = false;
        length = options->files == SW_FILES_SHARED ? share->step_bytes : share->owned_bytes;
        offset = length;
    }
    if (!good)
        snprintf(trouble, bytes,
                 "--direct: rank %d would move %lld bytes at byte %lld, and O_DIRECT needs "
                 "multiples of %d, in memory too; choose --local (and --transfer) so, with --halo "
                 "0, or leave out --direct",
                 rank, (long long)length, (long long)offset, SW_DIRECT_BYTES);
    return good;
}
