/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Time bins over a simulated day: every sum is exact, no bin is fuller than it is wide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bins.c"

#define ROOM (1 << 16)
#define DAY_NS (UINT64_C(86400) * 1000000000)

struct sw_options sw_options;
static struct sw_bin room[ROOM];

void *sw_container_reserve_trace(uint32_t bytes)
{
    (void)bytes;
    return NULL;
}

void sw_container_commit(struct sw_record *record, uint32_t bytes)
{
    record->bytes = bytes;
}

void sw_note_locked(const char *text)
{
    (void)text;
}

bool sw_lock(struct sw_guarded *guarded)
{
    guarded->saved_errno = 0;
    return true;
}

void sw_unlock(struct sw_guarded *guarded)
{
    (void)guarded;
}

static int check(const struct sw_bins *bins, const struct sw_span *sum)
{
    struct sw_span seen = {0};
    uint64_t busy = 0;
    for (const struct sw_bin *bin = room; bin < bins->spare; bin++) {
        uint64_t width = UINT64_C(1) << bin->width_log2;
        if (bin->width_log2 < SW_BIN_LEAST_LOG2 || bin->start_ns % width != 0 ||
            bin->busy_ns > width)
            return 1;
        seen.read_bytes += bin->read_bytes;
        seen.write_bytes += bin->write_bytes;
        busy += bin->busy_ns;
    }
    return seen.read_bytes != sum->read_bytes || seen.write_bytes != sum->write_bytes ||
           busy != sum->end_ns;
}

int main(void)
{
    struct sw_bins bins = {.spare = room, .spare_end = room + ROOM};
    struct sw_span sum = {0}; /* end_ns: of busy time */
    uint64_t now = 1000;
    srand(1);
    while (now < DAY_NS) {
        uint64_t gap = (uint64_t)rand() << (rand() % 10);
        uint64_t length = (uint64_t)rand() << (rand() % 10);
        struct sw_span span = {.start_ns = now + gap, .end_ns = now + gap + length};
        *(rand() % 2 != 0 ? &span.read_bytes : &span.write_bytes) = (uint64_t)rand();
        if (!sw_bins_add_current(&bins, &span)) {
            if (sw_bins_needed(&span) > sw_bins_left(&bins))
                return 2;
            sw_bins_add(&bins, &span);
        }
        sum.read_bytes += span.read_bytes;
        sum.write_bytes += span.write_bytes;
        sum.end_ns += length;
        now = span.end_ns;
    }
    printf("%zu\n", (size_t)(bins.spare - room));
    return check(&bins, &sum);
}
