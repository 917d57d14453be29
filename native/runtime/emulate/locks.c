/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who held the lock of an object last, and what it costs to acquire it. An object's state is one
 * word, which is exchanged atomically; it contains the use count of the file's slot, so that what
 * a removed file has left there does not affect the next one.
 */
#include "emulator.h"

enum { EXTENTS = 0, AHEAD = 2 }; /* 1: one lock for all writers */

/* How an object's lock is held, including the node where it is held by one. */
enum hold { BY_NOBODY, TO_WRITE, TO_READ, TO_READ_SHARED };

static uint64_t holder_of(uint32_t uses, enum hold hold, uint32_t node)
{
    return (uint64_t)uses << 32 | (uint64_t)node << 2 | hold;
}

#define PROBES 64

/* Returns the object's entry; if the table is full, one that it shares. */
static struct sw_emulate_object *find(struct sw_emulator *storage, uint32_t slot, uint32_t object)
{
    uint64_t key = ((uint64_t)slot << 16 | object) + 1;
    uint32_t mask = storage->header->objects - 1;
    uint32_t first = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    for (uint32_t probe = 0; probe < PROBES && probe <= mask; probe++) {
        struct sw_emulate_object *entry = &storage->objects[(first + probe) & mask];
        uint64_t seen = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
        if (seen == key ||
            (seen == 0 && (__atomic_compare_exchange_n(&entry->key, &seen, key, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                           seen == key)))
            return entry;
    }
    SW_EMULATE_COUNT(storage, tables_full, 1);
    return &storage->objects[first];
}

/* ---- writers -----------------------------------------------------------------------------------
 */

static void mark(uint64_t *words, unsigned number)
{
    uint64_t bit = UINT64_C(1) << number % 64;
    if ((__atomic_load_n(&words[number / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&words[number / 64], bit, __ATOMIC_RELAXED);
}

static unsigned count(const uint64_t *words, unsigned n_words)
{
    unsigned found = 0;
    for (unsigned i = 0; i < n_words; i++)
        found += (unsigned)__builtin_popcountll(__atomic_load_n(&words[i], __ATOMIC_RELAXED));
    return found;
}

void sw_lock_opened(struct sw_emulator *storage, uint32_t slot)
{
    mark(storage->files[slot].openers, sw_emulator_writer());
}

/* Records that this process writes; counts the writers, and their nodes. */
static unsigned count_writers(struct sw_emulate_file *file, uint32_t node, unsigned *nodes)
{
    mark(file->writers, sw_emulator_writer());
    mark(&file->nodes, node % 64);
    *nodes = count(&file->nodes, 1);
    return count(file->writers, 2);
}

double sw_lock_contended(const struct sw_transfer *transfer, uint32_t node)
{
    if (!transfer->writes || transfer->storage->rates.sharing <= 0)
        return 1;
    unsigned nodes;
    unsigned writers = count_writers(&transfer->storage->files[transfer->slot], node, &nodes);
    double others = (double)writers / nodes - 1;
    return others > 0 ? 1 + transfer->storage->rates.sharing * others : 1;
}

bool sw_lock_ahead(const struct sw_transfer *transfer, uint32_t node, uint64_t *cost_ns)
{
    struct sw_emulate_file *file = &transfer->storage->files[transfer->slot];
    const struct sw_rates *rates = &transfer->storage->rates;
    if (!transfer->writes || transfer->lock_mode != AHEAD || !transfer->storage->has_locks)
        return false;
    unsigned nodes;
    double meeting = (double)count_writers(file, node, &nodes) / sw_layout_count(transfer->layout);
    mark(file->openers, sw_emulator_writer());
    if (count(file->openers, 2) < 2)
        return false;
    double others = 1 - 1.0 / nodes;
    *cost_ns = rates->hold + (uint64_t)((double)rates->extent * meeting * others);
    return true;
}

/* ---- costs -------------------------------------------------------------------------------------
 */

/* Returns the holder after a request of a node; *revoked: the lock was taken from another one. */
static uint64_t next_holder(uint64_t holder, uint32_t uses, bool writes, uint32_t node,
                            bool *revoked)
{
    enum hold hold = holder >> 32 == uses ? (enum hold)(holder & 3) : BY_NOBODY;
    bool own = (uint32_t)(holder & UINT32_MAX) >> 2 == node;
    *revoked =
        writes ? hold == TO_READ_SHARED || (hold != BY_NOBODY && !own) : hold == TO_WRITE && !own;
    if (writes)
        return holder_of(uses, TO_WRITE, node);
    if (hold == BY_NOBODY || *revoked)
        return holder_of(uses, TO_READ, node);
    return hold == TO_READ && !own ? holder_of(uses, TO_READ_SHARED, 0) : holder;
}

/* Returns true if the lock changes hands. */
static bool change_hands(struct sw_emulate_object *entry, const struct sw_transfer *transfer,
                         uint32_t node)
{
    uint32_t uses =
        __atomic_load_n(&transfer->storage->files[transfer->slot].uses, __ATOMIC_RELAXED);
    uint64_t seen = __atomic_load_n(&entry->holder, __ATOMIC_RELAXED);
    uint64_t next;
    bool revoked;
    do {
        next = next_holder(seen, uses, transfer->writes, node, &revoked);
        if (next == seen)
            return revoked;
    } while (!__atomic_compare_exchange_n(&entry->holder, &seen, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return revoked;
}

static uint64_t cost_of(struct sw_emulate_object *entry, const struct sw_transfer *transfer,
                        bool is_ragged, uint32_t node)
{
    const struct sw_rates *rates = &transfer->storage->rates;
    bool moved = change_hands(entry, transfer, node);
    if (!moved || (transfer->writes && transfer->lock_mode != EXTENTS))
        return 0;
    return rates->revoke + (is_ragged ? rates->page : 0);
}

struct sw_lock_use sw_lock_use(const struct sw_transfer *transfer, uint32_t object, bool is_ragged,
                               uint32_t node, uint64_t asked_ns)
{
    struct sw_emulate_object *entry = find(transfer->storage, transfer->slot, object);
    struct sw_lock_use lock = {.cost_ns = cost_of(entry, transfer, is_ragged, node)};
    lock.end_ns = sw_clock_use(&entry->clock, asked_ns, lock.cost_ns);
    return lock;
}
