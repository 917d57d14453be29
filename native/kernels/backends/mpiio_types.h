/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A rank's part of a shape, as MPI datatypes. */
#ifndef STRIPEWISE_KERNEL_MPIIO_TYPES_H
#define STRIPEWISE_KERNEL_MPIIO_TYPES_H

#include "../kernel.h"

struct sw_mpiio_types {
    bool typed;          /* the types below exist; otherwise this rank owns nothing */
    MPI_Datatype memory; /* one variable in memory */
    MPI_Datatype
        view; /* one variable in the file: ascending, with the extent of the whole array */
};

/* Returns MPI_SUCCESS or an MPI error code. */
int sw_mpiio_types_make(const struct sw_share *share, const struct sw_domain *domain,
                        struct sw_mpiio_types *types);
void sw_mpiio_types_free(struct sw_mpiio_types *types);

#endif
