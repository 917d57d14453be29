/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long a call took by the counter from which the kernel derives its clock: 9 ns
 * instead of 25 for the clock itself (measured). It is for calls whose position in time is not
 * kept. If the kernel does not use the counter, or its rate is not known yet, the clock is read.
 */
#ifndef STRIPEWISE_TICKS_H
#define STRIPEWISE_TICKS_H

#include "internal.h"

/* Nanoseconds per tick x 2^32; 0: unknown. */
extern uint64_t sw_ns_of_tick;

void sw_ticks_load(void); /* once, at load */
void sw_ticks_measure(uint64_t now_ns);

#if defined(__x86_64__)
static inline uint64_t sw_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t sw_ticks(void)
{
    return 0;
}
#endif

/* Counters of processors may differ by a few ticks. */
static inline uint64_t sw_ticks_ns(uint64_t begin)
{
    uint64_t end = sw_ticks();
    unsigned __int128 ns = (unsigned __int128)(end - begin) * sw_ns_of_tick;
    return SW_LIKELY(end > begin) ? (uint64_t)(ns >> 32) : 0;
}

/* Starts timing a call; returns true if the time is in ticks. */
static inline bool sw_ticks_begin(uint64_t *start)
{
    if (SW_LIKELY(__atomic_load_n(&sw_ns_of_tick, __ATOMIC_RELAXED) != 0)) {
        *start = sw_ticks();
        return true;
    }
    *start = sw_now_ns();
    sw_ticks_measure(*start);
    return false;
}

#endif
