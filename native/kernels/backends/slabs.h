/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides boxes for libraries whose calls do not support blocks (NetCDF, PnetCDF, ADIOS2), and
 * copies their elements to and from contiguous memory for those that do not support halos.
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
    int64_t allocated[SW_MAX_DIMS]; /* extents of the allocation that contains it */
    int64_t offset[SW_MAX_DIMS];    /* its first element there */
    int64_t memory;                 /* the allocation's first element, in the variable's buffer */
    int64_t elements;
};

/* Iterates over the slabs of a domain, in the order of its boxes. */
struct sw_slabs {
    const struct sw_domain *domain;
    bool strides; /* a box of single elements at equal distances is one slab */
    size_t box;   /* position of the iteration */
    int64_t block;
};

/* Gets the next slab; returns false at the end. */
bool sw_slabs_next(struct sw_slabs *slabs, struct sw_slab *slab);
/* Returns the number of slabs. */
int64_t sw_slabs_count(const struct sw_domain *domain, bool strides);
/* Returns whether one of them has gaps in the global array. */
bool sw_slabs_strided(const struct sw_domain *domain);
/* Returns the index in the variable's buffer of the slab's first element. */
int64_t sw_slab_first(const struct sw_slab *slab);
/* Returns true if the slab is contiguous in memory, so that nothing needs to be copied. */
bool sw_slab_dense(const struct sw_slab *slab);
/* Returns true if all slabs (without strides) follow each other in memory, from its start on. */
bool sw_domain_dense(const struct sw_domain *domain);
enum sw_direction { SW_PACK, SW_UNPACK };
/* Copy a slab from a variable's buffer to `packed`, or back. */
void sw_slab_copy(const struct sw_slab *slab, int64_t element_bytes, char *variable, char *packed,
                  enum sw_direction direction);

/* ---- slices ----------------------------------------------------------------------------- */

/*
 * A rank's elements of a variable in pieces of equal length, in the order of the file, as cut by
 * --transfer. A piece that is contiguous in memory is used in place; others (interrupted by a
 * halo) go through a staging buffer.
 */
struct sw_slices {
    const struct sw_domain *domain;
    int64_t element_bytes;
    size_t run; /* position of the iteration */
    int64_t within;
};

/* Returns where the next `count` elements are in `memory`; NULL if they are not contiguous. Does
 * not advance. */
char *sw_slice_place(const struct sw_slices *slices, char *memory, int64_t count);
/* Advances by `count` elements, and copies them to `stage` (`gather`) or from it, unless that is
 * NULL. */
void sw_slices_copy(struct sw_slices *slices, char *memory, int64_t count, char *stage,
                    bool gather);

#endif
