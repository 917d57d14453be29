/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Nanoseconds on standard input, dealt out to the ranks; what the histogram of all tells. */
#include "histogram.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const double percents[] = {0, 10, 50, 90, 99, 99.9, 100};
    static struct sw_histogram histogram;
    int rank = 0;
    uint64_t ns = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sw_histogram_clear(&histogram);
    while (rank == 0 && scanf("%" SCNu64, &ns) == 1)
        sw_histogram_add(&histogram, ns);
    sw_histogram_reduce(&histogram, MPI_COMM_WORLD);
    for (size_t p = 0; rank == 0 && p < sizeof percents / sizeof percents[0]; p++)
        printf("%.12g ", sw_histogram_percentile(&histogram, percents[p]));
    if (rank == 0)
        printf("%.12g %" PRIu64 "\n", sw_histogram_mean(&histogram), histogram.total);
    MPI_Finalize();
    return 0;
}
