/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * ncmpi_wait and ncmpi_wait_all move what was posted before: their time counts as reads and writes
 * of the file. The bytes were counted where they were posted.
 */
#include "layers/pnetcdf.h"

#define MAX_FILES 1024 /* PnetCDF's own bound; power of two */

/* Number of calls that were posted and not waited for yet, by file. */
static struct {
    int reads;
    int writes;
} posted[MAX_FILES];

void sw_pn_posted(int ncid, enum sw_op op)
{
    int *number = op == SW_OP_WRITE ? &posted[(unsigned)ncid % MAX_FILES].writes
                                    : &posted[(unsigned)ncid % MAX_FILES].reads;
    __atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

/* Subtracts up to `count` (negative: all), and returns how many. */
static int take(int *number, int count)
{
    int there = __atomic_load_n(number, __ATOMIC_RELAXED);
    int taken = count < 0 || count > there ? there : count;
    __atomic_fetch_sub(number, taken, __ATOMIC_RELAXED);
    return taken;
}

/* Returns the main kind of operation in a wait for so many requests; `count` may be NC_REQ_ALL or
 * the like. */
static enum sw_op waited(int ncid, int count)
{
    enum { NC_GET_REQ_ALL = -2, NC_PUT_REQ_ALL = -3 };
    unsigned file = (unsigned)ncid % MAX_FILES;
    int writes = count == NC_GET_REQ_ALL ? 0 : take(&posted[file].writes, count);
    if (count >= 0)
        count -= writes;
    int reads = count == NC_PUT_REQ_ALL ? 0 : take(&posted[file].reads, count);
    if (writes + reads == 0)
        return SW_OP_META;
    return writes >= reads ? SW_OP_WRITE : SW_OP_READ;
}

static void leave(struct sw_call *call, int ncid, int count, int result)
{
    enum sw_op op = waited(ncid, count);
    call->event_flags = SW_EVENT_WAIT;
    call->event_op = SW_OP_META;
    if (op == SW_OP_META || !sw_pn_moved(result))
        sw_pn_leave(call, sw_pn_file(ncid), SW_OP_META, result);
    else
        sw_leave_time(call, sw_pn_file(ncid), op);
}

#define WAITING(name)                                                                             \
    SW_EXPORT int name(int ncid, int count, int *requests, int *statuses);                        \
    SW_EXPORT int name(int ncid, int count, int *requests, int *statuses)                         \
    {                                                                                             \
        SW_REAL(int, name, (int, int, int *, int *));                                             \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_PN_FAILURE;                                                                 \
        if (!sw_enter(&call, SW_LAYER_PNETCDF))                                                   \
            return real(ncid, count, requests, statuses);                                         \
        int result = real(ncid, count, requests, statuses);                                       \
        sw_call_ended(&call);                                                                     \
        leave(&call, ncid, count, result);                                                        \
        return result;                                                                            \
    }

WAITING(ncmpi_wait)
WAITING(ncmpi_wait_all)
