/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's elements of a variable in pieces of equal length, in the order of the file: what
 * --transfer cuts.  A piece that lies in one place in memory is used there; others (a halo lies
 * between) go through a staging buffer.
 */
#ifndef STRIPEWISE_KERNEL_SLICES_H
#define STRIPEWISE_KERNEL_SLICES_H

#include "../share.h"

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
