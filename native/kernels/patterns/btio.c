/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * btio: the solution of NAS BT-IO, an array of N1 x N2 x N3 points with 5 components each, in
 * a diagonal multi-partition.  Every dimension is cut into q parts, which makes q^3 cells.
 * Cell (i, j, k) lies on diagonal
 *
 *     d = (k + i) mod q  +  q * ((j + i) mod q),   0 <= d < q^2,
 *
 * and diagonal d belongs to rank d mod P.  A diagonal has one cell in each slab of each
 * dimension, so a rank has the same number of cells in every slab, and its data is many small
 * strided pieces of the file.
 *
 * With a square number P of ranks q = sqrt(P) and a rank owns one diagonal of q cells: BT-IO.
 * Otherwise q is the smallest number whose square P divides, and a rank owns q^2 / P diagonals:
 * still the same number of cells for all (P = 2: q = 2; P = 3: q = 3; P = 8: q = 4).
 *
 * Source: BT-IO: Wong, Van der Wijngaart, NAS-03-002 (2003); any number of ranks: Darte,
 * Chavarria-Miranda, Fowler, Mellor-Crummey, "Generalized multipartitioning" (2002), whose
 * condition is that P divides the number of cells of every slab; documented.
 */
#include "../kernel.h"

#include <stdio.h>

#define COMPONENTS 5

static void variable_name(int variable, char *name, size_t bytes)
{
    (void)variable;
    snprintf(name, bytes, "solution");
}

static int64_t cells_per_dimension(int64_t n_ranks)
{
    int64_t q = 1;
    while (q * q % n_ranks != 0)
        q++;
    return q;
}

static bool shape(const struct sw_options *options, int n_ranks, struct sw_domain *domain,
                  char *trouble, size_t bytes)
{
    (void)trouble;
    (void)bytes;
    domain->n_dims = 4;
    domain->n_grid = 3;
    for (int d = 0; d < 3; d++) {
        domain->grid[d] = cells_per_dimension(n_ranks);
        domain->extent[d] =
            options->n_size > 0 ? options->size[d] : options->local[d] * domain->grid[d];
    }
    domain->extent[3] = COMPONENTS;
    return true;
}

/* The cell of `diagonal` in slab `i` of the first dimension. */
static bool add_cell(struct sw_domain *domain, int64_t diagonal, int64_t i, int64_t width)
{
    int64_t q = domain->grid[0];
    const int64_t cell[3] = {i, (diagonal / q + q - i) % q, (diagonal % q + q - i) % q};
    const int64_t halo[4] = {width, width, width, 0};
    int64_t start[4] = {0, 0, 0, 0};
    int64_t count[4] = {0, 0, 0, COMPONENTS};
    for (int d = 0; d < 3; d++)
        sw_split(domain->extent[d], q, cell[d], &start[d], &count[d]);
    return sw_domain_add(domain, start, count, halo);
}

static bool boxes(const struct sw_options *options, int rank, int n_ranks,
                  struct sw_domain *domain)
{
    int64_t q = domain->grid[0];
    domain->most_boxes = q * q / n_ranks * q;
    for (int64_t i = 0; i < q; i++)
        for (int64_t diagonal = rank; diagonal < q * q; diagonal += n_ranks)
            if (!add_cell(domain, diagonal, i, options->halo))
                return false;
    return true;
}

const struct sw_pattern sw_pattern_btio = {
    .name = "btio",
    .summary = "diagonal cells, 5 components: many small strided pieces (NAS BT-IO)",
    .size_help = "N1,N2,N3 points of the array",
    .n_dims = 3,
    .takes_grid = false,
    .default_halo = 2,
    .default_local = {32, 32, 32},
    .n_variables = 1,
    .variable_name = variable_name,
    .shape = shape,
    .boxes = boxes,
};
