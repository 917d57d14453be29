/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous requests: each ends for the program where it fetches the result. */
#include "emulator.h"

#define SLOTS 1024
#define PROBES 16

static struct posted {
    uintptr_t block; /* control blocks are aligned: 1 is none */
    uint64_t end_ns;
    struct sw_emulator *storage;
} slots[SLOTS];

#define BEING_FILLED 1

static struct posted *slot_of(const void *block, unsigned probe)
{
    uint64_t mixed = ((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return &slots[((mixed >> 32) + probe) % SLOTS];
}

bool sw_posted_put(const void *block, struct sw_emulator *storage, uint64_t end_ns)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct posted *slot = slot_of(block, probe);
        uintptr_t seen = __atomic_load_n(&slot->block, __ATOMIC_RELAXED);
        if ((seen == 0 || seen == (uintptr_t)block) &&
            __atomic_compare_exchange_n(&slot->block, &seen, BEING_FILLED, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            slot->end_ns = end_ns;
            slot->storage = storage;
            __atomic_store_n(&slot->block, (uintptr_t)block, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

static uint64_t take(const void *block, struct sw_emulator **storage)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct posted *slot = slot_of(block, probe);
        if (__atomic_load_n(&slot->block, __ATOMIC_ACQUIRE) != (uintptr_t)block)
            continue;
        uint64_t end_ns = slot->end_ns;
        *storage = slot->storage;
        __atomic_store_n(&slot->block, 0, __ATOMIC_RELEASE);
        return end_ns;
    }
    return 0;
}

void sw_posted_done(const void *block)
{
    struct sw_emulator *storage = NULL;
    uint64_t end_ns = sw_emulating() ? take(block, &storage) : 0;
    uint64_t now_ns = end_ns != 0 ? sw_now_ns() : 0;
    if (now_ns >= end_ns)
        return;
    int saved_errno = errno;
    SW_EMULATE_COUNT(storage, held, 1);
    SW_EMULATE_COUNT(storage, held_ns, end_ns - now_ns);
    sw_wait_until(end_ns);
    errno = saved_errno;
}
