/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Durations in bins of a logarithmic scale: exact below 128 ns, then 64 bins for each power of
 * two, so that a value is known to 1 part in 128 (0.8 %). The memory does not depend on their
 * number.
 */
#ifndef STRIPEWISE_METADATA_HISTOGRAM_H
#define STRIPEWISE_METADATA_HISTOGRAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define SW_FINE_BITS 6
#define SW_FINE (1 << SW_FINE_BITS) /* bins per power of two */
#define SW_LAST_POWER 42            /* 2^43 ns: 2.4 hours; longer times are in the last bin */
#define SW_BINS (2 * SW_FINE + (SW_LAST_POWER - SW_FINE_BITS) * SW_FINE)

struct sw_histogram {
    uint64_t counts[SW_BINS];
    uint64_t total; /* number of operations */
    uint64_t sum_ns;
    uint64_t least_ns, most_ns;
};

static inline unsigned sw_bin_of(uint64_t ns)
{
    if (ns < 2 * SW_FINE)
        return (unsigned)ns;
    unsigned power = 63U - (unsigned)__builtin_clzll(ns);
    if (power > SW_LAST_POWER)
        return SW_BINS - 1;
    unsigned part = (unsigned)(ns >> (power - SW_FINE_BITS)) & (SW_FINE - 1);
    return 2 * SW_FINE + (power - SW_FINE_BITS - 1) * SW_FINE + part;
}

static inline void sw_histogram_add(struct sw_histogram *histogram, uint64_t ns)
{
    histogram->counts[sw_bin_of(ns)]++;
    histogram->total++;
    histogram->sum_ns += ns;
    if (ns < histogram->least_ns)
        histogram->least_ns = ns;
    if (ns > histogram->most_ns)
        histogram->most_ns = ns;
}

void sw_histogram_clear(struct sw_histogram *histogram);
/* Sums over all ranks, on rank 0. Collective. */
void sw_histogram_reduce(struct sw_histogram *histogram, MPI_Comm comm);
/* Returns the middle of a bin in seconds. */
double sw_bin_seconds(unsigned bin);
/* Returns the time in seconds that `percent` of the operations do not exceed; 100: the longest,
 * exactly. */
double sw_histogram_percentile(const struct sw_histogram *histogram, double percent);
double sw_histogram_mean(const struct sw_histogram *histogram);

#endif
