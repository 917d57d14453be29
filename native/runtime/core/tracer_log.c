/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a thread: consecutive records behind its slots. A record is committed by its size,
 * and only when the place behind it is marked as empty; so a reader finds the end whenever the
 * process dies, and so do we if a jump left us in the middle.
 *
 * A full log is moved to an EVENTS block, by one write of many pages, which costs a third of the
 * page faults of a mapped block. It is committed there by its first size, written last, and only
 * then the log is emptied: a process that is killed in between leaves its records twice, and
 * readers count them once.
 */
#define _GNU_SOURCE
#include <string.h>

#include "system.h"
#include "tracer.h"

#define MOST_LOGS 32

/* ---- what found no room --------------------------------------------------------------------- */

/* Once per process. */
static void note_full(void)
{
    static uint32_t noted; /* generation + 1 */
    struct sw_guarded guarded;
    if (__atomic_load_n(&noted, __ATOMIC_RELAXED) == sw_options.generation + 1 ||
        !sw_lock(&guarded))
        return;
    if (noted != sw_options.generation + 1) {
        char note[256] = "";
        const char *trouble = sw_container_trouble();
        if (trouble != NULL) {
            strcpy(note, "the trace is full: ");
            strncat(note, trouble, 150);
            strcat(note, "; ");
        }
        strcat(note, "calls from here on are counted, but not all of them recorded");
        sw_note_locked(note);
        __atomic_store_n(&noted, sw_options.generation + 1, __ATOMIC_RELAXED);
    }
    sw_unlock(&guarded);
}

void sw_log_lost(struct sw_thread_record *record, uint64_t calls)
{
    if (record != NULL)
        record->lost_calls += calls;
    __atomic_fetch_add(&sw_process_live->lost_events, calls, __ATOMIC_RELAXED);
    note_full();
}

/* ---- room
 * --------------------------------------------------------------------------------------- */

static uint32_t taken(const char *at)
{
    return __atomic_load_n(&((const struct sw_record *)(const void *)at)->bytes, __ATOMIC_RELAXED);
}

/* Ensures room for all that is logged in an EVENTS block. */
static bool has_place(struct sw_tracer *tracer, uint64_t bytes)
{
    if (tracer->place_end - tracer->place >= bytes)
        return true;
    uint64_t whole = (uint64_t)(tracer->log_end - tracer->log_begin);
    uint64_t room = tracer->next_logs * whole;
    uint64_t place = sw_container_events_block(&room, bytes);
    if (place == 0)
        return false;
    tracer->place = place;
    tracer->place_end = place + room;
    if (tracer->next_logs < MOST_LOGS)
        tracer->next_logs *= 2;
    return true;
}

/* Under the lock, no handler can jump out of this. */
static bool empty(struct sw_tracer *tracer)
{
    struct sw_guarded guarded;
    uint64_t bytes = (uint64_t)(tracer->log - tracer->log_begin);
    if (sw_container_trace_full() || !sw_lock(&guarded))
        return false;
    bool moved = has_place(tracer, bytes) &&
                 sw_container_put_events(tracer->place, tracer->log_begin, bytes);
    if (moved) {
        tracer->place += bytes;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        ((struct sw_record *)(void *)tracer->log_begin)->bytes = 0;
        tracer->log = tracer->log_begin;
    }
    sw_unlock(&guarded);
    return moved;
}

/* Returns where the next record is written, NULL if there is no room. */
static void *reserve(struct sw_tracer *tracer, uint32_t bytes)
{
    char *at = tracer->log;
    while (at + sizeof(struct sw_record) <= tracer->log_end && taken(at) != 0)
        at += taken(at); /* committed just before a jump */
    tracer->log = at;
    if (SW_UNLIKELY((size_t)(tracer->log_end - at) < bytes) && !empty(tracer))
        return NULL;
    return tracer->log;
}

static void commit(struct sw_tracer *tracer, struct sw_record *record, uint32_t bytes)
{
    char *next = (char *)record + bytes;
    if (next + sizeof(struct sw_record) <= tracer->log_end)
        ((struct sw_record *)(void *)next)->bytes = 0;
    sw_container_commit(record, bytes);
    tracer->log = next;
}

/* ---- records
 * --------------------------------------------------------------------------------------- */

void sw_event_fill(struct sw_event *event, const struct sw_tracer *tracer,
                   const struct sw_happened *happened)
{
    const struct sw_event_key *key = &happened->key;
    event->header.kind = SW_RECORD_EVENT;
    event->header.version = SW_TRACE_VERSION;
    event->sequence = happened->sequence;
    event->start_ns = happened->start_ns;
    event->duration_ns = happened->end_ns - happened->start_ns;
    event->file_id = happened->file->record->file_id;
    event->offset = happened->offset;
    event->bytes = key->bytes;
    event->name = sw_name_intern((const char *)(uintptr_t)key->name);
    event->parent = sw_name_intern((const char *)(uintptr_t)key->parent);
    event->shape = (uint32_t)key->selection;
    event->object = (uint32_t)(key->selection >> 32);
    event->thread = (uint16_t)tracer->thread;
    event->layer = (uint8_t)key->kind;
    event->op = (uint8_t)(key->kind >> 8);
    event->depth = (uint8_t)(key->kind >> 16);
    event->thread_high = (uint8_t)(tracer->thread >> 16);
    event->flags = (uint16_t)(key->kind >> 32);
}

static void log_copy(struct sw_tracer *tracer, const struct sw_record *record, uint16_t kind,
                     uint32_t bytes, uint64_t calls)
{
    struct sw_record *place = reserve(tracer, bytes);
    if (place == NULL) {
        sw_log_lost(tracer->record, calls);
        return;
    }
    memcpy(place + 1, record + 1, bytes - sizeof *record);
    place->kind = kind;
    place->version = SW_TRACE_VERSION;
    commit(tracer, place, bytes);
}

void sw_log_call(struct sw_tracer *tracer, const struct sw_happened *happened)
{
    if (SW_UNLIKELY(sw_log_is_nearly_full(tracer) && sw_tracer_is_narrow(tracer)))
        sw_fold_widen(tracer);
    struct sw_event *place = reserve(tracer, sizeof *place);
    if (SW_UNLIKELY(place == NULL)) {
        sw_log_lost(tracer->record, 1);
        return;
    }
    sw_event_fill(place, tracer, happened);
    commit(tracer, &place->header, sizeof *place);
}

void sw_log_run(struct sw_tracer *tracer, const struct sw_run *run)
{
    if (run->count == 1)
        log_copy(tracer, &run->first.header, SW_RECORD_EVENT, sizeof run->first, 1);
    else
        log_copy(tracer, &run->first.header, SW_RECORD_RUN,
                 run->count < SW_RUN_BRIEF ? offsetof(struct sw_run, durations) : sizeof *run,
                 run->count);
}

void sw_log_thread(struct sw_tracer *tracer, const struct sw_thread_record *thread)
{
    log_copy(tracer, &thread->header, SW_RECORD_THREAD, sizeof *thread, 0);
}
