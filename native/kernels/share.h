/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one rank owns of the global arrays, and where it is in its memory.
 *
 *   sw_part    how one dimension is distributed (BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), *)
 *   sw_box     a regular hyperslab of a global array and its position in memory
 *   sw_domain  a rank's boxes of one global shape; variables of the same shape share it
 *   sw_share   all variables of one rank: the domain, memory and file region of each
 */
#ifndef STRIPEWISE_KERNEL_SHARE_H
#define STRIPEWISE_KERNEL_SHARE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SW_MAX_DIMS 4

struct sw_options;

/* ---- element types (share.c) -------------------------------------------------------- */

enum sw_type { SW_TYPE_INT64, SW_TYPE_DOUBLE, SW_TYPE_FLOAT, SW_TYPE_COUNT };

const char *sw_type_name(enum sw_type type); /* "int64", "double", "float" */
int64_t sw_type_bytes(enum sw_type type);
MPI_Datatype sw_type_mpi(enum sw_type type);

/* ---- distributions (domain.c) --------------------------------------------------------- */

enum sw_part_kind {
    SW_PART_WHOLE,       /* *: not distributed */
    SW_PART_BLOCK,       /* BLOCK: consecutive parts whose lengths differ by at most one */
    SW_PART_FIXED_BLOCK, /* BLOCK(n): n elements per part, fewer or none in the last ones */
    SW_PART_CYCLIC,      /* CYCLIC(n): blocks of n elements in turn; CYCLIC means CYCLIC(1) */
};

struct sw_part {
    enum sw_part_kind kind;
    int64_t length; /* of a block; 0 for * and BLOCK */
};

/* Equal blocks at equal distances along one dimension; with count 1, stride == block. */
struct sw_piece {
    int64_t start;
    int64_t stride;
    int64_t count;
    int64_t block;
};

/* Gets start and length of part `index` of `extent` divided into `parts`: every element is in one
 * part, and lengths differ by at most one. */
void sw_split(int64_t extent, int64_t parts, int64_t index, int64_t *start, int64_t *count);
/* Gets what part `index` of `parts` owns of a dimension: at most two pieces (full blocks, and a
 * shorter one at the end). Returns how many. */
int sw_part_pieces(struct sw_part part, int64_t extent, int64_t parts, int64_t index,
                   struct sw_piece pieces[2]);
/* Parses "BLOCK,CYCLIC(4),*"; returns false if it is invalid, or has more than SW_MAX_DIMS parts.
 * */
bool sw_distribution_parse(const char *text, struct sw_part *parts, int *n_parts);
void sw_distribution_text(const struct sw_part *parts, int n_parts, char *text, size_t bytes);

/* ---- boxes and domains (domain.c) ---------------------------------------------------------- */

/*
 * A regular hyperslab: along dimension d, count[d] blocks of block[d] elements whose starts are
 * stride[d] apart. Adjacent blocks of a dimension are merged into one, so a box without gaps has
 * count 1 everywhere. Memory contains count * block elements per dimension without gaps, with
 * halo[d] elements on either side, in C order.
 */
struct sw_box {
    int64_t start[SW_MAX_DIMS]; /* in the global array, elements */
    int64_t stride[SW_MAX_DIMS];
    int64_t count[SW_MAX_DIMS];
    int64_t block[SW_MAX_DIMS];
    int64_t allocated[SW_MAX_DIMS]; /* extents in memory, including halos */
    int64_t halo[SW_MAX_DIMS];      /* first owned element in memory, per dimension */
    int64_t memory; /* first element of the allocation, within the variable's buffer */
};

/* Elements that are adjacent both in the global array and in memory. */
struct sw_run {
    int64_t global; /* linear index in the global array */
    int64_t memory; /* index in the variable's buffer */
    int64_t count;
};

/* One rank's part of a global shape. */
struct sw_domain {
    int n_dims;
    unsigned mask; /* bit d: this shape has the pattern's dimension d */
    int64_t extent[SW_MAX_DIMS];
    int64_t elements;    /* of one variable, over all ranks */
    int64_t owned;       /* of one variable, this rank */
    int64_t allocated;   /* of one variable in memory, halos included */
    int64_t most_boxes;  /* maximum over all ranks: number of calls of collective back ends */
    int64_t most_blocks; /* the same if each box is divided into plain blocks */
    size_t n_boxes;      /* empty boxes are left out; a rank may own none */
    struct sw_box *boxes;
    size_t n_runs; /* sorted by global */
    struct sw_run *runs;
};

/* Appends the hyperslab formed by `pieces` (one per dimension), with halo[d] elements around it in
 * memory. Returns false if out of memory. */
bool sw_domain_add(struct sw_domain *domain, const struct sw_piece *pieces, const int64_t *halo);
/* Merges and sorts the contiguous runs of all boxes. Returns false if out of memory. */
bool sw_domain_finish(struct sw_domain *domain);
void sw_domain_free(struct sw_domain *domain);
/* Returns the owned elements of a box along dimension d. */
int64_t sw_box_length(const struct sw_box *box, int d);
/* Returns true if no dimension has gaps: count is 1 everywhere. */
bool sw_box_plain(const struct sw_domain *domain, const struct sw_box *box);
/*
 * For back ends without strides: gets plain block number `index` (from 0) of a box, with the same
 * allocation (only `start` and `halo` differ); returns false if there is no such block.
 *
 *     for (int64_t i = 0; sw_box_blocks(domain, box, i, &plain); i++)
 */
bool sw_box_blocks(const struct sw_domain *domain, const struct sw_box *box, int64_t index,
                   struct sw_box *plain);

/* ---- shares (share.c) ----------------------------------------------------------------------- */

struct sw_variable {
    const char *name;
    int shape;                      /* index in the share's domains */
    const struct sw_domain *domain; /* = share->domains + shape */
    int64_t memory;                 /* offset of its buffer in the rank's buffer */
    int64_t region;                 /* offset of its region in a step of the shared file */
    int64_t packed;                 /* offset in the rank's own elements of a step */
};

struct sw_share {
    enum sw_type type; /* of all variables */
    int64_t element_bytes;
    int n_dims; /* of the pattern, as in --size, --grid, --distribution */
    int64_t extent[SW_MAX_DIMS];
    int64_t grid[SW_MAX_DIMS]; /* parts per dimension */
    struct sw_part parts[SW_MAX_DIMS];
    int n_domains;
    struct sw_domain *domains;
    int n_variables;
    struct sw_variable *variables;
    int64_t step_elements; /* of all variables, over all ranks */
    int64_t step_bytes;
    int64_t memory_bytes; /* of the rank's buffer */
    int64_t owned_bytes;  /* of all variables, this rank, without halos */
};

/* Makes the share of a rank; -1: only shapes, without boxes. Returns false with one line in
 * `trouble`. */
bool sw_share_make(const struct sw_options *options, int rank, int n_ranks, struct sw_share *share,
                   char *trouble, size_t bytes);
void sw_share_free(struct sw_share *share);
/* Returns the offset of a variable's region in a shared file. */
int64_t sw_region(const struct sw_share *share, int64_t step, int variable);

#endif
