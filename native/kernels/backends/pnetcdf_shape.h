/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A rank's part of a shape as PnetCDF's calls want it. */
#ifndef STRIPEWISE_KERNEL_PNETCDF_SHAPE_H
#define STRIPEWISE_KERNEL_PNETCDF_SHAPE_H

#include "../kernel.h"

/* What the calls for one variable need: the same for all variables of a shape. */
struct sw_pnetcdf_shape {
    int64_t calls;      /* the most over all ranks */
    bool strided;       /* a call per slab, with strides; false: one call for all slabs */
    bool several;       /* some rank has more than one slab in that call */
    int n_slabs;        /* of this rank */
    int dims;           /* in the file */
    MPI_Offset *starts; /* (n_slabs + 1, dims); the last row is all zeros */
    MPI_Offset *counts;
    MPI_Offset *strides;
    MPI_Offset **start_rows; /* rows of the above, as varn wants them; at least one */
    MPI_Offset **count_rows;
    MPI_Datatype *memory; /* from the variable's buffer on: one per slab, or one of all slabs */
    int n_types;
};

/* PnetCDF takes no MPI_INT64_T. */
MPI_Datatype sw_pnetcdf_element(enum sw_type type);
/* Collective; sw_fail where it cannot be made.  All zeros can be freed. */
void sw_pnetcdf_shape_make(struct sw_session *session, const struct sw_domain *domain,
                           struct sw_pnetcdf_shape *shape);
void sw_pnetcdf_shape_free(struct sw_pnetcdf_shape *shape);

#endif
