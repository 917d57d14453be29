/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The patterns: which arrays they have, and how these are distributed to the ranks. A new one is a
 * table here, and a row of sw_patterns at the end.
 */
#include "kernel.h"

#include <string.h>

/* array3d: one 3-D array, one block per process of a 3-D grid, halos in memory. */
static const char *const array3d_variables[] = {"array"};

static const struct sw_pattern array3d = {
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
    .variables = array3d_variables,
};

/*
 * flash: the checkpoint of a block-structured adaptive mesh: 24 unknowns, each an array of
 * BLOCKS x N1 x N2 x N3 cells of its own (dataset or region); a rank owns consecutive blocks.
 * In memory, every block is surrounded by guard cells, which are not written.
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
#define BLOCKS 1U /* the first dimension */
#define N_UNKNOWNS 24

/* The unknowns, then what flash-io has of the blocks. */
static const char *const flash_variables[] = {
    "unknown01",    "unknown02", "unknown03",  "unknown04",       "unknown05",  "unknown06",
    "unknown07",    "unknown08", "unknown09",  "unknown10",       "unknown11",  "unknown12",
    "unknown13",    "unknown14", "unknown15",  "unknown16",       "unknown17",  "unknown18",
    "unknown19",    "unknown20", "unknown21",  "unknown22",       "unknown23",  "unknown24",
    "refine_level", "node_type", "gid",        "coordinates",     "block_size", "bounding_box",
    "which_child",  "bflags",    "gsurr_blks", "processor_number"};

static const struct sw_pattern flash = {
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
    .variables = flash_variables,
};

static const struct sw_pattern flash_io = {
    .name = "flash-io",
    .summary = "flash and 10 small variables of the blocks: 34 datasets (FLASH-IO)",
    .size_help = "BLOCKS,N1,N2,N3: blocks in all, cells of one block",
    .n_dims = 4,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {80, 8, 8, 8},
    .default_halo = 4,
    .halo_dims = 14, /* not between blocks */
    .n_variables = 34,
    .n_partial = 34 - N_UNKNOWNS,
    .partial_dims = BLOCKS,
    .variables = flash_variables,
};

/*
 * btio: the solution of NAS BT-IO, an array of N1 x N2 x N3 points with 5 components each, in a
 * diagonal multi-partition. Every dimension is divided into q parts, which makes q^3 cells. Cell
 * (i, j, k) is on diagonal
 *
 *     d = (k + i) mod q  +  q * ((j + i) mod q),   0 <= d < q^2,
 *
 * and diagonal d belongs to rank d mod P.  A diagonal has one cell in each slab of each
 * dimension, so a rank has the same number of cells in every slab, and its data is many small
 * strided pieces of the file.
 *
 * With a square number P of ranks, q = sqrt(P) and a rank owns one diagonal of q cells, as in
 * BT-IO. Otherwise q is the smallest number whose square is divisible by P, and a rank owns q^2 /
 * P diagonals: still the same number of cells for all (P = 2: q = 2; P = 3: q = 3; P = 8: q = 4).
 *
 * Source: BT-IO: Wong, Van der Wijngaart, NAS-03-002 (2003); any number of ranks: Darte,
 * Chavarria-Miranda, Fowler, Mellor-Crummey, "Generalized multipartitioning" (2002), whose
 * condition is that P divides the number of cells of every slab; documented.
 */
#define COMPONENTS 5

static const char *const btio_variables[] = {"solution"};

/* Gets the cells per dimension. */
static void btio_grid(int n_ranks, int64_t *cells)
{
    int64_t q = 1;
    while (q * q % n_ranks != 0)
        q++;
    for (int d = 0; d < 3; d++)
        cells[d] = q;
}

/* Adds the cell of `diagonal` in slab `i` of the first dimension. */
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

static bool btio_boxes(const struct sw_options *options, int rank, int n_ranks,
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

static const struct sw_pattern btio = {
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
    .variables = btio_variables,
    .grid = btio_grid,
    .boxes = btio_boxes,
};

/*
 * vpic: the particles of a plasma code: 8 variables of 4 bytes, each one long array of which a
 * rank owns consecutive elements.
 * Source: VPIC-IO, whose pattern is <1D, BLOCK, 8388608> for 8 variables (Behzad, Byna, Prabhat,
 * Snir, "Pattern-driven parallel I/O tuning", PDSW 2015), 8 Mi particles or 32 MiB per rank and
 * variable; documented.  There id1 and id2 are integers of 4 bytes; here all are floats.
 */
static const char *const vpic_variables[] = {"x", "y", "z", "px", "py", "pz", "id1", "id2"};

static const struct sw_pattern vpic = {
    .name = "vpic",
    .summary = "8 variables of particles, 1-D blocks (VPIC-IO; 256 MiB a rank unless --local)",
    .size_help = "N particles in all",
    .n_dims = 1,
    .default_type = SW_TYPE_FLOAT,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {8388608},
    .halo_dims = 1,
    .n_variables = 8,
    .variables = vpic_variables,
};

/*
 * vorpal: one field of an accelerator code on a 3-D grid, in 3-D blocks.
 * Source: VORPAL-IO, whose pattern is <3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)> of doubles in 20
 * steps (Behzad, Byna, Prabhat, Snir, "Pattern-driven parallel I/O tuning", PDSW 2015);
 * documented.  The steps are the user's choice (--steps 20); that there is no halo in memory is
 * assumed.
 */
static const char *const vorpal_variables[] = {"field"};

static const struct sw_pattern vorpal = {
    .name = "vorpal",
    .summary = "a 3-D field in blocks of 60x100x300 doubles (VORPAL-IO; there --steps 20)",
    .size_help = "N1,N2,N3 points of the field",
    .n_dims = 3,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {60, 100, 300},
    .halo_dims = 7,
    .n_variables = 1,
    .variables = vorpal_variables,
};

/*
 * gcrm: one variable of an atmosphere model whose cells lie on a sphere: time, level, cell; a
 * rank owns consecutive cells in every level, so its data is one long piece a level.
 * Source: GCRM-IO, whose pattern is <3D, (*, *, BLOCK), (1, 1, 327680)> with counts of
 * 1 x 26 x 327680 per rank (Behzad, Byna, Prabhat, Snir, "Pattern-driven parallel I/O tuning",
 * PDSW 2015); documented.  Doubles are assumed.
 */
static const char *const gcrm_variables[] = {"variable"};

static const struct sw_pattern gcrm = {
    .name = "gcrm",
    .summary = "time, level, cell: cells in blocks (GCRM-IO; 65 MiB a rank unless --local)",
    .size_help = "TIMES,LEVELS,CELLS",
    .n_dims = 3,
    .default_type = SW_TYPE_DOUBLE,
    .default_distribution = {{SW_PART_WHOLE, 0}, {SW_PART_WHOLE, 0}, {SW_PART_BLOCK, 0}},
    .default_local = {1, 26, 327680},
    .halo_dims = 4,
    .n_variables = 1,
    .variables = gcrm_variables,
};

/*
 * wrf: the history file of a weather model: 16 variables of level, south-north, west-east and 28
 * of south-north, west-east; ranks own patches of the plane, with all levels.  Each rank also
 * reads a small namelist at the start.
 * Source: the names are those of WRF's wrfout files (Registry.EM_COMMON), the namelist of 12 KB
 * that 1280 processes read is from Markomanolis, "ExPBB: a framework to explore the performance
 * of burst buffer" (2017), slides on WRF-CHEM; documented.  Which variables, 50 levels, patches of
 * 64 x 64 and halos of 5 points are assumed.  Unlike there, no variable is staggered.
 */
#define PLANE 6U /* the second and third dimension */
#define N_OF_PLANE 28

/* Variables of the volume, then N_OF_PLANE of the plane. */
static const char *const wrf_variables[] = {
    "U",      "V",         "W",    "PH",    "PHB",    "T",      "P",       "PB",      "QVAPOR",
    "QCLOUD", "QRAIN",     "QICE", "QSNOW", "QGRAUP", "CLDFRA", "TKE_PBL", "MU",      "MUB",
    "Q2",     "T2",        "TH2",  "PSFC",  "U10",    "V10",    "TSK",     "SST",     "SWDOWN",
    "GLW",    "GRDFLX",    "HFX",  "QFX",   "LH",     "PBLH",   "UST",     "RAINC",   "RAINNC",
    "SNOWNC", "GRAUPELNC", "SNOW", "SNOWH", "HGT",    "XLAT",   "XLONG",   "LANDMASK"};

static const struct sw_pattern wrf = {
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
    .n_variables = 44,
    .n_partial = N_OF_PLANE,
    .partial_dims = PLANE,
    .variables = wrf_variables,
};

/*
 * blocks: one long array, consecutive elements per rank: what IOR writes.  A step is IOR's
 * segment: with --steps N --open-once the file holds N segments, each with the blocks of all
 * ranks.
 * Source: IOR's user documentation, "-b blockSize" and "-s segmentCount"; documented.  The size
 * of a block is assumed.
 */
static const char *const blocks_variables[] = {"data"};

static const struct sw_pattern blocks = {
    .name = "blocks",
    .summary = "1-D array, one contiguous block per process (IOR; 8 MiB a rank unless --local)",
    .size_help = "N elements in all",
    .n_dims = 1,
    .default_type = SW_TYPE_INT64,
    .default_distribution = {{SW_PART_BLOCK, 0}},
    .default_local = {1048576},
    .halo_dims = 1,
    .plain_view = true,
    .n_variables = 1,
    .variables = blocks_variables,
};

const struct sw_pattern *const sw_patterns[] = {
    &array3d, &flash, &flash_io, &btio, &vpic, &vorpal, &gcrm, &wrf, &blocks, NULL,
};

const struct sw_pattern *sw_pattern_find(const char *name)
{
    for (size_t i = 0; sw_patterns[i] != NULL; i++)
        if (strcmp(sw_patterns[i]->name, name) == 0)
            return sw_patterns[i];
    return NULL;
}
