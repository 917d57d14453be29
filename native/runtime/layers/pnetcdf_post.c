/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * ncmpi_iput_*, iget_* and bput_*: bytes are counted where they are posted; the time is in
 * ncmpi_wait and ncmpi_wait_all, which do the work.
 */
#include "layers/pnetcdf.h"

#define TYPED(name, op, access, pointer, element)                                                 \
    SW_PN_CALL(name, op, SW_EVENT_NONBLOCKING, SW_PN_ELEMENTS_##access *(int64_t)sizeof(element), \
               SW_PN_CAPTURE_##access,                                                            \
               (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data, int *request),       \
               (int, int, SW_PN_TYPES_##access pointer, int *),                                   \
               (ncid, varid, SW_PN_ARGUMENTS_##access data, request))

#define OF_TYPE(access, type, element)                                                            \
    TYPED(ncmpi_iput_##access##_##type, SW_OP_WRITE, access, const element *, element)            \
    TYPED(ncmpi_bput_##access##_##type, SW_OP_WRITE, access, const element *, element)            \
    TYPED(ncmpi_iget_##access##_##type, SW_OP_READ, access, element *, element)

#define OF_ALL_TYPES(access) SW_PN_TYPES(OF_TYPE, access)
SW_PN_ACCESSES(OF_ALL_TYPES)

#define FLEXIBLE(name, op, access, pointer)                                                       \
    SW_PN_CALL(name, op, SW_EVENT_NONBLOCKING,                                                    \
               sw_pn_typed(ncid, varid, SW_PN_ELEMENTS_##access, n, datatype),                    \
               SW_PN_CAPTURE_##access,                                                            \
               (int ncid, int varid, SW_PN_PARAMETERS_##access pointer data, sw_mpi_offset n,     \
                sw_handle datatype, int *request),                                                \
               (int, int, SW_PN_TYPES_##access pointer, sw_mpi_offset, sw_handle, int *),         \
               (ncid, varid, SW_PN_ARGUMENTS_##access data, n, datatype, request))

#define OF_ANY_TYPE(access)                                                                       \
    FLEXIBLE(ncmpi_iput_##access, SW_OP_WRITE, access, const void *)                              \
    FLEXIBLE(ncmpi_bput_##access, SW_OP_WRITE, access, const void *)                              \
    FLEXIBLE(ncmpi_iget_##access, SW_OP_READ, access, void *)

SW_PN_ACCESSES(OF_ANY_TYPE)
