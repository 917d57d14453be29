/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * flash: the checkpoint of a block-structured adaptive mesh: 24 unknowns, each an array of
 * BLOCKS x N1 x N2 x N3 cells of its own (dataset or region); a rank owns consecutive blocks.
 * In memory every block is surrounded by guard cells, which are not written.
 * Source: the FLASH I/O benchmark (Zingale, 2001), whose checkpoint has 24 unknowns, 80 blocks
 * of 8 cubed cells per process and 4 guard cells; documented.  Unlike there, an unknown is
 * contiguous in memory (FLASH holds the unknowns of a cell together and copies each out first).
 *
 * flash-io: the same with 10 small variables more, 34 in all: the tree of blocks, of which each
 * here has one element a block.  Source: 34 datasets, of which 24 are as large as the largest:
 * Behzad et al., Pattern-driven Parallel I/O Tuning, PDSW 2015, doi 10.1145/2834976.2834977;
 * names of FLASH's checkpoints; that each holds one element a block is assumed (some hold 3, 6
 * or 15).
 */
#include "../kernel.h"

#define BLOCKS 1U /* the first dimension */
#define N_UNKNOWNS 24

static const struct sw_variable_row variables[] = {
    {.name = "unknown01"},
    {.name = "unknown02"},
    {.name = "unknown03"},
    {.name = "unknown04"},
    {.name = "unknown05"},
    {.name = "unknown06"},
    {.name = "unknown07"},
    {.name = "unknown08"},
    {.name = "unknown09"},
    {.name = "unknown10"},
    {.name = "unknown11"},
    {.name = "unknown12"},
    {.name = "unknown13"},
    {.name = "unknown14"},
    {.name = "unknown15"},
    {.name = "unknown16"},
    {.name = "unknown17"},
    {.name = "unknown18"},
    {.name = "unknown19"},
    {.name = "unknown20"},
    {.name = "unknown21"},
    {.name = "unknown22"},
    {.name = "unknown23"},
    {.name = "unknown24"},
    {.name = "refine_level", .dims = BLOCKS},
    {.name = "node_type", .dims = BLOCKS},
    {.name = "gid", .dims = BLOCKS},
    {.name = "coordinates", .dims = BLOCKS},
    {.name = "block_size", .dims = BLOCKS},
    {.name = "bounding_box", .dims = BLOCKS},
    {.name = "which_child", .dims = BLOCKS},
    {.name = "bflags", .dims = BLOCKS},
    {.name = "gsurr_blks", .dims = BLOCKS},
    {.name = "processor_number", .dims = BLOCKS},
};

const struct sw_pattern sw_pattern_flash = {
    .name = "flash",
    .summary = "24 unknowns on blocks of cells, guard cells in memory (FLASH checkpoint)",
    .size_help = "BLOCKS,N1,N2,N3: blocks in all, cells of one block",
    .n_dims = 4,
    .default_type = SW_TYPE_INT64,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {80, 8, 8, 8},
    .default_halo = 4,
    .halo_dims = 14, /* not between blocks */
    .n_variables = N_UNKNOWNS,
    .variables = variables,
};

const struct sw_pattern sw_pattern_flash_io = {
    .name = "flash-io",
    .summary = "flash and 10 small variables of the blocks: 34 datasets (FLASH-IO)",
    .size_help = "BLOCKS,N1,N2,N3: blocks in all, cells of one block",
    .n_dims = 4,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {80, 8, 8, 8},
    .default_halo = 4,
    .halo_dims = 14, /* not between blocks */
    .n_variables = sizeof variables / sizeof variables[0],
    .variables = variables,
};
