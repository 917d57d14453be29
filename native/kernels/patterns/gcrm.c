/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * gcrm: one variable of an atmosphere model whose cells lie on a sphere: time, level, cell; a
 * rank owns consecutive cells in every level, so its data is one long piece a level.
 * Source: GCRM-IO, whose pattern is <3D, (*, *, BLOCK), (1, 1, 327680)> with counts of
 * 1 x 26 x 327680 per rank (Behzad, Byna, Prabhat, Snir, "Pattern-driven parallel I/O tuning",
 * PDSW 2015); documented.  Doubles are assumed.
 */
#include "../kernel.h"

static const struct sw_variable_row variables[] = {{.name = "variable"}};

const struct sw_pattern sw_pattern_gcrm = {
    .name = "gcrm",
    .summary = "time, level, cell: cells in blocks (GCRM-IO; 65 MiB a rank unless --local)",
    .size_help = "TIMES,LEVELS,CELLS",
    .n_dims = 3,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_WHOLE, 0}, {SW_PART_WHOLE, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {1, 26, 327680},
    .default_halo = 0,
    .halo_dims = 4,
    .n_variables = 1,
    .variables = variables,
};
