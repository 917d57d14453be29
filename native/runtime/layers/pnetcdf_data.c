/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* ncmpi_put_* and ncmpi_get_*: every access, of every type, independent and collective (`_all`);
 * posted ones, and those of several variables in one call. */
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

/* ---- posted ----------------------------------------------------------------------- */

/*
 * ncmpi_iput_*, iget_* and bput_*: bytes are counted where they are posted; the time is in
 * ncmpi_wait and ncmpi_wait_all, which do the work.
 */
#define POST_TYPED(name, op, access, pointer, element)                                            \
    SW_PN_CALL(name, op, SW_EVENT_NONBLOCKING, SW_PN_ELEMENTS_##access *(int64_t)sizeof(element), \
               SW_PN_CAPTURE_##access,                                                            \
               (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data, int *request),       \
               (int, int, SW_PN_TYPES_##access pointer, int *),                                   \
               (ncid, varid, SW_PN_ARGUMENTS_##access data, request))

#define POST_OF_TYPE(access, type, element)                                                       \
    POST_TYPED(ncmpi_iput_##access##_##type, SW_OP_WRITE, access, const element *, element)       \
    POST_TYPED(ncmpi_bput_##access##_##type, SW_OP_WRITE, access, const element *, element)       \
    POST_TYPED(ncmpi_iget_##access##_##type, SW_OP_READ, access, element *, element)

#define POST_OF_ALL_TYPES(access) SW_PN_TYPES(POST_OF_TYPE, access)
SW_PN_ACCESSES(POST_OF_ALL_TYPES)

#define POST_FLEXIBLE(name, op, access, pointer)                                                  \
    SW_PN_CALL(name, op, SW_EVENT_NONBLOCKING,                                                    \
               sw_pn_typed(ncid, varid, SW_PN_ELEMENTS_##access, n, datatype),                    \
               SW_PN_CAPTURE_##access,                                                            \
               (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data, sw_mpi_offset n,     \
                sw_handle datatype, int *request),                                                \
               (int, int, SW_PN_TYPES_##access pointer, sw_mpi_offset, sw_handle, int *),         \
               (ncid, varid, SW_PN_ARGUMENTS_##access data, n, datatype, request))

#define POST_OF_ANY_TYPE(access)                                                                  \
    POST_FLEXIBLE(ncmpi_iput_##access, SW_OP_WRITE, access, const void *)                         \
    POST_FLEXIBLE(ncmpi_bput_##access, SW_OP_WRITE, access, const void *)                         \
    POST_FLEXIBLE(ncmpi_iget_##access, SW_OP_READ, access, void *)

SW_PN_ACCESSES(POST_OF_ANY_TYPE)

/* ---- ncmpi_mput_* and ncmpi_mget_*: several variables in one call ------------------ */

#define LIST_ACCESSES(X) X(var) X(var1) X(vara) X(vars) X(varm)

/* As in pnetcdf.h, with a list of each. */
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

#define LIST_TYPED(name, op, access, buffers, element)                                            \
    SW_PN_CALL(name, op, 0, LIST_ELEMENTS_##access *(int64_t)sizeof(element),                     \
               SW_PN_CAPTURE_NOTHING,                                                             \
               (int ncid, int number, int *varids, LIST_PARAMETERS_##access buffers data),        \
               (int, int, int *, LIST_TYPES_##access buffers),                                    \
               (ncid, number, varids, LIST_ARGUMENTS_##access data))

#define LIST_OF_TYPE(access, type, element)                                                       \
    LIST_TYPED(ncmpi_mput_##access##_##type, SW_OP_WRITE, access, element *const *, element)      \
    LIST_TYPED(ncmpi_mget_##access##_##type, SW_OP_READ, access, element **, element)             \
    LIST_TYPED(ncmpi_mput_##access##_##type##_all, SW_OP_WRITE_COLLECTIVE, access,                \
               element *const *, element)                                                         \
    LIST_TYPED(ncmpi_mget_##access##_##type##_all, SW_OP_READ_COLLECTIVE, access, element **,     \
               element)

#define LIST_OF_ALL_TYPES(access) SW_PN_TYPES(LIST_OF_TYPE, access)
LIST_ACCESSES(LIST_OF_ALL_TYPES)

/* With MPI datatypes. */
#define LIST_FLEXIBLE(name, op, access, buffers)                                                  \
    SW_PN_CALL(                                                                                   \
        name, op, 0,                                                                              \
        sw_pn_typed_each(ncid, number, varids, LIST_ELEMENTS_##access, n, datatypes),             \
        SW_PN_CAPTURE_NOTHING,                                                                    \
        (int ncid, int number, int *varids, LIST_PARAMETERS_##access buffers data,                \
         const sw_mpi_offset *n, const void *datatypes),                                          \
        (int, int, int *, LIST_TYPES_##access buffers, const sw_mpi_offset *, const void *),      \
        (ncid, number, varids, LIST_ARGUMENTS_##access data, n, datatypes))

#define LIST_OF_ANY_TYPE(access)                                                                  \
    LIST_FLEXIBLE(ncmpi_mput_##access, SW_OP_WRITE, access, void *const *)                        \
    LIST_FLEXIBLE(ncmpi_mget_##access, SW_OP_READ, access, void **)                               \
    LIST_FLEXIBLE(ncmpi_mput_##access##_all, SW_OP_WRITE_COLLECTIVE, access, void *const *)       \
    LIST_FLEXIBLE(ncmpi_mget_##access##_all, SW_OP_READ_COLLECTIVE, access, void **)

LIST_ACCESSES(LIST_OF_ANY_TYPE)
