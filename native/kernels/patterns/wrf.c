/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrf: the history file of a weather model: 16 variables of level, south-north, west-east and 28
 * of south-north, west-east; ranks own patches of the plane, with all levels.  Each rank also
 * reads a small namelist at the start.
 * Source: the names are those of WRF's wrfout files (Registry.EM_COMMON), the namelist of 12 KB
 * that 1280 processes read is from Markomanolis, "ExPBB: a framework to explore the performance
 * of burst buffer" (2017), slides on WRF-CHEM; documented.  Which variables, 50 levels, patches of
 * 64 x 64 and halos of 5 points are assumed.  Unlike there, no variable is staggered.
 */
#include "../kernel.h"

#define PLANE 6U /* the second and third dimension */

static const struct sw_variable_row variables[] = {
    {.name = "U"},
    {.name = "V"},
    {.name = "W"},
    {.name = "PH"},
    {.name = "PHB"},
    {.name = "T"},
    {.name = "P"},
    {.name = "PB"},
    {.name = "QVAPOR"},
    {.name = "QCLOUD"},
    {.name = "QRAIN"},
    {.name = "QICE"},
    {.name = "QSNOW"},
    {.name = "QGRAUP"},
    {.name = "CLDFRA"},
    {.name = "TKE_PBL"},
    {.name = "MU", .dims = PLANE},
    {.name = "MUB", .dims = PLANE},
    {.name = "Q2", .dims = PLANE},
    {.name = "T2", .dims = PLANE},
    {.name = "TH2", .dims = PLANE},
    {.name = "PSFC", .dims = PLANE},
    {.name = "U10", .dims = PLANE},
    {.name = "V10", .dims = PLANE},
    {.name = "TSK", .dims = PLANE},
    {.name = "SST", .dims = PLANE},
    {.name = "SWDOWN", .dims = PLANE},
    {.name = "GLW", .dims = PLANE},
    {.name = "GRDFLX", .dims = PLANE},
    {.name = "HFX", .dims = PLANE},
    {.name = "QFX", .dims = PLANE},
    {.name = "LH", .dims = PLANE},
    {.name = "PBLH", .dims = PLANE},
    {.name = "UST", .dims = PLANE},
    {.name = "RAINC", .dims = PLANE},
    {.name = "RAINNC", .dims = PLANE},
    {.name = "SNOWNC", .dims = PLANE},
    {.name = "GRAUPELNC", .dims = PLANE},
    {.name = "SNOW", .dims = PLANE},
    {.name = "SNOWH", .dims = PLANE},
    {.name = "HGT", .dims = PLANE},
    {.name = "XLAT", .dims = PLANE},
    {.name = "XLONG", .dims = PLANE},
    {.name = "LANDMASK", .dims = PLANE},
};

const struct sw_pattern sw_pattern_wrf = {
    .name = "wrf",
    .summary = "weather: 16 3-D and 28 2-D variables in patches, and a namelist (wrfout)",
    .size_help = "LEVELS,NORTH,EAST points",
    .n_dims = 3,
    .default_type = SW_TYPE_FLOAT,
    .default_distribution = {{SW_PART_WHOLE, 0}, {SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {50, 64, 64},
    .default_halo = 5,
    .halo_dims = PLANE,
    .namelist_bytes = 12288,
    .n_variables = sizeof variables / sizeof variables[0],
    .variables = variables,
};
