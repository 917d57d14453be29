/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Queries to PnetCDF on how much an access moves. All of them are local to the rank. */
#include <string.h>

#include "layers/pnetcdf.h"

#define MAX_DIMENSIONS 64

struct sw_pn_questions sw_pn_ask;

void sw_pn_started(const void *caller)
{
    static bool started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        return;
    sw_pn_ask.varndims = (int (*)(int, int, int *))sw_resolve("ncmpi_inq_varndims", caller);
    sw_pn_ask.vardimid = (int (*)(int, int, int *))sw_resolve("ncmpi_inq_vardimid", caller);
    sw_pn_ask.dimlen = (int (*)(int, int, sw_mpi_offset *))sw_resolve("ncmpi_inq_dimlen", caller);
    sw_pn_ask.vartype = (int (*)(int, int, int *))sw_resolve("ncmpi_inq_vartype", caller);
    sw_pn_ask.varname = (int (*)(int, int, char *))sw_resolve("ncmpi_inq_varname", caller);
    sw_pn_ask.unlimdim = (int (*)(int, int *))sw_resolve("ncmpi_inq_unlimdim", caller);
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
}

void sw_pn_data_done(struct sw_call *call, int ncid, enum sw_op op, int result, int64_t bytes)
{
    if (bytes > 0 && (call->event_flags & SW_EVENT_NONBLOCKING) != 0)
        sw_pn_posted(ncid, op, bytes);
    sw_leave_data(call, sw_pn_file(ncid), op, sw_pn_moved(result) ? bytes : -1, -1);
}

/* ---- elements --------------------------------------------------------------------- */

static int dimensions(int ncid, int varid)
{
    int n = 0;
    return sw_pn_ask.varndims != NULL && sw_pn_ask.varndims(ncid, varid, &n) == SW_PN_SUCCESS ? n
                                                                                              : 0;
}

static int64_t product(const sw_mpi_offset *count, int n)
{
    int64_t elements = 1;
    for (int i = 0; count != NULL && i < n; i++)
        elements *= count[i];
    return elements;
}

int64_t sw_pn_box(int ncid, int varid, const sw_mpi_offset *count)
{
    return product(count, dimensions(ncid, varid));
}

int64_t sw_pn_boxes(int ncid, int varid, int number, sw_mpi_offset *const *counts)
{
    int n = dimensions(ncid, varid);
    int64_t elements = 0;
    for (int i = 0; i < number; i++)
        elements += product(counts != NULL ? counts[i] : NULL, n);
    return elements;
}

/* A record variable counts with the number of records in the file. */
int64_t sw_pn_whole(int ncid, int varid)
{
    int ids[MAX_DIMENSIONS];
    int64_t elements = 1;
    int n = dimensions(ncid, varid);
    if (n > MAX_DIMENSIONS || sw_pn_ask.vardimid == NULL || sw_pn_ask.dimlen == NULL ||
        sw_pn_ask.vardimid(ncid, varid, ids) != SW_PN_SUCCESS)
        return 0;
    for (int i = 0; i < n; i++) {
        sw_mpi_offset length = 0;
        if (sw_pn_ask.dimlen(ncid, ids[i], &length) != SW_PN_SUCCESS)
            return 0;
        elements *= length;
    }
    return elements;
}

int64_t sw_pn_box_each(int ncid, int number, const int *varids, sw_mpi_offset *const *counts)
{
    int64_t elements = 0;
    for (int i = 0; i < number; i++)
        elements += sw_pn_box(ncid, varids[i], counts != NULL ? counts[i] : NULL);
    return elements;
}

int64_t sw_pn_whole_each(int ncid, int number, const int *varids)
{
    int64_t elements = 0;
    for (int i = 0; i < number; i++)
        elements += sw_pn_whole(ncid, varids[i]);
    return elements;
}

/* ---- bytes ---------------------------------------------------------------------- */

/* Returns the bytes of an element of a variable in the file, by nc_type (pnetcdf.h). */
static int64_t external_bytes(int ncid, int varid)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    int type = 0;
    if (sw_pn_ask.vartype == NULL || sw_pn_ask.vartype(ncid, varid, &type) != SW_PN_SUCCESS ||
        type < 0 || type >= (int)sizeof bytes)
        return 0;
    return bytes[type];
}

/* Returns the bytes of an MPI datatype; -1 for MPI_DATATYPE_NULL, which means the type in the
 * file, whatever the count. Otherwise, PnetCDF ignores the datatype of an empty access: it may be
 * any word, which must not be passed to MPI. */
static int64_t type_bytes(sw_handle datatype, sw_mpi_offset count)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    if (plugin == NULL || plugin->type_is_null(datatype))
        return -1;
    if (count == 0)
        return 0;
    sw_inside_begin();
    int64_t bytes = plugin->type_bytes(datatype);
    sw_inside_end();
    return bytes;
}

static int64_t typed(int ncid, int varid, int64_t elements, sw_mpi_offset count,
                     sw_handle datatype)
{
    int64_t bytes = type_bytes(datatype, count);
    if (bytes < 0)
        return elements * external_bytes(ncid, varid);
    return bytes * (count >= 0 ? count : elements);
}

int64_t sw_pn_typed(int ncid, int varid, int64_t elements, sw_mpi_offset count, sw_handle datatype)
{
    return elements == 0 ? 0 : typed(ncid, varid, elements, count, datatype);
}

int64_t sw_pn_described(sw_handle filetype, sw_mpi_offset count, sw_handle datatype)
{
    int64_t in_file = type_bytes(filetype, 1);
    if (in_file <= 0)
        return 0;
    int64_t bytes = type_bytes(datatype, count);
    return bytes < 0 || count < 0 ? in_file : bytes * count;
}

int64_t sw_pn_typed_each(int ncid, int number, const int *varids, int64_t elements,
                         const sw_mpi_offset *counts, const void *datatypes)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    int64_t bytes = 0;
    if (plugin == NULL || number <= 0 || elements == 0)
        return 0;
    for (int i = 0; i < number; i++) {
        sw_handle datatype = 0;
        /* As wide as a request: an int or a pointer. */
        memcpy(&datatype, (const char *)datatypes + (size_t)i * plugin->request_bytes,
               plugin->request_bytes);
        bytes += typed(ncid, varids[i], elements / number, counts[i], datatype);
    }
    return bytes;
}
