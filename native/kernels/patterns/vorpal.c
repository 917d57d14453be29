/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * vorpal: one field of an accelerator code on a 3-D grid, in 3-D blocks.
 * Source: VORPAL-IO, whose pattern is <3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)> of doubles in 20
 * steps (Behzad, Byna, Prabhat, Snir, "Pattern-driven parallel I/O tuning", PDSW 2015);
 * documented.  The steps are the user's choice (--steps 20); that there is no halo in memory is
 * assumed.
 */
#include "../kernel.h"

static const struct sw_variable_row variables[] = {{.name = "field"}};

const struct sw_pattern sw_pattern_vorpal = {
    .name = "vorpal",
    .summary = "a 3-D field in blocks of 60x100x300 doubles (VORPAL-IO; there --steps 20)",
    .size_help = "N1,N2,N3 points of the field",
    .n_dims = 3,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {60, 100, 300},
    .default_halo = 0,
    .halo_dims = 7,
    .n_variables = 1,
    .variables = variables,
};
