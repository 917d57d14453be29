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

#define COMPONENTS 5

static const struct sw_variable_row variables[] = {{.name = "solution"}};

/* Cells per dimension. */
static void grid(int n_ranks, int64_t *cells)
{
    int64_t q = 1;
    while (q * q % n_ranks != 0)
        q++;
    for (int d = 0; d < 3; d++)
        cells[d] = q;
}

/* The cell of `diagonal` in slab `i` of the first dimension. */
static bool add_cell(const struct sw_share *share, struct sw_domain *domain, int64_t diagonal,
                     int64_t i, int64_t width)
{
    int64_t q = share->grid[0];
    const int64_t cell[3] = {i, (diagonal / q + q - i) % q, (diagonal % q + q - i) % q};
    const int64_t halo[4] = {width, width, width, 0};
    struct sw_piece pieces[4] = {[3] = {0, COMPONENTS, 1, COMPONENTS}};
    for (int d = 0; d < 3; d++) {
        pieces[d].count = 1;
        sw_split(share->extent[d], q, cell[d], &pieces[d].start, &pieces[d].block);
        pieces[d].stride = pieces[d].block;
    }
    return sw_domain_add(domain, pieces, halo);
}

static bool boxes(const struct sw_options *options, int rank, int n_ranks,
                  const struct sw_share *share, struct sw_domain *domain)
{
    int64_t q = share->grid[0];
    domain->most_boxes = q * q / n_ranks * q;
    domain->most_blocks = domain->most_boxes;
    for (int64_t i = 0; i < q; i++)
        for (int64_t diagonal = rank; diagonal < q * q; diagonal += n_ranks)
            if (!add_cell(share, domain, diagonal, i, options->halo))
                return false;
    return true;
}

const struct sw_pattern sw_pattern_btio = {
    .name = "btio",
    .summary = "diagonal cells, 5 components: many small strided pieces (NAS BT-IO)",
    .size_help = "N1,N2,N3 points of the array",
    .n_dims = 3,
    .components = COMPONENTS,
    .default_type = SW_TYPE_INT64,
    .default_distribution = {{SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {32, 32, 32},
    .default_halo = 2,
    .n_variables = 1,
    .variables = variables,
    .grid = grid,
    .boxes = boxes,
};
