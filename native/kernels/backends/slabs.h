/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boxes taken apart for libraries whose calls know no blocks (NetCDF, PnetCDF, ADIOS2), and
 * their elements to and from memory without gaps for those that know no halos.
 *
 *     struct sw_slabs slabs = {.domain = domain, .strides = true};
 *     struct sw_slab slab;
 *     while (sw_slabs_next(&slabs, &slab))
 */
#ifndef STRIPEWISE_KERNEL_SLABS_H
#define STRIPEWISE_KERNEL_SLABS_H

#include "../share.h"

/* What one call can move: along dimension d, count[d] elements that are stride[d] apart in the
 * global array and adjacent in memory. */
struct sw_slab {
    int n_dims;
    int64_t start[SW_MAX_DIMS];
    int64_t count[SW_MAX_DIMS];
    int64_t stride[SW_MAX_DIMS];
    int64_t allocated[SW_MAX_DIMS]; /* extents of the allocation that it lies in */
    int64_t offset[SW_MAX_DIMS];    /* its first element there */
    int64_t memory;                 /* the allocation's first element, in the variable's buffer */
    int64_t elements;
};

/* A walk over the slabs of a domain, in the order of its boxes. */
struct sw_slabs {
    const struct sw_domain *domain;
    bool strides; /* a box of single elements at equal distances is one slab */
    size_t box;   /* where the walk is */
    int64_t block;
};

/* False at the end. */
bool sw_slabs_next(struct sw_slabs *slabs, struct sw_slab *slab);
/* How many there are. */
int64_t sw_slabs_count(const struct sw_domain *domain, bool strides);
/* Whether one of them has gaps in the global array. */
bool sw_slabs_strided(const struct sw_domain *domain);
/* Index in the variable's buffer of the slab's first element. */
int64_t sw_slab_first(const struct sw_slab *slab);
/* True if the slab has no gaps in memory, so that nothing needs to be copied. */
bool sw_slab_dense(const struct sw_slab *slab);
/* True if all slabs (without strides) follow each other in memory, from its beginning on. */
bool sw_domain_dense(const struct sw_domain *domain);
enum sw_direction { SW_PACK, SW_UNPACK };
/* Copy a slab from a variable's buffer to `packed`, or back. */
void sw_slab_copy(const struct sw_slab *slab, int64_t element_bytes, char *variable, char *packed,
                  enum sw_direction direction);

/* ---- slices ----------------------------------------------------------------------------- */

/*
 * A rank's elements of a variable in pieces of equal length, in the order of the file: what
 * --transfer cuts.  A piece that lies in one place in memory is used there; others (a halo lies
 * between) go through a staging buffer.
 */
struct sw_slices {
    const struct sw_domain *domain;
    int64_t element_bytes;
    size_t run; /* where the walk is */
    int64_t within;
};

/* Where the next `count` elements lie in `memory`; NULL if in several places.  Does not move. */
char *sw_slice_place(const struct sw_slices *slices, char *memory, int64_t count);
/* Go on by `count` elements; copy them to `stage` (`gather`) or from it, unless that is NULL. */
void sw_slices_copy(struct sw_slices *slices, char *memory, int64_t count, char *stage,
                    bool gather);

#endif
