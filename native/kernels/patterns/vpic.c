/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * vpic: the particles of a plasma code: 8 variables of 4 bytes, each one long array of which a
 * rank owns consecutive elements.
 * Source: VPIC-IO, whose pattern is <1D, BLOCK, 8388608> for 8 variables (Behzad, Byna, Prabhat,
 * Snir, "Pattern-driven parallel I/O tuning", PDSW 2015), 8 Mi particles or 32 MiB per rank and
 * variable; documented.  There id1 and id2 are integers of 4 bytes; here all are floats.
 */
#include "../kernel.h"

static const struct sw_variable_row variables[] = {
    {.name = "x"},  {.name = "y"},  {.name = "z"},   {.name = "px"},
    {.name = "py"}, {.name = "pz"}, {.name = "id1"}, {.name = "id2"},
};

const struct sw_pattern sw_pattern_vpic = {
    .name = "vpic",
    .summary = "8 variables of particles, 1-D blocks (VPIC-IO; 256 MiB a rank unless --local)",
    .size_help = "N particles in all",
    .n_dims = 1,
    .default_type = SW_TYPE_FLOAT,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {8388608},
    .default_halo = 0,
    .halo_dims = 1,
    .n_variables = 8,
    .variables = variables,
};
