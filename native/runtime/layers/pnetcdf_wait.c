/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * ncmpi_wait and ncmpi_wait_all move what was posted before: their time counts as reads and writes
 * of the file. The bytes were counted where they were posted, as independent ones; ncmpi_wait_all
 * makes them collective.
 */
#include "layers/pnetcdf.h"

#define MAX_FILES 1024 /* PnetCDF's own bound; power of two */

struct posted {
    int64_t calls;
    int64_t bytes;
};

/* Calls that were posted and not waited for yet, by file. */
static struct {
    struct posted reads;
    struct posted writes;
} pending[MAX_FILES];

static unsigned place_of(int ncid)
{
    return (unsigned)ncid % MAX_FILES;
}

void sw_pn_posted(int ncid, enum sw_op op, int64_t bytes)
{
    struct posted *posted =
        op == SW_OP_WRITE ? &pending[place_of(ncid)].writes : &pending[place_of(ncid)].reads;
    __atomic_fetch_add(&posted->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&posted->bytes, bytes, __ATOMIC_RELAXED);
    sw_file_flag(sw_pn_file(ncid), SW_FILE_POSTED);
}

/* Takes up to `count` calls (negative: all) with their share of the bytes. */
static struct posted take(struct posted *from, int64_t count)
{
    struct posted there = {__atomic_load_n(&from->calls, __ATOMIC_RELAXED),
                           __atomic_load_n(&from->bytes, __ATOMIC_RELAXED)};
    struct posted taken = there;
    if (count >= 0 && count < there.calls) {
        taken.calls = count;
        taken.bytes = (int64_t)((double)there.bytes / (double)there.calls * (double)count);
    }
    __atomic_fetch_sub(&from->calls, taken.calls, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&from->bytes, taken.bytes, __ATOMIC_RELAXED);
    return taken;
}

struct waited {
    struct posted reads;
    struct posted writes;
};

/* Takes the calls of so many requests; `count` may be NC_REQ_ALL or the like. */
static struct waited take_requests(int ncid, int count)
{
    enum { NC_GET_REQ_ALL = -2, NC_PUT_REQ_ALL = -3 };
    struct waited waited = {{0, 0}, {0, 0}};
    if (count != NC_GET_REQ_ALL)
        waited.writes = take(&pending[place_of(ncid)].writes, count);
    if (count != NC_PUT_REQ_ALL)
        waited.reads =
            take(&pending[place_of(ncid)].reads, count >= 0 ? count - waited.writes.calls : count);
    return waited;
}

void sw_pn_forget_posted(int ncid)
{
    (void)take_requests(ncid, -1);
}

static void make_collective(struct sw_file *file, const struct waited *waited)
{
    if (waited->writes.calls > 0)
        sw_count_instead(file, SW_OP_WRITE, SW_OP_WRITE_COLLECTIVE, (uint64_t)waited->writes.calls,
                         (uint64_t)waited->writes.bytes);
    if (waited->reads.calls > 0)
        sw_count_instead(file, SW_OP_READ, SW_OP_READ_COLLECTIVE, (uint64_t)waited->reads.calls,
                         (uint64_t)waited->reads.bytes);
}

/* Its time belongs to the main kind of operation among those that it waited for. */
static void leave(struct sw_call *call, int ncid, int count, int result, bool collective)
{
    struct sw_file *file = sw_pn_file(ncid);
    struct waited waited = take_requests(ncid, count);
    bool writes = waited.writes.calls >= waited.reads.calls;
    call->event_flags = SW_EVENT_WAIT;
    call->event_op = SW_OP_META;
    if (!sw_pn_moved(result) || waited.writes.calls + waited.reads.calls == 0) {
        sw_pn_leave(call, file, SW_OP_META, result);
        return;
    }
    if (collective)
        make_collective(file, &waited);
    if (writes)
        sw_leave_time(call, file, collective ? SW_OP_WRITE_COLLECTIVE : SW_OP_WRITE);
    else
        sw_leave_time(call, file, collective ? SW_OP_READ_COLLECTIVE : SW_OP_READ);
}

#define WAITING(name, ended)                                                                      \
    SW_PN_EXPORTED(name, sw_call_ended(&call);                                                    \
                   ended, (int ncid, int count, int *requests, int *statuses),                    \
                   (int, int, int *, int *), (ncid, count, requests, statuses))

WAITING(ncmpi_wait, leave(&call, ncid, count, result, false))
WAITING(ncmpi_wait_all, leave(&call, ncid, count, result, true))
/* What is cancelled never moves. */
WAITING(ncmpi_cancel, (void)take_requests(ncid, count);
        sw_pn_leave(&call, sw_pn_file(ncid), SW_OP_META, result))
