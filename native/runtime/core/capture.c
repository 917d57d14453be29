/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes events from ended calls, and manages the recorders of threads. A recorder belongs to one
 * thread at a time and needs no lock; when its thread ends, its open runs are logged and it waits
 * for another thread. After a fork, the child gets recorders of its own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "system.h"
#include "tracer.h"

/* Block sizes for a thread that does little, and for one with more open runs or events than fit
 * there. */
#define NARROW_BLOCK_BYTES (2 * SW_PAGE)
#define WIDE_BLOCK_BYTES (12 * SW_PAGE)
#define FIRST_LOGS 2
#define PLAIN_KEYS 32   /* for the first so many, libc needs no memory for a thread's value */
#ifndef SW_MOST_THREADS /* tests use fewer */
#define SW_MOST_THREADS ((1u << 24) - 1) /* that events can distinguish */
#endif

static struct sw_tracer *pool;
static uint32_t threads;
static pthread_key_t key;
static bool has_key;

bool sw_capturing(void)
{
    return sw_options.capture != SW_CAPTURE_OFF;
}

/* ---- recorders of threads ---------------------------------------------------------------- */

static void describe_thread(struct sw_thread_record *record, uint64_t start_ns, uint32_t n_slots)
{
    *record = (struct sw_thread_record){
        .header = {.kind = SW_RECORD_THREAD, .version = SW_TRACE_VERSION},
        .thread = sw_thread.number,
        .tid = (uint32_t)syscall(SYS_gettid),
        .n_slots = n_slots,
        .slot_bytes = sizeof(struct sw_run),
        .start_ns = start_ns,
    };
}

/* Maps a THREAD block := thread record, slots, log. */
static bool map_block(struct sw_tracer *tracer, uint64_t start_ns, uint32_t n_slots)
{
    const uint64_t bytes = n_slots == SW_TRACER_SLOTS ? WIDE_BLOCK_BYTES : NARROW_BLOCK_BYTES;
    char *block = sw_container_thread_block(bytes);
    if (block == NULL)
        return false;
    tracer->record = (struct sw_thread_record *)(void *)(block + sizeof(struct sw_block_header));
    tracer->runs = (struct sw_run *)(void *)(tracer->record + 1);
    tracer->log = tracer->log_begin = (char *)(tracer->runs + n_slots);
    tracer->log_end = block + bytes;
    tracer->next_logs = FIRST_LOGS;
    tracer->n_slots = n_slots;
    tracer->generation = sw_options.generation;
    tracer->thread = sw_thread.number;
    describe_thread(tracer->record, start_ns, n_slots);
    sw_container_commit(&tracer->record->header, sizeof *tracer->record);
    return true;
}

bool sw_tracer_map_wide(struct sw_tracer *tracer)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return false;
    bool done = sw_container_has_trace_room(WIDE_BLOCK_BYTES) &&
                map_block(tracer, tracer->record->start_ns, SW_TRACER_SLOTS);
    sw_unlock(&guarded);
    return done;
}

/* Allocates private pages; a child reuses those of its thread in the parent. */
static struct sw_tracer *new_tracer(struct sw_tracer *old, uint64_t start_ns)
{
    struct sw_tracer *tracer = old;
    if (tracer == NULL) {
        void *pages = sw_sys_mmap(sizeof *tracer, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return NULL;
        tracer = pages;
    } else {
        memset(tracer, 0, sizeof *tracer);
    }
    if (map_block(tracer, start_ns, SW_TRACER_FIRST_SLOTS))
        return tracer;
    if (old == NULL)
        syscall(SYS_munmap, tracer, sizeof *tracer);
    return NULL;
}

static struct sw_tracer *reused_tracer(void)
{
    struct sw_tracer *tracer = pool;
    pool = tracer->next;
    tracer->next = NULL;
    tracer->thread = sw_thread.number;
    return tracer;
}

/* Reports, once, that there have been more threads than events can distinguish. */
static bool is_nameless(void)
{
    static uint32_t noted; /* generation + 1 */
    struct sw_guarded guarded;
    if (SW_LIKELY(sw_thread.number != 0 ||
                  __atomic_load_n(&threads, __ATOMIC_RELAXED) < SW_MOST_THREADS))
        return false;
    if (__atomic_load_n(&noted, __ATOMIC_RELAXED) != sw_options.generation + 1 &&
        sw_lock(&guarded)) {
        if (noted != sw_options.generation + 1)
            sw_note_locked("a process had more threads than a trace can tell apart: calls of the "
                           "later ones are counted, but not recorded");
        __atomic_store_n(&noted, sw_options.generation + 1, __ATOMIC_RELAXED);
        sw_unlock(&guarded);
    }
    return true;
}

/* Assigns a used recorder to a new thread. It is logged without the lock, which the log takes
 * itself if it needs another block. */
static struct sw_tracer *introduce(struct sw_tracer *tracer, uint64_t start_ns)
{
    struct sw_thread_record record;
    describe_thread(&record, start_ns, tracer->n_slots);
    sw_log_thread(tracer, &record);
    return tracer;
}

static struct sw_tracer *acquire(uint64_t start_ns)
{
    struct sw_guarded guarded;
    if ((sw_container_trace_full() && __atomic_load_n(&pool, __ATOMIC_RELAXED) == NULL) ||
        is_nameless() || !sw_lock(&guarded))
        return NULL;
    bool used = pool != NULL;
    struct sw_tracer *tracer = NULL;
    if (sw_thread.number == 0 && threads < SW_MOST_THREADS)
        sw_thread.number = ++threads;
    if (sw_thread.number != 0)
        tracer = used ? reused_tracer() : new_tracer(sw_thread.tracer, start_ns);
    sw_thread.tracer = tracer;
    sw_unlock(&guarded);
    if (tracer != NULL && has_key)
        pthread_setspecific(key, tracer);
    return tracer != NULL && used ? introduce(tracer, start_ns) : tracer;
}

/* Logs what an ending thread did, and releases its recorder for another thread. */
static void release(void *value)
{
    struct sw_tracer *tracer = value;
    struct sw_guarded guarded;
    if (tracer != sw_thread.tracer || !sw_running() || tracer->generation != sw_options.generation)
        return;
    sw_thread.busy = &guarded; /* prevents calls of handlers in between */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sw_fold_close(tracer);
    if (sw_lock(&guarded)) {
        sw_thread.tracer = NULL;
        tracer->next = pool;
        __atomic_store_n(&pool, tracer, __ATOMIC_RELAXED);
        sw_unlock(&guarded);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sw_thread.busy = NULL;
    sw_thread.doubtful = NULL;
}

/* ---- events ------------------------------------------------------------------------------------
 */

static inline const char *parent_of(const struct sw_call *call)
{
    return call->active == 0 ? NULL : sw_thread.names[__builtin_ctz(call->active)];
}

/* Counts the bits of `active`: our calls on the stack. (Not every processor can count bits.) */
static inline uint64_t depth_of(uint32_t active)
{
    uint64_t depth = 0;
    for (; SW_UNLIKELY(active != 0); active &= active - 1)
        depth++;
    return depth;
}

static inline void describe(struct sw_happened *happened, const struct sw_call *call,
                            const struct sw_file *file, enum sw_op op, int64_t bytes,
                            int64_t offset, uint64_t now)
{
    uint32_t flags = call->event_flags;
    int64_t moved = call->event_bytes == SW_BYTES_OF_CALL ? bytes : call->event_bytes;
    if (call->event_op != SW_OP_OF_CALL)
        op = (enum sw_op)call->event_op;
    if (call->position != SW_POSITION_OF_CALL)
        offset = call->position;
    else if (offset < 0) {
        flags |= SW_EVENT_NO_OFFSET;
        offset = 0;
    }
    if (bytes < 0)
        flags |= SW_EVENT_FAILED;
    *happened = (struct sw_happened){
        .key =
            {
                .file = (uintptr_t)file,
                .name = (uintptr_t)call->name,
                .parent = (uintptr_t)parent_of(call),
                .bytes = moved < 0 || bytes < 0 ? 0 : (uint64_t)moved,
                .selection = call->shape | (uint64_t)call->object << 32,
                .kind = (uint64_t)(uint8_t)call->layer | (uint64_t)op << 8 |
                        depth_of(call->active) << 16 | (uint64_t)flags << 32,
            },
        .file = file,
        .offset = offset,
        .sequence = call->sequence,
        .start_ns = sw_age_ns(call->start_ns),
        .end_ns = sw_age_ns(now),
    };
}

void sw_capture_event(const struct sw_call *call, const struct sw_file *file, enum sw_op op,
                      int64_t bytes, int64_t offset, uint64_t now)
{
    struct sw_happened happened;
    struct sw_tracer *tracer = sw_thread.tracer;
    describe(&happened, call, file, op, bytes, offset, now);
    if (SW_UNLIKELY(tracer == NULL || tracer->generation != sw_options.generation))
        tracer = acquire(happened.start_ns);
    if (SW_UNLIKELY(tracer == NULL)) {
        sw_log_lost(NULL, 1);
    } else if (SW_LIKELY(sw_options.capture == SW_CAPTURE_FOLD)) {
        sw_fold(tracer, &happened);
    } else {
        sw_log_call(tracer, &happened);
    }
}

/* ---- life cycle
 * ------------------------------------------------------------------------------------ */

static void note_unknown_mode(void)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return;
    sw_note_locked(SW_ENV_CAPTURE " is neither fold nor all: taken for fold");
    sw_unlock(&guarded);
}

void sw_capture_load(void)
{
    const char *mode = getenv(SW_ENV_CAPTURE);
    if (mode == NULL || mode[0] == '\0')
        return;
    sw_options.capture = strcmp(mode, "all") == 0 ? SW_CAPTURE_ALL : SW_CAPTURE_FOLD;
    if (strcmp(mode, "all") != 0 && strcmp(mode, "fold") != 0)
        note_unknown_mode();
    if (pthread_key_create(&key, release) == 0 && !(has_key = key < PLAIN_KEYS))
        pthread_key_delete(key);
}

void sw_capture_forget(void)
{
    pool = NULL;
    threads = 0;
    sw_thread.number = 0;
    sw_names_forget();
    sw_interned_forget();
}
