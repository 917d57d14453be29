/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi_put_* and ncmpi_get_*: every access, of every type, alone and together (`_all`). */
#include "layers/pnetcdf.h"

/* ---- of one type ---------------------------------------------------------------- */

#define TYPED(name, op, access, pointer, element)                                                 \
    SW_PN_CALL(                                                                                   \
        name, op, 0, SW_PN_ELEMENTS_##access *(int64_t)sizeof(element), SW_PN_CAPTURE_##access,   \
        (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data),                            \
        (int, int, SW_PN_TYPES_##access pointer), (ncid, varid, SW_PN_ARGUMENTS_##access data))

#define OF_TYPE(access, type, element)                                                            \
    TYPED(ncmpi_put_##access##_##type, SW_OP_WRITE, access, const element *, element)             \
    TYPED(ncmpi_get_##access##_##type, SW_OP_READ, access, element *, element)                    \
    TYPED(ncmpi_put_##access##_##type##_all, SW_OP_WRITE_COLLECTIVE, access, const element *,     \
          element)                                                                                \
    TYPED(ncmpi_get_##access##_##type##_all, SW_OP_READ_COLLECTIVE, access, element *, element)

#define OF_ALL_TYPES(access) SW_PN_TYPES(OF_TYPE, access)
SW_PN_ACCESSES(OF_ALL_TYPES)

/* ---- with an MPI datatype --------------------------------------------------------- */

#define FLEXIBLE(name, op, access, pointer)                                                       \
    SW_PN_CALL(name, op, 0, SW_PN_BYTES_##access, SW_PN_CAPTURE_##access,                         \
               (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data, sw_mpi_offset n,     \
                sw_handle datatype),                                                              \
               (int, int, SW_PN_TYPES_##access pointer, sw_mpi_offset, sw_handle),                \
               (ncid, varid, SW_PN_ARGUMENTS_##access data, n, datatype))

#define TYPED_BYTES(access) sw_pn_typed(ncid, varid, SW_PN_ELEMENTS_##access, n, datatype)
#define SW_PN_BYTES_var TYPED_BYTES(var)
#define SW_PN_BYTES_var1 TYPED_BYTES(var1)
#define SW_PN_BYTES_vara TYPED_BYTES(vara)
#define SW_PN_BYTES_vars TYPED_BYTES(vars)
#define SW_PN_BYTES_varm TYPED_BYTES(varm)
#define SW_PN_BYTES_varn TYPED_BYTES(varn)

#define OF_ANY_TYPE(access)                                                                       \
    FLEXIBLE(ncmpi_put_##access, SW_OP_WRITE, access, const void *)                               \
    FLEXIBLE(ncmpi_get_##access, SW_OP_READ, access, void *)                                      \
    FLEXIBLE(ncmpi_put_##access##_all, SW_OP_WRITE_COLLECTIVE, access, const void *)              \
    FLEXIBLE(ncmpi_get_##access##_all, SW_OP_READ_COLLECTIVE, access, void *)

SW_PN_ACCESSES(OF_ANY_TYPE)

/* ---- with an MPI datatype for the file too ---------------------------------------- */

#define SW_PN_PARAMETERS_vard sw_handle filetype,
#define SW_PN_TYPES_vard sw_handle,
#define SW_PN_ARGUMENTS_vard filetype,
#define SW_PN_BYTES_vard sw_pn_described(filetype, n, datatype)

OF_ANY_TYPE(vard)
