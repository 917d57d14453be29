/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The rate of the counter: its advance since load, once the clock has advanced far enough. */
#define _GNU_SOURCE
#include <string.h>

#include "system.h"
#include "ticks.h"

#define LEAST_NS UINT64_C(20000000) /* so that an error of 100 ns in a reading is 5e-6 of it */
#define MOST_TICKS 10000            /* around a reading of the clock, without an interruption */
#define MOST_READINGS 8

uint64_t sw_ns_of_tick;

/* Readings of the clock and the counter; `ticks` 0: there is no counter. */
static struct reading {
    uint64_t ns;
    uint64_t ticks;
} first;

static bool read_both(struct reading *reading)
{
    for (int i = 0; i < MOST_READINGS; i++) {
        uint64_t before = sw_ticks();
        uint64_t ns = sw_now_ns();
        uint64_t after = sw_ticks();
        *reading = (struct reading){ns, before + (after - before) / 2};
        if (after > before && after - before < MOST_TICKS)
            return true;
    }
    return false;
}

/* Returns whether the kernel trusts it: it runs at one rate, equally on all processors. */
static bool kernel_uses_it(void)
{
    static const char wanted[] = "tsc\n";
    char name[sizeof wanted] = "";
    int fd =
        sw_sys_openat(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    ssize_t bytes = sw_sys_read(fd, name, sizeof name);
    sw_sys_close(fd);
    return bytes == sizeof wanted - 1 && memcmp(name, wanted, sizeof wanted - 1) == 0;
}

void sw_ticks_load(void)
{
    if (sw_ticks() == 0 || !kernel_uses_it() || !read_both(&first))
        first.ticks = 0;
}

void sw_ticks_measure(uint64_t now_ns)
{
    struct reading now;
    if (SW_LIKELY(first.ticks == 0 || now_ns - first.ns < LEAST_NS) || !read_both(&now) ||
        now.ticks <= first.ticks)
        return;
    unsigned __int128 ns = (unsigned __int128)(now.ns - first.ns) << 32;
    __atomic_store_n(&sw_ns_of_tick, (uint64_t)(ns / (now.ticks - first.ticks)), __ATOMIC_RELAXED);
}
