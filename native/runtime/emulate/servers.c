/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the emulated servers count, as Lustre's do: data requests at their target, and metadata
 * operations. Each process adds only to the counters of its job.
 */
#define _GNU_SOURCE
#include "emulator.h"
#include "parts.h"

__thread struct sw_served sw_served;

/* ---- one counter -------------------------------------------------------------------------------
 */

static inline void raise(uint64_t *word, uint64_t value)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(word, &seen, value, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

static inline void touch(struct sw_emulate_span *span, uint64_t now_ns)
{
    uint64_t none = 0;
    if (SW_UNLIKELY(__atomic_load_n(&span->first_ns, __ATOMIC_RELAXED) == 0))
        __atomic_compare_exchange_n(&span->first_ns, &none, now_ns, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    __atomic_store_n(&span->last_ns, now_ns, __ATOMIC_RELAXED);
}

/* Returns the exponent of the smallest power of two that is not below the value. */
static inline unsigned power_of(uint64_t value, unsigned most)
{
    unsigned power = value > 1 ? 64 - (unsigned)__builtin_clzll(value - 1) : 0;
    return power < most ? power : most;
}

static void tally(struct sw_emulate_tally *to, uint64_t ns)
{
    uint64_t us = ns / 1000;
    sw_emulate_add(&to->samples, 1);
    if (us != 0) {
        sw_emulate_add(&to->sum_us, us);
        sw_emulate_add(&to->squares_us, us * us);
    }
    raise(&to->under_us, UINT64_MAX - us);
    raise(&to->most_us, us);
}

/* ---- data --------------------------------------------------------------------------------------
 */

/* Adds `n` requests of the same size, which together take `ns`. */
static inline void add_requests(struct sw_emulate_transfers *to, uint64_t n, uint64_t bytes,
                                uint64_t ns)
{
    uint64_t us = ns / n / 1000;
    sw_emulate_add(&to->sizes[power_of(bytes, SW_EMULATE_SIZES - 1)], n);
    sw_emulate_add(&to->sum_bytes, n * bytes);
    sw_emulate_add(&to->squares_bytes, n * bytes * bytes);
    sw_emulate_add(&to->times[power_of(us / 1000, SW_EMULATE_TIMES - 1)], n);
    if (us != 0) {
        sw_emulate_add(&to->sum_us, n * us);
        sw_emulate_add(&to->squares_us, n * us * us);
    }
    raise(&to->under_bytes, UINT64_MAX - bytes);
    raise(&to->most_bytes, bytes);
    raise(&to->under_us, UINT64_MAX - us);
    raise(&to->most_us, us);
}

/* Divides a part into consecutive requests, which together take the part's time. */
static void add_part(struct sw_emulate_transfers *to, uint64_t bytes, uint64_t ns)
{
    uint64_t whole = bytes / SW_EMULATE_BULK;
    uint64_t rest = bytes % SW_EMULATE_BULK;
    if (SW_LIKELY(whole == 0)) {
        add_requests(to, 1, rest, ns);
        return;
    }
    uint64_t rest_ns = (uint64_t)((double)ns * (double)rest / (double)bytes);
    add_requests(to, whole, SW_EMULATE_BULK, ns - rest_ns);
    if (rest != 0)
        add_requests(to, 1, rest, rest_ns);
}

static inline struct sw_emulate_target *target_at(char *tallies, uint32_t target)
{
    return (struct sw_emulate_target *)(tallies + (uint64_t)target * SW_EMULATE_TARGET_BYTES);
}

static void add_at(const struct sw_transfer *transfer, char *tallies, uint32_t number,
                   uint64_t bytes, uint64_t ns)
{
    struct sw_emulate_target *target = target_at(tallies, number);
    add_part(&target->transfers[transfer->writes], bytes, ns);
    touch(&target->span, transfer->start_ns);
}

void sw_served_data(const struct sw_transfer *transfer, uint64_t moved, uint64_t whole_ns)
{
    struct sw_emulator *storage = transfer->storage;
    char *tallies = sw_job_tallies(storage);
    bool known = sw_served.start_ns == transfer->start_ns;
    if (SW_LIKELY(known && sw_served.parts == 1)) { /* the moved bytes are all there, too */
        add_at(transfer, tallies, sw_served.target, moved, sw_served.ns[0]);
        return;
    }
    uint32_t node = sw_emulator_node(storage);
    struct sw_stripes stripes = sw_stripes_of(transfer->layout, transfer->offset, moved);
    for (uint32_t j = 0; j < stripes.parts; j++) {
        struct sw_part part = sw_part_of(&stripes, j, 1);
        uint32_t number = sw_part_target(storage, transfer->layout, &part, node);
        add_at(transfer, tallies, number, part.bytes,
               known ? sw_served.ns[j % SW_SERVED] : whole_ns);
    }
}

/* ---- operations --------------------------------------------------------------------------------
 */

void sw_served_metadata(struct sw_emulator *storage, enum sw_emulate_at_metadata operation,
                        uint64_t served_ns)
{
    uint64_t offset = (uint64_t)storage->header->targets * SW_EMULATE_TARGET_BYTES;
    struct sw_emulate_metadata *server =
        (struct sw_emulate_metadata *)(sw_job_tallies(storage) + offset);
    tally(&server->operations[operation], served_ns);
    touch(&server->span, sw_now_ns());
}

/* They take no time in the model. */
void sw_served_objects(struct sw_emulator *storage, enum sw_emulate_at_target operation,
                       uint64_t layout)
{
    uint32_t objects = layout != 0 ? sw_layout_count(layout) : 0;
    uint32_t node = objects != 0 ? sw_emulator_node(storage) : 0;
    for (uint32_t i = 0; i < objects; i++) {
        struct sw_emulate_target *target =
            target_at(sw_job_tallies(storage), sw_object_target(storage, layout, i, node));
        tally(&target->operations[operation], 0);
        touch(&target->span, sw_now_ns());
    }
}

/* ---- calls -------------------------------------------------------------------------------------
 */

static enum sw_emulate_at_metadata operation_of(const struct sw_request *request)
{
    switch (request->action) {
    case SW_DO_MKDIR:
        return SW_AT_METADATA_MKDIR;
    case SW_DO_RMDIR:
        return SW_AT_METADATA_RMDIR;
    case SW_DO_UNLINK: /* by remove(), perhaps */
        return request->emulated.is_directory ? SW_AT_METADATA_RMDIR : SW_AT_METADATA_UNLINK;
    case SW_DO_RENAME:
        return SW_AT_METADATA_RENAME;
    case SW_DO_LINK:
        return SW_AT_METADATA_LINK;
    case SW_DO_SYMLINK: /* or what one says */
        return request->second.path != NULL ? SW_AT_METADATA_MKNOD : SW_AT_METADATA_GETATTR;
    case SW_DO_CHANGE:
        return request->attribute ? SW_AT_METADATA_SETXATTR : SW_AT_METADATA_SETATTR;
    case SW_DO_TRUNCATE:
        return SW_AT_METADATA_SETATTR;
    case SW_DO_STATFS:
        return SW_AT_METADATA_STATFS;
    case SW_DO_LIST: /* or a change of the working directory */
        return request->opens_stream ? SW_AT_METADATA_OPEN : SW_AT_METADATA_GETATTR;
    default:
        return request->attribute ? SW_AT_METADATA_GETXATTR : SW_AT_METADATA_GETATTR;
    }
}

void sw_served_call(const struct sw_request *request, uint64_t layout, uint64_t served_ns)
{
    struct sw_emulator *storage = request->emulated.storage;
    if (request->action == SW_DO_ALLOCATE) {
        sw_served_objects(storage, SW_AT_TARGET_PREALLOC, layout);
        return;
    }
    sw_served_metadata(storage, operation_of(request), served_ns);
    if (request->action == SW_DO_TRUNCATE)
        sw_served_objects(storage, SW_AT_TARGET_PUNCH, layout);
}
