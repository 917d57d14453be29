/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time bins: a call is split over the bins that it spans. All bins of a call have the width that
 * belongs to the age at its end. Two entries may describe the same bin (threads whose long calls
 * end late): a reader sums them.
 */
#include "internal.h"

/* The first record of a file is small, because most files are used only briefly. */
#define FIRST_BINS 3

/* Returns the width: at most 1/256 of the age, at least 2^SW_BIN_LEAST_LOG2 ns. */
static uint32_t width_log2(uint64_t age_ns)
{
    uint32_t log2 = age_ns == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(age_ns);
    return log2 >= SW_BIN_LEAST_LOG2 + 8 ? log2 - 8 : SW_BIN_LEAST_LOG2;
}

size_t sw_bins_needed(const struct sw_span *span)
{
    uint32_t log2 = width_log2(span->end_ns);
    return (size_t)((span->end_ns >> log2) - (span->start_ns >> log2)) + 1;
}

static struct sw_bin *find(const struct sw_bins *bins, uint64_t start_ns, uint32_t log2)
{
    for (unsigned i = 0; i < SW_BINS_RECENT; i++) {
        struct sw_bin *bin = bins->recent[i];
        if (bin != NULL && bin->start_ns == start_ns && bin->width_log2 == log2 &&
            bin->calls != UINT32_MAX) /* the rest is in another entry */
            return bin;
    }
    return NULL;
}

static struct sw_bin *find_or_make(struct sw_bins *bins, uint64_t start_ns, uint32_t log2)
{
    struct sw_bin *bin = find(bins, start_ns, log2);
    if (bin == NULL) {
        bin = bins->spare++;
        bin->start_ns = start_ns;
        __atomic_store_n(&bin->width_log2, log2, __ATOMIC_RELEASE);
        bins->recent[bins->made++ % SW_BINS_RECENT] = bin;
    }
    bins->current = bin;
    bins->from_ns = start_ns;
    bins->to_ns = start_ns + (UINT64_C(1) << log2);
    return bin;
}

static uint64_t share_of(uint64_t bytes, uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns == 0 ? 0 : (uint64_t)((unsigned __int128)bytes * part_ns / whole_ns);
}

void sw_bins_add(struct sw_bins *bins, const struct sw_span *span)
{
    uint32_t log2 = width_log2(span->end_ns);
    uint64_t whole = span->end_ns - span->start_ns;
    uint64_t read = span->read_bytes;
    uint64_t write = span->write_bytes;
    uint64_t at = span->start_ns;
    uint64_t last = span->end_ns >> log2;
    for (uint64_t number = at >> log2; number < last; number++) {
        uint64_t next = (number + 1) << log2;
        struct sw_bin *bin = find_or_make(bins, number << log2, log2);
        uint64_t read_share = share_of(span->read_bytes, next - at, whole);
        uint64_t write_share = share_of(span->write_bytes, next - at, whole);
        bin->read_bytes += read_share;
        bin->write_bytes += write_share;
        bin->busy_ns += next - at;
        read -= read_share;
        write -= write_share;
        at = next;
    }
    struct sw_bin *bin = find_or_make(bins, last << log2, log2);
    bin->calls++;
    bin->read_bytes += read;
    bin->write_bytes += write;
    bin->busy_ns += span->end_ns - at;
}

struct sw_bin *sw_bins_reserve(uint64_t file_id, uint32_t layer, size_t needed, bool first,
                               struct sw_bin **end)
{
    size_t usual = first ? FIRST_BINS : SW_BINS_PER_RECORD;
    size_t n_bins = needed > usual ? needed : usual;
    uint32_t bytes = (uint32_t)(sizeof(struct sw_bins_record) + n_bins * sizeof(struct sw_bin));
    struct sw_bins_record *record = sw_container_reserve_trace(bytes);
    if (record == NULL)
        return NULL;
    record->header.kind = SW_RECORD_BINS;
    record->header.version = SW_TRACE_VERSION;
    record->file_id = file_id;
    record->layer = layer;
    record->n_bins = (uint32_t)n_bins;
    sw_container_commit(&record->header, bytes);
    *end = record->bins + n_bins;
    return record->bins;
}

void sw_bins_lost(void)
{
    static uint32_t noted; /* generation + 1 */
    struct sw_guarded guarded;
    if (__atomic_load_n(&noted, __ATOMIC_RELAXED) == sw_options.generation + 1 ||
        !sw_lock(&guarded))
        return;
    if (noted != sw_options.generation + 1)
        sw_note_locked("the trace is full: the time bins of some files are incomplete");
    __atomic_store_n(&noted, sw_options.generation + 1, __ATOMIC_RELAXED);
    sw_unlock(&guarded);
}
