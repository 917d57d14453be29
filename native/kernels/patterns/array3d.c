/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* array3d: one 3-D array, one block per process of a 3-D grid, halos in memory. */
#include "../kernel.h"

static const struct sw_variable_row variables[] = {{.name = "array"}};

const struct sw_pattern sw_pattern_array3d = {
    .name = "array3d",
    .summary = "3-D array, one block per process of a 3-D grid",
    .size_help = "N1,N2,N3 elements of the array",
    .n_dims = 3,
    .default_type = SW_TYPE_INT64,
    .default_distribution = {{SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {64, 64, 64},
    .default_halo = 1,
    .halo_dims = 7,
    .n_variables = 1,
    .variables = variables,
};
