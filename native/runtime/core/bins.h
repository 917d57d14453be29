/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Time bins of one file in one layer (struct sw_bins_record of trace.h). */
#ifndef STRIPEWISE_BINS_H
#define STRIPEWISE_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stripewise/trace.h"

#define SW_BINS_RECENT 8 /* power of two */

struct sw_bins {
    uint64_t from_ns; /* start of the current bin, in which the last call ended */
    uint64_t to_ns;
    struct sw_bin *current;
    struct sw_bin *recent[SW_BINS_RECENT]; /* used as a ring */
    uint32_t made;
    struct sw_bin *spare; /* room for further bins */
    struct sw_bin *spare_end;
};

/* What one call adds; for times see struct sw_event. */
struct sw_span {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

/* Adds to the current bin; returns false if the call is not within it. */
static inline bool sw_bins_add_current(struct sw_bins *bins, const struct sw_span *span)
{
    if (span->start_ns < bins->from_ns || span->end_ns >= bins->to_ns)
        return false;
    struct sw_bin *bin = bins->current;
    if (__builtin_expect(bin->calls == UINT32_MAX, 0))
        return false;
    bin->calls++;
    bin->read_bytes += span->read_bytes;
    bin->write_bytes += span->write_bytes;
    bin->busy_ns += span->end_ns - span->start_ns;
    return true;
}

/* Returns the number of bins that a call spans, all of which may be new. */
size_t sw_bins_needed(const struct sw_span *span);
/* Returns the number of bins that can be created without more room. */
static inline size_t sw_bins_left(const struct sw_bins *bins)
{
    return (size_t)(bins->spare_end - bins->spare);
}
/* Adds to all bins that a call spans; sw_bins_left must be sufficient. */
void sw_bins_add(struct sw_bins *bins, const struct sw_span *span);
/* Allocates a new record with room for `needed` bins or more, and sets its end; returns NULL if
 * there is no room. Call under the lock. */
struct sw_bin *sw_bins_reserve(uint64_t file_id, uint32_t layer, size_t needed, bool first,
                               struct sw_bin **end);
/* Records, once, that a call found no room in the bins. */
void sw_bins_lost(void);

#endif
