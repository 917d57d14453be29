/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folding: equal calls at a regular stride become one run (struct sw_run of trace.h).
 *
 * The second call determines the stride of the first level. A call other than the expected one
 * opens the next level if a whole row (two calls or more) or, one level higher, whole rows precede
 * it: its distance from the first call is the stride of that level, and what follows must repeat
 * the rows. In the middle of a row, it ends the run and begins another. Random offsets make runs
 * of three calls, which cost less than three events. A run that began in the middle of a row ends
 * after a few rows, and the next one begins where a row does.
 */
#include <stddef.h>
#include <string.h>

#include "tracer.h"

/* A run ends at this length, so that no bin of its histogram overflows. */
#ifndef SW_MOST_CALLS /* tests use fewer */
#define SW_MOST_CALLS UINT64_C(0xffffffff)
#endif
/* Slots in which a call is searched for: `first ^ i`. */
#define WAYS 8

/* ---- the slot of a call ------------------------------------------------------------------ */

static inline bool same_key(const struct sw_event_key *a, const struct sw_event_key *b)
{
    return ((a->file ^ b->file) | (a->name ^ b->name) | (a->parent ^ b->parent) |
            (a->bytes ^ b->bytes) | (a->selection ^ b->selection) | (a->kind ^ b->kind)) == 0;
}

static inline uint32_t slot_of(const struct sw_tracer *tracer, const struct sw_event_key *key)
{
    uint64_t hash = key->file ^ key->name << 7 ^ key->bytes << 13 ^ key->selection << 3 ^
                    key->kind << 17 ^ key->parent << 21;
    return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 58) & (tracer->n_slots - 1);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static inline unsigned duration_bin(uint64_t ns)
{
    uint64_t units = ns >> 8;
    unsigned bits = units == 0 ? 0 : 64 - (unsigned)__builtin_clzll(units);
    unsigned bin = (bits + 1) / 2;
    return bin < SW_DURATION_BINS ? bin : SW_DURATION_BINS - 1;
}

static inline void absorb(struct sw_run *run, const struct sw_happened *happened)
{
    uint64_t elapsed = happened->end_ns - happened->start_ns;
    run->first.duration_ns += elapsed;
    if (elapsed < run->min_ns)
        run->min_ns = elapsed;
    if (elapsed > run->max_ns)
        run->max_ns = elapsed;
    run->durations[duration_bin(elapsed)]++;
    run->last_start_ns = happened->start_ns;
    run->end_ns = happened->end_ns;
    __atomic_store_n(&run->count, run->count + 1, __ATOMIC_RELEASE);
}

static void begin(struct sw_tracer *tracer, struct sw_slot *slot, struct sw_run *run,
                  const struct sw_happened *happened)
{
    uint64_t elapsed = happened->end_ns - happened->start_ns;
    __atomic_store_n(&run->count, 0, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* before any store below */
    sw_event_fill(&run->first, tracer, happened);
    run->first.header.bytes = sizeof *run;
    run->first.header.kind = SW_RECORD_RUN;
    run->last_start_ns = happened->start_ns;
    run->end_ns = happened->end_ns;
    run->min_ns = elapsed;
    run->max_ns = elapsed;
    for (int i = 0; i < SW_RUN_LEVELS; i++) {
        run->stride[i] = 0;
        run->sequence_stride[i] = 0;
        if (i < SW_RUN_LEVELS - 1)
            run->inner[i] = 0;
    }
    for (int i = 0; i < SW_DURATION_BINS; i++)
        run->durations[i] = 0;
    run->durations[duration_bin(elapsed)] = 1;
    __atomic_store_n(&run->count, 1, __ATOMIC_RELEASE);
    *slot = (struct sw_slot){
        .key = happened->key,
        .row_offset = happened->offset,
        .row_sequence = happened->sequence,
        .plane_offset = happened->offset,
        .plane_sequence = happened->sequence,
        .used = happened->sequence,
    };
}

static inline int64_t moved(int64_t offset, int64_t by)
{
    return (int64_t)((uint64_t)offset + (uint64_t)by);
}

/* ---- levels -----------------------------------------------------------------------------------
 */

/* Advances to the call after the expected one. */
static inline void advance(const struct sw_run *run, struct sw_slot *slot)
{
    slot->i++;
    if (SW_LIKELY(slot->i != run->inner[0])) { /* 0: unbounded */
        slot->next_offset = moved(slot->next_offset, run->stride[0]);
        slot->next_sequence += (uint64_t)run->sequence_stride[0];
        return;
    }
    slot->i = 0;
    slot->j++;
    if (slot->j != run->inner[1]) {
        slot->row_offset = moved(slot->row_offset, run->stride[1]);
        slot->row_sequence += (uint64_t)run->sequence_stride[1];
    } else {
        slot->j = 0;
        slot->plane_offset = moved(slot->plane_offset, run->stride[2]);
        slot->plane_sequence += (uint64_t)run->sequence_stride[2];
        slot->row_offset = slot->plane_offset;
        slot->row_sequence = slot->plane_sequence;
    }
    slot->next_offset = slot->row_offset;
    slot->next_sequence = slot->row_sequence;
}

/* Returns the level that an unexpected call opens; SW_RUN_LEVELS: none. */
static int level_for(const struct sw_run *run, const struct sw_slot *slot)
{
    if (run->count == 1)
        return 0;
    if (run->count >= SW_MOST_CALLS)
        return SW_RUN_LEVELS;
    if (run->inner[0] == 0)
        return 1;
    return run->inner[1] == 0 && slot->i == 0 && slot->j >= 2 ? 2 : SW_RUN_LEVELS;
}

/* Makes this call the next one by opening a level, if possible. */
static bool open_level(struct sw_run *run, struct sw_slot *slot,
                       const struct sw_happened *happened)
{
    int level = level_for(run, slot);
    if (level == SW_RUN_LEVELS)
        return false;
    run->stride[level] = (int64_t)((uint64_t)happened->offset - (uint64_t)run->first.offset);
    run->sequence_stride[level] = (int64_t)(happened->sequence - run->first.sequence);
    if (level == 0) {
        slot->i = 2;
    } else {
        if (level == 1)
            run->inner[0] = run->count;
        else
            run->inner[1] = slot->j;
        slot->i = 1;
        slot->j = level == 1 ? 1 : 0;
        slot->row_offset = happened->offset;
        slot->row_sequence = happened->sequence;
        if (level == 2) {
            slot->plane_offset = happened->offset;
            slot->plane_sequence = happened->sequence;
        }
    }
    slot->next_offset = moved(happened->offset, run->stride[0]);
    slot->next_sequence = happened->sequence + (uint64_t)run->sequence_stride[0];
    return true;
}

/* ---- calls
 * ---------------------------------------------------------------------------------------- */

static void forget(struct sw_slot *slot)
{
    slot->key.name = 0; /* matches no call */
    slot->used = 0;
}

static void close_slot(struct sw_tracer *tracer, uint32_t slot)
{
    struct sw_run *run = &tracer->runs[slot];
    if (run->count != 0) {
        sw_log_run(tracer, run);
        __atomic_store_n(&run->count, 0, __ATOMIC_RELEASE);
    }
    forget(&tracer->slots[slot]);
}

/* An open run that its thread leaves in its earlier block is complete; one that is in both blocks
 * for a moment is harmless, since readers count a duplicate once. */
static void move_run(struct sw_tracer *tracer, struct sw_run *before, uint32_t slot)
{
    const struct sw_slot moving = tracer->slots[slot];
    forget(&tracer->slots[slot]);
    uint32_t first = slot_of(tracer, &moving.key);
    for (uint32_t i = 0; i < WAYS; i++) {
        struct sw_run *run = &tracer->runs[first ^ i];
        struct sw_slot *place = &tracer->slots[first ^ i];
        if (run->count != 0 || place->key.name != 0)
            continue;
        memcpy(run, before, offsetof(struct sw_run, count));
        memcpy(&run->last_start_ns, &before->last_start_ns,
               sizeof *run - offsetof(struct sw_run, last_start_ns));
        *place = moving;
        __atomic_store_n(&run->count, before->count, __ATOMIC_RELEASE);
        __atomic_store_n(&before->count, 0, __ATOMIC_RELEASE);
        return;
    }
}

bool sw_fold_widen(struct sw_tracer *tracer)
{
    struct sw_run *before = tracer->runs;
    if (!sw_tracer_map_wide(tracer))
        return false;
    for (uint32_t slot = 0; slot < SW_TRACER_FIRST_SLOTS; slot++) {
        if (tracer->runs[slot].count != 0)
            continue; /* moved here */
        if (before[slot].count != 0)
            move_run(tracer, &before[slot], slot);
        else
            forget(&tracer->slots[slot]);
    }
    return true;
}

/* Returns the slot of a call; if it has none, a free one, or the least recently used one. */
static uint32_t choose(struct sw_tracer *tracer, const struct sw_happened *happened)
{
    uint32_t first = slot_of(tracer, &happened->key);
    uint32_t chosen = first;
    if (SW_LIKELY(same_key(&tracer->slots[first].key, &happened->key)))
        return first;
    for (uint32_t slot = first ^ 1, i = 1; i < WAYS; slot = first ^ ++i) {
        if (same_key(&tracer->slots[slot].key, &happened->key))
            return slot;
        if (tracer->slots[slot].used < tracer->slots[chosen].used)
            chosen = slot;
    }
    if (SW_UNLIKELY(sw_tracer_is_narrow(tracer)) && tracer->runs[chosen].count != 0 &&
        sw_fold_widen(tracer))
        return choose(tracer, happened);
    close_slot(tracer, chosen);
    return chosen;
}

static inline void mark_working(struct sw_tracer *tracer, uint32_t working)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tracer->working = working;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Repairs a slot that a jump left half changed: its counts are correct, its expectation may not
 * be. */
static void repair(struct sw_tracer *tracer)
{
    if (tracer->working <= SW_TRACER_SLOTS)
        close_slot(tracer, tracer->working - 1);
    mark_working(tracer, 0);
}

void sw_fold(struct sw_tracer *tracer, const struct sw_happened *happened)
{
    if (SW_UNLIKELY(tracer->working != 0))
        repair(tracer);
    uint32_t chosen = choose(tracer, happened);
    struct sw_slot *slot = &tracer->slots[chosen];
    struct sw_run *run = &tracer->runs[chosen];
    mark_working(tracer, chosen + 1);
    if (SW_LIKELY(run->count - 2 < SW_MOST_CALLS - 2 && slot->next_offset == happened->offset &&
                  slot->next_sequence == happened->sequence)) {
        absorb(run, happened);
        advance(run, slot);
        slot->used = happened->sequence;
    } else if (run->count != 0 && open_level(run, slot, happened)) {
        absorb(run, happened);
        slot->used = happened->sequence;
    } else {
        if (SW_UNLIKELY(sw_tracer_is_narrow(tracer)) && sw_log_is_nearly_full(tracer) &&
            sw_fold_widen(tracer)) {
            chosen = choose(tracer, happened);
            slot = &tracer->slots[chosen];
            run = &tracer->runs[chosen];
            mark_working(tracer, chosen + 1);
        }
        close_slot(tracer, chosen);
        begin(tracer, slot, run, happened);
    }
    mark_working(tracer, 0);
}

void sw_fold_close(struct sw_tracer *tracer)
{
    for (uint32_t slot = 0; slot < tracer->n_slots; slot++)
        close_slot(tracer, slot);
    mark_working(tracer, 0);
}
