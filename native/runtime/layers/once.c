/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A set of hashes that only grows, without a lock. */
#include <stddef.h>

#include "layers/once.h"

static uint64_t seen[SW_ONCE_SLOTS];

static uint64_t hash(uint64_t value, const char *text)
{
    value ^= UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value != 0 ? value : 1;
}

bool sw_once(uint64_t salt, const char *text)
{
    uint64_t key = hash(salt, text);
    for (size_t i = 0; i < SW_ONCE_SLOTS; i++) {
        uint64_t found = __atomic_load_n(&seen[i], __ATOMIC_RELAXED);
        if (found == 0 && __atomic_compare_exchange_n(&seen[i], &found, key, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (found == key)
            return false;
    }
    return false;
}
