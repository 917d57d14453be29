/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

#include <math.h>
#include <string.h>

void sw_histogram_clear(struct sw_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->least_ns = UINT64_MAX;
}

void sw_histogram_reduce(struct sw_histogram *histogram, MPI_Comm comm)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const void *counts = rank == 0 ? MPI_IN_PLACE : histogram->counts;
    uint64_t sums[2] = {histogram->total, histogram->sum_ns};
    uint64_t least = histogram->least_ns;
    uint64_t most = histogram->most_ns;
    MPI_Reduce(counts, histogram->counts, SW_BINS, MPI_UINT64_T, MPI_SUM, 0, comm);
    MPI_Reduce(&least, &histogram->least_ns, 1, MPI_UINT64_T, MPI_MIN, 0, comm);
    MPI_Reduce(&most, &histogram->most_ns, 1, MPI_UINT64_T, MPI_MAX, 0, comm);
    uint64_t all[2] = {0, 0};
    MPI_Reduce(sums, all, 2, MPI_UINT64_T, MPI_SUM, 0, comm);
    if (rank == 0) {
        histogram->total = all[0];
        histogram->sum_ns = all[1];
    }
}

/* Returns the smallest value of a bin. */
static double begin_of(unsigned bin)
{
    if (bin < 2 * SW_FINE)
        return bin;
    unsigned power = (bin - 2 * SW_FINE) / SW_FINE + SW_FINE_BITS + 1;
    unsigned part = (bin - 2 * SW_FINE) % SW_FINE;
    return ldexp(SW_FINE + part, (int)(power - SW_FINE_BITS));
}

double sw_bin_seconds(unsigned bin)
{
    return bin < 2 * SW_FINE ? bin / 1e9 : (begin_of(bin) + begin_of(bin + 1)) / 2e9;
}

double sw_histogram_percentile(const struct sw_histogram *histogram, double percent)
{
    double least = (double)histogram->least_ns / 1e9;
    double most = (double)histogram->most_ns / 1e9;
    uint64_t wanted = (uint64_t)ceil(percent / 100 * (double)histogram->total);
    uint64_t seen = 0;
    if (histogram->total == 0)
        return 0;
    for (unsigned bin = 0; bin < SW_BINS && percent < 100; bin++) {
        seen += histogram->counts[bin];
        if (seen >= wanted && seen > 0)
            return fmin(fmax(sw_bin_seconds(bin), least), most);
    }
    return most;
}

double sw_histogram_mean(const struct sw_histogram *histogram)
{
    return histogram->total > 0 ? (double)histogram->sum_ns / 1e9 / (double)histogram->total : 0;
}
