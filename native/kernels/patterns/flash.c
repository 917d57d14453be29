/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * flash: the checkpoint of a block-structured adaptive mesh: 24 unknowns, each an array of
 * BLOCKS x N1 x N2 x N3 cells of its own (dataset or region); a rank owns consecutive blocks.
 * In memory every block is surrounded by guard cells, which are not written.
 * Source: the FLASH I/O benchmark (Zingale, 2001), whose checkpoint has 24 unknowns, 80 blocks
 * of 8 cubed cells per process and 4 guard cells; documented.  Unlike there, an unknown is
 * contiguous in memory (FLASH holds the unknowns of a cell together and copies each out first).
 */
#include "../kernel.h"

#include <stdio.h>

static void variable_name(int variable, char *name, size_t bytes)
{
    snprintf(name, bytes, "unknown%02d", variable + 1);
}

static bool shape(const struct sw_options *options, int n_ranks, struct sw_domain *domain,
                  char *trouble, size_t bytes)
{
    (void)trouble;
    (void)bytes;
    domain->n_dims = 4;
    domain->n_grid = 1;
    domain->grid[0] = n_ranks;
    const int64_t *given = options->n_size > 0 ? options->size : options->local;
    domain->extent[0] = options->n_size > 0 ? given[0] : given[0] * n_ranks;
    for (int d = 1; d < 4; d++)
        domain->extent[d] = given[d];
    return true;
}

static bool boxes(const struct sw_options *options, int rank, int n_ranks,
                  struct sw_domain *domain)
{
    int64_t start[4] = {0, 0, 0, 0};
    int64_t count[4] = {0, domain->extent[1], domain->extent[2], domain->extent[3]};
    const int64_t halo[4] = {0, options->halo, options->halo, options->halo};
    sw_split(domain->extent[0], n_ranks, rank, &start[0], &count[0]);
    domain->most_boxes = 1;
    return sw_domain_add(domain, start, count, halo);
}

const struct sw_pattern sw_pattern_flash = {
    .name = "flash",
    .summary = "24 unknowns on blocks of cells, guard cells in memory (FLASH checkpoint)",
    .size_help = "BLOCKS,N1,N2,N3: blocks in all, cells of one block",
    .n_dims = 4,
    .takes_grid = false,
    .default_halo = 4,
    .default_local = {80, 8, 8, 8},
    .n_variables = 24,
    .variable_name = variable_name,
    .shape = shape,
    .boxes = boxes,
};
