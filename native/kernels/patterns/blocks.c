/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks: one long array, consecutive elements per rank: what IOR writes.  A step is IOR's
 * segment: with --steps N --open-once the file holds N segments, each with the blocks of all
 * ranks.
 * Source: IOR's user documentation, "-b blockSize" and "-s segmentCount"; documented.  The size
 * of a block is assumed.
 */
#include "../kernel.h"

static const struct sw_variable_row variables[] = {{.name = "data"}};

const struct sw_pattern sw_pattern_blocks = {
    .name = "blocks",
    .summary = "1-D array, one contiguous block per process (IOR; 8 MiB a rank unless --local)",
    .size_help = "N elements in all",
    .n_dims = 1,
    .default_type = SW_TYPE_INT64,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {1048576},
    .default_halo = 0,
    .halo_dims = 1,
    .plain_view = true,
    .n_variables = 1,
    .variables = variables,
};
