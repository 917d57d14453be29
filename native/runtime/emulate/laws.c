/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The laws of one request (docs/design/machines.md), on clocks shared by all processes. */
#include "emulator.h"

#include "parts.h"

#include <string.h>

#define MOST_FACTOR 1e6 /* maximum factor by which a target can be slowed down */

static inline void limited(const struct sw_emulator *storage, enum sw_emulate_limit limit,
                           uint64_t ns)
{
    if (ns != 0)
        sw_emulate_add(&storage->counters->limit_ns[limit], ns);
}

/* ---- one part ---------------------------------------------------------------------------------
 */

/* Common data of all parts of a request. */
struct request {
    uint32_t node;
    double contended; /* factor on the use of the file's clock */
    bool is_ahead;    /* its locks were requested ahead: each part costs `ahead_ns` */
    uint64_t ahead_ns;
    uint64_t asked_ns; /* for the locks */
};

/* What a part waits for. */
struct outcome {
    uint64_t end_ns;
    uint64_t lock_ns;            /* part of it, for the lock */
    enum sw_emulate_limit limit; /* of the rest */
};

static uint64_t *clock_of(enum sw_resource resource, const struct sw_transfer *transfer,
                          uint32_t node, uint32_t target)
{
    struct sw_emulator *storage = transfer->storage;
    switch (resource) {
    case SW_ON_PROCESS:
        return &storage->process_clock;
    case SW_ON_FILE:
        return &storage->file_clocks[(uint64_t)transfer->slot * storage->header->nodes + node];
    case SW_ON_NODE:
        return &storage->node_clocks[node];
    case SW_ON_TARGET:
        return &storage->target_clocks[target];
    default:
        return &storage->clocks[SW_CLOCK_WHOLE];
    }
}

/* Returns the factor of a target that somebody has slowed down since. */
static inline double factor_of(const struct sw_emulator *storage, uint32_t target)
{
    uint64_t word = __atomic_load_n(&storage->factors[target], __ATOMIC_RELAXED);
    double factor;
    memcpy(&factor, &word, sizeof factor);
    return factor > 0 && factor < MOST_FACTOR ? factor : 1;
}

static inline double target_ns(const struct sw_emulator *storage, double ns, uint64_t bytes,
                               uint32_t target, uint64_t offset)
{
    const struct sw_rates *rates = &storage->rates;
    if (bytes == 0) /* past the end: nothing is requested from it */
        return 0;
    ns = (ns + rates->target_request) * factor_of(storage, target);
    if (target == rates->slow_target)
        ns /= rates->slow_share;
    if (rates->jitter <= 0)
        return ns;
    double chance = sw_emulate_chance(target, offset, sw_emulator_rank(), rates->draw);
    return ns * (1 + rates->jitter * (chance - 1));
}

/* Computes how long a part uses each resource by itself; returns the slowest one. */
static enum sw_resource transfers_of(const struct sw_transfer *transfer,
                                     const struct sw_part *part, const struct request *request,
                                     uint32_t target, uint64_t own[SW_RESOURCES])
{
    const struct sw_rates *rates = &transfer->storage->rates;
    enum sw_resource longest = SW_ON_PROCESS;
    for (enum sw_resource i = 0; i < SW_RESOURCES; i++) {
        double ns = rates->byte[transfer->writes][i] * (double)part->bytes;
        if (i == SW_ON_FILE)
            ns *= request->contended;
        if (i == SW_ON_TARGET)
            ns = target_ns(transfer->storage, ns, part->bytes, target, transfer->offset);
        own[i] = (uint64_t)ns;
        if (own[i] > own[longest])
            longest = i;
    }
    uint64_t turn = transfer->writes ? (uint64_t)(rates->turns * (double)own[longest]) : 0;
    if (turn > own[SW_ON_FILE])
        own[SW_ON_FILE] = turn;
    return longest;
}

/* The clocks are used from the moment at which the lock is requested; the data arrives no earlier
 * than the lock and the longest transfer permit. */
static struct outcome move_part(const struct sw_transfer *transfer, const struct sw_part *part,
                                const struct request *request)
{
    uint64_t asked_ns = request->asked_ns;
    uint32_t target = sw_part_target(transfer->storage, transfer->layout, part, request->node);
    struct sw_lock_use lock = {request->ahead_ns, asked_ns};
    struct outcome found = {.end_ns = asked_ns, .limit = SW_LIMIT_PROCESS};
    uint64_t own[SW_RESOURCES];
    enum sw_resource longest = transfers_of(transfer, part, request, target, own);
    if (transfer->storage->has_locks && !request->is_ahead)
        lock = sw_lock_use(transfer, part->object, part->is_ragged, request->node, asked_ns);
    for (enum sw_resource i = 0; i < SW_RESOURCES; i++) {
        uint64_t held = i == SW_ON_FILE ? own[i] + lock.cost_ns : own[i];
        uint64_t end = sw_clock_use(clock_of(i, transfer, request->node, target), asked_ns, held);
        if (end > found.end_ns) {
            found.end_ns = end;
            found.limit = SW_LIMIT_PROCESS + (enum sw_emulate_limit)i;
        }
        if (i == SW_ON_TARGET)
            sw_served.ns[part->number % SW_SERVED] = end - asked_ns;
    }
    sw_served.target = target;
    if (lock.end_ns + own[longest] >= found.end_ns)
        found = (struct outcome){lock.end_ns + own[longest], lock.end_ns - asked_ns,
                                 SW_LIMIT_PROCESS + (enum sw_emulate_limit)longest};
    return found;
}
_Static_assert((int)SW_LIMIT_WHOLE - (int)SW_LIMIT_PROCESS == (int)SW_ON_WHOLE, "the same order");

/* ---- a request ---------------------------------------------------------------------------------
 */

void sw_law_came(struct sw_emulator *storage, uint64_t moment_ns)
{
    uint64_t *last = &storage->clocks[SW_CLOCK_CAME];
    uint64_t seen = __atomic_load_n(last, __ATOMIC_RELAXED);
    while (seen < moment_ns && !__atomic_compare_exchange_n(last, &seen, moment_ns, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* For callers that do not know which storage is concerned. */
void sw_laws_came(uint64_t moment_ns)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        sw_law_came(&sw_emulators[i], moment_ns);
}

static uint64_t exchange_of(const struct sw_transfer *transfer)
{
    const struct sw_rates *rates = &transfer->storage->rates;
    uint64_t exchange = (uint64_t)(rates->exchange_byte * (double)transfer->bytes);
    if (transfer->begins_round)
        exchange += rates->exchange_round + sw_emulator_ranks() * rates->exchange_rank;
    return exchange;
}

/* Since the last rank arrived, or request ended, nothing but the real exchange has taken place. */
static uint64_t exchanged_already(const struct sw_transfer *transfer)
{
    uint64_t came = __atomic_load_n(&transfer->storage->clocks[SW_CLOCK_CAME], __ATOMIC_RELAXED);
    return came != 0 && transfer->start_ns > came ? transfer->start_ns - came : 0;
}

static uint64_t wait_before(const struct sw_transfer *transfer)
{
    const struct sw_rates *rates = &transfer->storage->rates;
    limited(transfer->storage, SW_LIMIT_REQUEST, rates->request);
    if (!transfer->exchanged)
        return rates->request;
    uint64_t exchange = exchange_of(transfer);
    uint64_t already = exchanged_already(transfer);
    SW_EMULATE_COUNT(transfer->storage, exchanges, transfer->begins_round);
    limited(transfer->storage, SW_LIMIT_EXCHANGE, exchange);
    return (exchange > already ? exchange - already : 0) + rates->request;
}

static struct outcome move_parts(const struct sw_transfer *transfer, const struct request *request)
{
    struct sw_stripes stripes = sw_stripes_of(transfer->layout, transfer->offset, transfer->bytes);
    uint64_t page = transfer->storage->rates.page_bytes;
    struct outcome latest = {.end_ns = request->asked_ns, .limit = SW_LIMIT_PROCESS};
    sw_served.start_ns = transfer->start_ns;
    sw_served.parts = stripes.parts;
    for (uint32_t j = 0; j < stripes.parts; j++) {
        struct sw_part part = sw_part_of(&stripes, j, page);
        struct outcome found = move_part(transfer, &part, request);
        if (found.end_ns > latest.end_ns)
            latest = found;
    }
    return latest;
}

uint64_t sw_law_data(const struct sw_transfer *transfer)
{
    struct request request = {.node = sw_emulator_node(transfer->storage)};
    request.asked_ns = transfer->start_ns + wait_before(transfer);
    request.contended = sw_lock_contended(transfer, request.node);
    request.is_ahead = sw_lock_ahead(transfer, request.node, &request.ahead_ns);
    if (request.is_ahead) /* the process is busy requesting them */
        sw_clock_use(&transfer->storage->process_clock, request.asked_ns,
                     transfer->storage->rates.ahead);
    struct outcome latest = move_parts(transfer, &request);
    limited(transfer->storage, SW_LIMIT_LOCK, latest.lock_ns);
    limited(transfer->storage, latest.limit, latest.end_ns - request.asked_ns - latest.lock_ns);
    return latest.end_ns;
}

/* ---- metadata ----------------------------------------------------------------------------------
 */

/* Only libc is linked, so this uses Newton's square root, once for each bit of the fraction. */
static double power(double base, double exponent)
{
    double result = 1;
    for (; exponent >= 1; exponent--)
        result *= base;
    for (unsigned bit = 0; bit < 20 && exponent > 0; bit++) {
        double root = base > 1 ? (base + 1) / 2 : 1;
        for (unsigned i = 0; i < 30; i++)
            root = (root + base / root) / 2;
        base = root;
        exponent *= 2;
        if (exponent >= 1) {
            result *= base;
            exponent--;
        }
    }
    return result;
}

uint64_t sw_law_metadata(struct sw_emulator *storage, enum sw_operation operation,
                         uint32_t stripes, uint32_t objects, uint64_t start_ns,
                         uint64_t *served_ns)
{
    const struct sw_rates *rates = &storage->rates;
    uint64_t ns = rates->operations[operation];
    if (rates->growth > 0 && stripes > 1)
        ns = (uint64_t)((double)ns * power(stripes, rates->growth));
    ns += rates->object * objects;
    uint64_t end = sw_clock_use(&storage->clocks[SW_CLOCK_METADATA], start_ns, ns);
    *served_ns = end - start_ns;
    end += rates->latency;
    limited(storage, SW_LIMIT_METADATA, end - start_ns);
    return end;
}

uint64_t sw_law_latency(struct sw_emulator *storage, uint64_t start_ns)
{
    limited(storage, SW_LIMIT_METADATA, storage->rates.latency);
    return start_ns + storage->rates.latency;
}
