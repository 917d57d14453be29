/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi_mput_* and ncmpi_mget_*: several variables in one call. */
#include "layers/pnetcdf.h"

#define ACCESSES(X) X(var) X(var1) X(vara) X(vars) X(varm)

/* As in pnetcdf.h, for a list of each. */
#define LIST_PARAMETERS_var
#define LIST_TYPES_var
#define LIST_ARGUMENTS_var
#define LIST_ELEMENTS_var sw_pn_whole_each(ncid, number, varids)

#define LIST_PARAMETERS_var1 sw_mpi_offset *const *starts,
#define LIST_TYPES_var1 sw_mpi_offset *const *,
#define LIST_ARGUMENTS_var1 starts,
#define LIST_ELEMENTS_var1 sw_pn_box_each(ncid, number, varids, NULL)

#define LIST_PARAMETERS_vara LIST_PARAMETERS_var1 sw_mpi_offset *const *counts,
#define LIST_TYPES_vara LIST_TYPES_var1 sw_mpi_offset *const *,
#define LIST_ARGUMENTS_vara LIST_ARGUMENTS_var1 counts,
#define LIST_ELEMENTS_vara sw_pn_box_each(ncid, number, varids, counts)

#define LIST_PARAMETERS_vars LIST_PARAMETERS_vara sw_mpi_offset *const *strides,
#define LIST_TYPES_vars LIST_TYPES_vara sw_mpi_offset *const *,
#define LIST_ARGUMENTS_vars LIST_ARGUMENTS_vara strides,
#define LIST_ELEMENTS_vars LIST_ELEMENTS_vara

#define LIST_PARAMETERS_varm LIST_PARAMETERS_vars sw_mpi_offset *const *maps,
#define LIST_TYPES_varm LIST_TYPES_vars sw_mpi_offset *const *,
#define LIST_ARGUMENTS_varm LIST_ARGUMENTS_vars maps,
#define LIST_ELEMENTS_varm LIST_ELEMENTS_vara

/* ---- of one type ---------------------------------------------------------------- */

#define TYPED(name, op, access, buffers, element)                                                 \
    SW_PN_CALL(name, op, 0, LIST_ELEMENTS_##access *(int64_t)sizeof(element),                     \
               SW_PN_CAPTURE_NOTHING,                                                             \
               (int ncid, int number, int *varids, LIST_PARAMETERS_##access buffers data),        \
               (int, int, int *, LIST_TYPES_##access buffers),                                    \
               (ncid, number, varids, LIST_ARGUMENTS_##access data))

#define OF_TYPE(access, type, element)                                                            \
    TYPED(ncmpi_mput_##access##_##type, SW_OP_WRITE, access, element *const *, element)           \
    TYPED(ncmpi_mget_##access##_##type, SW_OP_READ, access, element **, element)                  \
    TYPED(ncmpi_mput_##access##_##type##_all, SW_OP_WRITE_COLLECTIVE, access, element *const *,   \
          element)                                                                                \
    TYPED(ncmpi_mget_##access##_##type##_all, SW_OP_READ_COLLECTIVE, access, element **, element)

#define OF_ALL_TYPES(access) SW_PN_TYPES(OF_TYPE, access)
ACCESSES(OF_ALL_TYPES)

/* ---- with MPI datatypes ------------------------------------------------------------ */

#define FLEXIBLE(name, op, access, buffers)                                                       \
    SW_PN_CALL(                                                                                   \
        name, op, 0,                                                                              \
        sw_pn_typed_each(ncid, number, varids, LIST_ELEMENTS_##access, n, datatypes),             \
        SW_PN_CAPTURE_NOTHING,                                                                    \
        (int ncid, int number, int *varids, LIST_PARAMETERS_##access buffers data,                \
         const sw_mpi_offset *n, const void *datatypes),                                          \
        (int, int, int *, LIST_TYPES_##access buffers, const sw_mpi_offset *, const void *),      \
        (ncid, number, varids, LIST_ARGUMENTS_##access data, n, datatypes))

#define OF_ANY_TYPE(access)                                                                       \
    FLEXIBLE(ncmpi_mput_##access, SW_OP_WRITE, access, void *const *)                             \
    FLEXIBLE(ncmpi_mget_##access, SW_OP_READ, access, void **)                                    \
    FLEXIBLE(ncmpi_mput_##access##_all, SW_OP_WRITE_COLLECTIVE, access, void *const *)            \
    FLEXIBLE(ncmpi_mget_##access##_all, SW_OP_READ_COLLECTIVE, access, void **)

ACCESSES(OF_ANY_TYPE)
