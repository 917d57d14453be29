/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of one thread: open runs in the slots of its THREAD block, followed by a log that
 * is moved to EVENTS blocks when it is full. */
#ifndef STRIPEWISE_TRACER_H
#define STRIPEWISE_TRACER_H

#include "internal.h"

#define SW_TRACER_SLOTS 64       /* power of two */
#define SW_TRACER_FIRST_SLOTS 16 /* as long as a thread has done little; power of two */

/* What all calls of a run have in common; pointers as numbers. */
struct sw_event_key {
    uint64_t file;
    uint64_t name;
    uint64_t parent;
    uint64_t bytes;
    uint64_t selection; /* shape and object */
    uint64_t kind;      /* layer, op, depth, flags */
};

/* A call that has ended; for times see struct sw_event. */
struct sw_happened {
    struct sw_event_key key;
    const struct sw_file *file;
    int64_t offset;
    uint64_t sequence;
    uint64_t start_ns;
    uint64_t end_ns;
};

/* The private part of a run: where the next call is expected. */
struct sw_slot {
    struct sw_event_key key;
    int64_t next_offset;
    uint64_t next_sequence;
    uint64_t i; /* of the next call, as in struct sw_run */
    uint64_t j;
    int64_t row_offset; /* of call (0, j, l) */
    uint64_t row_sequence;
    int64_t plane_offset; /* of call (0, 0, l) */
    uint64_t plane_sequence;
    uint64_t used; /* sequence of the last call */
};

/* A recently interned regular shape, with its numbers as in struct sw_shape. */
#define SW_KNOWN_SHAPES 8 /* power of two */
#define SW_KNOWN_DIMS 4
struct sw_known_shape {
    uint32_t number; /* 0: none */
    uint32_t object;
    uint32_t memory;
    uint32_t n_dims;
    uint64_t extents[SW_KNOWN_DIMS];
    uint64_t stride[SW_KNOWN_DIMS];
    uint64_t count[SW_KNOWN_DIMS];
    uint64_t block[SW_KNOWN_DIMS];
};

struct sw_tracer {
    struct sw_tracer *next; /* in the pool */
    struct sw_thread_record *record;
    struct sw_run *runs; /* mapped; the run of slot k is runs[k] */
    char *log;           /* where the next record is written: from log_begin on */
    char *log_begin;
    char *log_end;
    uint64_t place; /* offset in the container of what is logged next; end of its block */
    uint64_t place_end;
    uint32_t n_slots;   /* in use: SW_TRACER_FIRST_SLOTS, later SW_TRACER_SLOTS */
    uint32_t next_logs; /* number of full logs for which the next EVENTS block has room */
    uint32_t generation;
    uint32_t working; /* slot + 1 that is being changed; remains set if a jump interrupts us */
    uint32_t thread;
    struct sw_slot slots[SW_TRACER_SLOTS];
    bool learning; /* a shape is being stored; remains set if a jump interrupts us */
    struct sw_known_shape known[SW_KNOWN_SHAPES];
};

/* Returns the recorder of this thread; NULL if there is no room for one. */
struct sw_tracer *sw_tracer_get(void);

/* Returns whether a larger block would help it. */
static inline bool sw_tracer_is_narrow(const struct sw_tracer *tracer)
{
    return tracer->n_slots < SW_TRACER_SLOTS;
}

/* Maps a larger block for its slots and its log; the content of the previous block stays there.
 * Returns false if there is none. */
bool sw_tracer_map_wide(struct sw_tracer *tracer);

/* ---- folding (fold.c) ------------------------------------------------------------------ */

/* Adds a call to the run that it continues, or begins a new run. */
void sw_fold(struct sw_tracer *tracer, const struct sw_happened *happened);
/* Gives a recorder a larger block, to which its open runs move; returns false if there is none. */
bool sw_fold_widen(struct sw_tracer *tracer);
/* Logs all open runs. */
void sw_fold_close(struct sw_tracer *tracer);

/* ---- log (tracer_log.c) ------------------------------------------------------------------ */

/* Returns whether a run might not fit behind the last record. */
static inline bool sw_log_is_nearly_full(const struct sw_tracer *tracer)
{
    return (size_t)(tracer->log_end - tracer->log) < sizeof(struct sw_run);
}

/* Fills the event of one call. */
void sw_event_fill(struct sw_event *event, const struct sw_tracer *tracer,
                   const struct sw_happened *happened);
void sw_log_call(struct sw_tracer *tracer, const struct sw_happened *happened);
void sw_log_run(struct sw_tracer *tracer, const struct sw_run *run);
void sw_log_thread(struct sw_tracer *tracer, const struct sw_thread_record *thread);
/* Counts calls without room; `record` may be NULL. */
void sw_log_lost(struct sw_thread_record *record, uint64_t calls);

/* ---- names (names.c) ------------------------------------------------------------------------ */

/* Returns the number of a function's name, 0 if there is no room. No lock for a known one. */
uint32_t sw_name_intern(const char *name);
void sw_names_forget(void);
/* Objects, shapes and views (interned.c). */
void sw_interned_forget(void);

#endif
