/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* array3d: one 3-D array, one block per process of a 3-D grid, halos in memory. */
#include "../kernel.h"

#include <stdio.h>

static void variable_name(int variable, char *name, size_t bytes)
{
    (void)variable;
    snprintf(name, bytes, "array");
}

static bool choose_grid(const struct sw_options *options, int n_ranks, struct sw_domain *domain,
                        char *trouble, size_t bytes)
{
    int grid[3] = {0, 0, 0};
    domain->n_grid = 3;
    if (options->n_grid == 0) {
        MPI_Dims_create(n_ranks, 3, grid);
        for (int d = 0; d < 3; d++)
            domain->grid[d] = grid[d];
        return true;
    }
    int64_t product = 1;
    for (int d = 0; d < 3; d++) {
        domain->grid[d] = options->grid[d];
        if (__builtin_mul_overflow(product, options->grid[d], &product))
            product = -1;
    }
    if (product == n_ranks)
        return true;
    snprintf(trouble, bytes,
             "--grid %lld,%lld,%lld is not for %d rank(s); give three numbers whose product is %d",
             (long long)options->grid[0], (long long)options->grid[1], (long long)options->grid[2],
             n_ranks, n_ranks);
    return false;
}

static bool shape(const struct sw_options *options, int n_ranks, struct sw_domain *domain,
                  char *trouble, size_t bytes)
{
    domain->n_dims = 3;
    if (!choose_grid(options, n_ranks, domain, trouble, bytes))
        return false;
    for (int d = 0; d < 3; d++)
        domain->extent[d] =
            options->n_size > 0 ? options->size[d] : options->local[d] * domain->grid[d];
    return true;
}

static bool boxes(const struct sw_options *options, int rank, int n_ranks,
                  struct sw_domain *domain)
{
    (void)n_ranks;
    int64_t start[3];
    int64_t count[3];
    const int64_t halo[3] = {options->halo, options->halo, options->halo};
    int64_t rest = rank;
    for (int d = 2; d >= 0; d--) { /* ranks in C order over the grid, as MPI_Cart_create */
        sw_split(domain->extent[d], domain->grid[d], rest % domain->grid[d], &start[d], &count[d]);
        rest /= domain->grid[d];
    }
    domain->most_boxes = 1;
    return sw_domain_add(domain, start, count, halo);
}

const struct sw_pattern sw_pattern_array3d = {
    .name = "array3d",
    .summary = "3-D array, one block per process of a 3-D grid",
    .size_help = "N1,N2,N3 elements of the array",
    .n_dims = 3,
    .takes_grid = true,
    .default_halo = 1,
    .default_local = {64, 64, 64},
    .n_variables = 1,
    .variable_name = variable_name,
    .shape = shape,
    .boxes = boxes,
};
