/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Adds a call to the counters of its file and process, in place; nothing is merged at exit.
 * `alone`: no other thread adds, so that atomics are not needed. */
#ifndef STRIPEWISE_COUNTING_H
#define STRIPEWISE_COUNTING_H

#include "internal.h"

/* ---- adding --------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void add(uint64_t *sum, uint64_t value, bool alone)
{
    if (alone)
        *sum += value;
    else
        __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void add_bin(uint32_t *bin, bool alone)
{
    if (alone)
        ++*bin;
    else
        __atomic_fetch_add(bin, 1, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void raise_to(uint64_t *maximum, uint64_t value,
                                                           bool alone)
{
    uint64_t seen = __atomic_load_n(maximum, __ATOMIC_RELAXED);
    if (alone) {
        if (value > seen)
            *maximum = value;
        return;
    }
    while (value > seen && !__atomic_compare_exchange_n(maximum, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Zero stands for "none yet": a minimum of zero is only kept if no call was larger. */
static inline __attribute__((always_inline)) void lower_to(uint64_t *minimum, uint64_t value,
                                                           bool alone, bool first)
{
    uint64_t seen = __atomic_load_n(minimum, __ATOMIC_RELAXED);
    if (alone) {
        if (first || value < seen)
            *minimum = value;
        return;
    }
    while ((first || value < seen) &&
           !__atomic_compare_exchange_n(minimum, &seen, value, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
        first = false;
    }
}

/* Returns the bin of SW_SIZE_BINS: the bit length leaves one boundary to compare with. */
static inline unsigned size_bin(uint64_t bytes)
{
    static const uint64_t last[SW_SIZE_BINS] = {
        100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824, UINT64_MAX,
    };
    static const unsigned char lowest[65] = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4,
        5, 5, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
        9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    };
    unsigned bin = lowest[bytes == 0 ? 0 : 64 - __builtin_clzll(bytes)];
    return bin + (bytes > last[bin]);
}

/* Offset 0 is a multiple of everything. */
static inline unsigned alignment_bin(uint64_t offset)
{
    unsigned zeros = offset == 0 ? SW_ALIGN_BINS - 1 : (unsigned)__builtin_ctzll(offset);
    return zeros < SW_ALIGN_BINS ? zeros : SW_ALIGN_BINS - 1;
}

/* ---- data ------------------------------------------------------------------------- */

static inline bool is_write(enum sw_op op)
{
    return op == SW_OP_WRITE || op == SW_OP_WRITE_COLLECTIVE;
}

static inline __attribute__((always_inline)) void add_read(struct sw_file *file, uint64_t bytes,
                                                           int64_t offset, bool alone)
{
    struct sw_file_record *record = file->record;
    lower_to(&record->read_min, bytes, alone, (record->flags & SW_FILE_READ) == 0);
    raise_to(&record->read_max, bytes, alone);
    add_bin(&record->read_sizes[size_bin(bytes)], alone);
    if (offset < 0)
        return;
    int64_t end = __atomic_load_n(&file->read_end, __ATOMIC_RELAXED);
    if (offset >= end)
        add(&record->sequential_reads, 1, alone);
    if (offset == end)
        add(&record->consecutive_reads, 1, alone);
    __atomic_store_n(&file->read_end, offset + (int64_t)bytes, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void add_write(struct sw_file *file, uint64_t bytes,
                                                            int64_t offset, bool alone)
{
    struct sw_file_record *record = file->record;
    lower_to(&record->write_min, bytes, alone, (record->flags & SW_FILE_WRITTEN) == 0);
    raise_to(&record->write_max, bytes, alone);
    add_bin(&record->write_sizes[size_bin(bytes)], alone);
    if (offset < 0)
        return;
    add_bin(&record->write_alignment[alignment_bin((uint64_t)offset)], alone);
    int64_t end = __atomic_load_n(&file->write_end, __ATOMIC_RELAXED);
    if (offset >= end)
        add(&record->sequential_writes, 1, alone);
    if (offset == end)
        add(&record->consecutive_writes, 1, alone);
    __atomic_store_n(&file->write_end, offset + (int64_t)bytes, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) void add_data(struct sw_file *file, enum sw_op op,
                                                           uint64_t bytes, int64_t offset,
                                                           bool outermost, bool alone)
{
    struct sw_file_record *record = file->record;
    bool write = is_write(op);
    add(&record->ops[op].bytes, bytes, alone);
    if (write)
        add_write(file, bytes, offset, alone);
    else
        add_read(file, bytes, offset, alone);
    sw_file_flag(file, write ? SW_FILE_WRITTEN : SW_FILE_READ);
    if (offset >= 0)
        raise_to(&record->maximum_offset, (uint64_t)offset + bytes, alone);
    if (outermost)
        add(write ? &record->outermost_write_bytes : &record->outermost_read_bytes, bytes, alone);
}

/* Adds to the counters of the whole process. */
static inline __attribute__((always_inline)) void
add_process(const struct sw_call *call, enum sw_op op, int64_t bytes, uint64_t now, bool alone)
{
    struct sw_process *process = sw_process_live;
    if (!call->outermost)
        return;
    add(&process->outermost_ns, now - call->start_ns, alone);
    if (bytes > 0)
        add(is_write(op) ? &process->outermost_write_bytes : &process->outermost_read_bytes,
            (uint64_t)bytes, alone);
}

static inline __attribute__((always_inline)) void add_time(const struct sw_call *call,
                                                           struct sw_file *file, enum sw_op op,
                                                           uint64_t count, uint64_t now,
                                                           bool alone)
{
    struct sw_file_record *record = file->record;
    uint64_t elapsed = now - call->start_ns;
    add(&record->ops[op].count, count, alone);
    add(&record->ops[op].ns, elapsed, alone);
    if (call->outermost)
        add(&record->outermost_ns, elapsed, alone);
}

static inline __attribute__((always_inline)) void add_call(const struct sw_call *call,
                                                           struct sw_file *file, enum sw_op op,
                                                           int64_t bytes, int64_t offset,
                                                           uint64_t now, bool alone)
{
    struct sw_file_record *record = file->record;
    add_time(call, file, op, 1, now, alone);
    if (bytes < 0)
        return;
    add_data(file, op, (uint64_t)bytes, offset, call->outermost, alone);
    if (record->first_ns == 0)
        record->first_ns = call->start_ns - sw_options.clock_origin_ns;
    record->last_ns = now - sw_options.clock_origin_ns;
}

#endif
