/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PnetCDF layer, without pnetcdf.h. PnetCDF's Fortran and C++ interfaces, and netCDF over
 * PnetCDF, call the C functions across a library boundary and are recorded here too. MPI handles
 * are machine words, as in the MPI-IO layer.
 */
#ifndef STRIPEWISE_PNETCDF_H
#define STRIPEWISE_PNETCDF_H

#include "layers/mpiio.h"

#define SW_PN_SUCCESS 0
#define SW_PN_FAILURE (-36) /* NC_EINVAL: there is no PnetCDF behind the call */
#define SW_PN_RANGE (-60)   /* NC_ERANGE: moved, though some values were out of range */

/* Query functions of PnetCDF, each NULL if it does not exist; none communicates. */
struct sw_pn_questions {
    int (*varname)(int, int, char *);
    int (*varndims)(int, int, int *);
    int (*vardimid)(int, int, int *);
    int (*dimlen)(int, int, sw_mpi_offset *);
    int (*vartype)(int, int, int *);
    int (*unlimdim)(int, int *);
};
extern struct sw_pn_questions sw_pn_ask;
/* Finds them, once, before a file is opened. */
void sw_pn_started(const void *caller);

/* Returns the record of an open file, NULL if unknown. */
struct sw_file *sw_pn_file(int ncid);

/* Whether a data call moved data; only then are its bytes computed. */
static inline bool sw_pn_moved(int result)
{
    return result == SW_PN_SUCCESS || result == SW_PN_RANGE;
}
void sw_pn_data_done(struct sw_call *call, int ncid, enum sw_op op, int result, int64_t bytes);

/* Records a posted nonblocking call. The wait for it moves its bytes. */
void sw_pn_posted(int ncid, enum sw_op op, int64_t bytes);
/* Forgets what an earlier file with this identifier left. */
void sw_pn_forget_posted(int ncid);

/* Returns the elements of an access, after a successful call; 0 if unknown. */
int64_t sw_pn_box(int ncid, int varid, const sw_mpi_offset *count);
int64_t sw_pn_boxes(int ncid, int varid, int number, sw_mpi_offset *const *counts);
int64_t sw_pn_whole(int ncid, int varid);
/* The same summed over several variables; `counts` NULL: one element each. */
int64_t sw_pn_box_each(int ncid, int number, const int *varids, sw_mpi_offset *const *counts);
int64_t sw_pn_whole_each(int ncid, int number, const int *varids);
/* Returns the bytes of an access with a datatype of its own: of its buffer if the count is given,
 * otherwise of its elements. An empty access may have any word as datatype. */
int64_t sw_pn_typed(int ncid, int varid, int64_t elements, sw_mpi_offset count,
                    sw_handle datatype);
/* The same if a datatype also defines the elements. */
int64_t sw_pn_described(sw_handle filetype, sw_mpi_offset count, sw_handle datatype);
int64_t sw_pn_typed_each(int ncid, int number, const int *varids, int64_t elements,
                         const sw_mpi_offset *counts, const void *datatypes);

/* ---- how the data calls are written down --------------------------------------------- */

/* The element types of PnetCDF: name in the function, type in C. */
#define SW_PN_TYPES(X, access)                                                                    \
    X(access, text, char)                                                                         \
    X(access, schar, signed char)                                                                 \
    X(access, uchar, unsigned char)                                                               \
    X(access, short, short)                                                                       \
    X(access, ushort, unsigned short)                                                             \
    X(access, int, int)                                                                           \
    X(access, uint, unsigned)                                                                     \
    X(access, long, long)                                                                         \
    X(access, float, float)                                                                       \
    X(access, double, double)                                                                     \
    X(access, longlong, long long)                                                                \
    X(access, ulonglong, unsigned long long)

#define SW_PN_ACCESSES(X) X(var) X(var1) X(vara) X(vars) X(varm) X(varn)

/* For each access: its parameters between varid and buffer, their types, the arguments, and the
 * elements that it moves. */
#define SW_PN_PARAMETERS_var
#define SW_PN_TYPES_var
#define SW_PN_ARGUMENTS_var
#define SW_PN_ELEMENTS_var sw_pn_whole(ncid, varid)

#define SW_PN_PARAMETERS_var1 const sw_mpi_offset *start,
#define SW_PN_TYPES_var1 const sw_mpi_offset *,
#define SW_PN_ARGUMENTS_var1 start,
#define SW_PN_ELEMENTS_var1 INT64_C(1)

#define SW_PN_PARAMETERS_vara SW_PN_PARAMETERS_var1 const sw_mpi_offset *count,
#define SW_PN_TYPES_vara SW_PN_TYPES_var1 const sw_mpi_offset *,
#define SW_PN_ARGUMENTS_vara SW_PN_ARGUMENTS_var1 count,
#define SW_PN_ELEMENTS_vara sw_pn_box(ncid, varid, count)

#define SW_PN_PARAMETERS_vars SW_PN_PARAMETERS_vara const sw_mpi_offset *stride,
#define SW_PN_TYPES_vars SW_PN_TYPES_vara const sw_mpi_offset *,
#define SW_PN_ARGUMENTS_vars SW_PN_ARGUMENTS_vara stride,
#define SW_PN_ELEMENTS_vars SW_PN_ELEMENTS_vara

#define SW_PN_PARAMETERS_varm SW_PN_PARAMETERS_vars const sw_mpi_offset *map,
#define SW_PN_TYPES_varm SW_PN_TYPES_vars const sw_mpi_offset *,
#define SW_PN_ARGUMENTS_varm SW_PN_ARGUMENTS_vars map,
#define SW_PN_ELEMENTS_varm SW_PN_ELEMENTS_vara

#define SW_PN_PARAMETERS_varn                                                                     \
    int number, sw_mpi_offset *const *starts, sw_mpi_offset *const *counts,
#define SW_PN_TYPES_varn int, sw_mpi_offset *const *, sw_mpi_offset *const *,
#define SW_PN_ARGUMENTS_varn number, starts, counts,
#define SW_PN_ELEMENTS_varn sw_pn_boxes(ncid, varid, number, counts)

/* ---- capture ---------------------------------------------------------------------------- */

/* Sets variable and selection of an access that moved something, for its event. Without `count`:
 * one element each; without `stride`: contiguous. */
void sw_pn_capture_box(struct sw_call *call, int ncid, int varid, const sw_mpi_offset *start,
                       const sw_mpi_offset *count, const sw_mpi_offset *stride);
void sw_pn_capture_boxes(struct sw_call *call, int ncid, int varid, int number,
                         sw_mpi_offset *const *starts, sw_mpi_offset *const *counts);
void sw_pn_capture_whole(struct sw_call *call, int ncid, int varid);
/* Sets only the variable. */
void sw_pn_capture_variable(struct sw_call *call, int ncid, int varid);
/* Call when files were opened or closed, or definitions have changed. */
void sw_pn_definitions_changed(void);
/* Ends a call without data. */
static inline void sw_pn_leave(struct sw_call *call, struct sw_file *file, enum sw_op op,
                               int result)
{
    if (!sw_pn_moved(result))
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, file, op);
}

#define SW_PN_CAPTURE_var sw_pn_capture_whole(&call, ncid, varid)
#define SW_PN_CAPTURE_var1 sw_pn_capture_box(&call, ncid, varid, start, NULL, NULL)
#define SW_PN_CAPTURE_vara sw_pn_capture_box(&call, ncid, varid, start, count, NULL)
#define SW_PN_CAPTURE_vars sw_pn_capture_box(&call, ncid, varid, start, count, stride)
#define SW_PN_CAPTURE_varm SW_PN_CAPTURE_vars
#define SW_PN_CAPTURE_varn sw_pn_capture_boxes(&call, ncid, varid, number, starts, counts)
#define SW_PN_CAPTURE_vard sw_pn_capture_variable(&call, ncid, varid)
#define SW_PN_CAPTURE_NOTHING (void)0

/* Defines an exported function that finds the real one and times it; `ended` can use call and
 * result. */
#define SW_PN_EXPORTED(name, ended, parameters, types, arguments)                                 \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        SW_REAL(int, name, types);                                                                \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_PN_FAILURE;                                                                 \
        if (!sw_enter(&call, SW_LAYER_PNETCDF))                                                   \
            return real arguments;                                                                \
        int result = real arguments;                                                              \
        ended;                                                                                    \
        return result;                                                                            \
    }

/* The same for a data call: counts `bytes`. */
#define SW_PN_CALL(name, op, flags, bytes, capture, parameters, types, arguments)                 \
    SW_PN_EXPORTED(name, sw_call_ended(&call); call.event_flags = (flags);                        \
                   if (sw_capturing() && sw_pn_moved(result)) capture;                            \
                   sw_pn_data_done(&call, ncid, op, result, sw_pn_moved(result) ? (bytes) : -1),  \
                   parameters, types, arguments)

#endif
