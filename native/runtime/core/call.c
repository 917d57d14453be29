/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry and exit of every counted call. The state of a thread is a bit per layer that is on its
 * stack, with the address of that call's frame. The stack grows down, so an entry at or above a
 * remembered frame proves that the frame is gone (a signal handler jumped out of it with
 * siglongjmp), and its bit is cleared.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/single_threaded.h>

#include "counting.h"
#include "system.h"
#include "ticks.h"
#include "tracer.h"

__thread struct sw_thread sw_thread __attribute__((tls_model("initial-exec")));

/* ---- entry and exit ------------------------------------------------------------------ */

void sw_count_lost(void)
{
    __atomic_fetch_add(&sw_process_live->lost_calls, 1, __ATOMIC_RELAXED);
}

/* A handler runs at least a signal frame below the call that it interrupted; a wrapper that is
 * called from the same function as the lost one only differs by its own size. */
#define OWN_FRAME_BYTES 256
/* A call that was left by a jump never ends: after so many entries below it, it is considered
 * lost. That is wrong for a handler that makes more calls: these then count as outermost. */
#define MOST_REFUSED 64

static bool is_gone(const void *frame, const struct sw_call *call, int layer)
{
    uintptr_t slack = layer <= SW_LAYER_STDIO ? OWN_FRAME_BYTES : 0;
    return (uintptr_t)call + slack >= (uintptr_t)frame;
}

bool sw_on_signal_stack(void)
{
    stack_t stack;
    return syscall(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

static bool is_surely_gone(const void *frame, const struct sw_call *call)
{
    return is_gone(frame, call, SW_LAYER_POSIX) && !sw_on_signal_stack();
}

/* A sw_leave that may still continue, below a handler that makes many calls, keeps exclusive use
 * of the trace: the handler's calls are only counted. */
static void drop_busy(struct sw_thread *thread, const struct sw_call *call, bool all)
{
    bool gone = is_surely_gone(thread->busy, call);
    if (!gone && all)
        thread->doubtful = thread->busy;
    if (gone || all)
        thread->busy = NULL;
}

static void drop_lost_frames(struct sw_thread *thread, const struct sw_call *call)
{
    bool all = thread->refused >= MOST_REFUSED;
    if (thread->busy != NULL)
        drop_busy(thread, call, all);
    for (int i = 0; i < SW_LAYER_COUNT; i++) {
        if (all || is_gone(thread->frames[i], call, i))
            thread->active &= ~(1u << i);
    }
}

/* The rare part of sw_enter: one of our calls is, or was, on this thread's stack. */
static bool enter_nested(struct sw_thread *thread, const struct sw_call *call, int layer,
                         bool matters)
{
    if (thread->inside != 0)
        return false;
    drop_lost_frames(thread, call);
    if (thread->busy == NULL && (thread->active & (1u << layer)) == 0)
        return true;
    if (thread->busy != NULL || layer <= SW_LAYER_STDIO) {
        thread->refused++;
        if (matters)
            sw_count_lost();
        else
            sw_process_flag(SW_PROCESS_LOST_OTHERS);
    }
    return false;
}

/*
 * What we add to a call inside another one is part of the other's time. It is measured in one of
 * OWN_EVERY such data calls: before its start, and after its end. A longer time is that of another
 * process, and counts as MOST_OWN_NS.
 */
#define OWN_EVERY 61 /* a prime: calls alternate between layers */
#define MOST_OWN_NS 10000

static void add_own(const struct sw_call *call, uint64_t ended_ns)
{
    struct sw_process *process = sw_process_live;
    bool alone = __libc_single_threaded;
    uint64_t own = call->start_ns - call->entered_ns + sw_now_ns() - ended_ns;
    add(&process->own_ns[call->layer], own < MOST_OWN_NS ? own : MOST_OWN_NS, alone);
    add_bin(&process->own_samples[call->layer], alone);
}

static inline __attribute__((always_inline)) bool enter(struct sw_call *call, int layer,
                                                        const char *name, bool matters)
{
    if (!sw_running())
        return false;
    struct sw_thread *thread = &sw_thread;
    call->entered_ns = 0;
    if (SW_UNLIKELY(thread->active != 0 || thread->inside != 0 || thread->busy != NULL)) {
        if (SW_UNLIKELY(thread->own_turn++ % OWN_EVERY == 0))
            call->entered_ns = sw_now_ns();
        if (!enter_nested(thread, call, layer, matters))
            return false;
    }
    call->layer = layer;
    call->active = thread->active;
    call->outermost = thread->active == 0;
    call->event_flags = 0;
    call->event_op = SW_OP_OF_CALL;
    call->shape = 0;
    call->object = 0;
    call->position = SW_POSITION_OF_CALL;
    call->event_bytes = SW_BYTES_OF_CALL;
    call->name = name;
    call->end_ns = 0;
    thread->busy = call; /* a handler's call in between would get the same number */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    call->sequence = ++thread->sequence;
    thread->frames[layer] = call;
    thread->names[layer] = name;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->active |= 1u << layer;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = NULL;
    return true;
}

__attribute__((hot)) bool sw_enter_as(struct sw_call *call, int layer, const char *name)
{
    if (!enter(call, layer, name, true))
        return false;
    call->by_ticks = false;
    call->start_ns = sw_now_ns();
    return true;
}

__attribute__((hot)) bool sw_enter_briefly_as(struct sw_call *call, int layer, const char *name,
                                              bool matters)
{
    if (!enter(call, layer, name, matters))
        return false;
    call->by_ticks = sw_options.capture == SW_CAPTURE_OFF && sw_ticks_begin(&call->start_ns);
    if (SW_UNLIKELY(sw_options.capture != SW_CAPTURE_OFF))
        call->start_ns = sw_now_ns();
    return true;
}

__attribute__((hot)) void sw_call_ended(struct sw_call *call)
{
    if (!call->by_ticks) {
        call->end_ns = sw_now_ns();
        return;
    }
    call->end_ns = 1 + sw_ticks_ns(call->start_ns); /* 0 would mean that it has not ended */
    call->start_ns = 1;
    call->by_ticks = false;
}

static inline uint64_t end_of(struct sw_call *call)
{
    if (call->by_ticks)
        sw_call_ended(call);
    return SW_LIKELY(call->end_ns == 0) ? sw_now_ns() : call->end_ns;
}

static inline void leave_begin(const struct sw_call *call)
{
    sw_thread.busy = call;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void leave_end(const struct sw_call *call)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sw_thread.active = call->active;
    sw_thread.refused = 0;
    if (SW_UNLIKELY(sw_thread.doubtful == call))
        sw_thread.doubtful = NULL;
    sw_thread.busy = NULL;
}

/*
 * With threads, a record's counters are increased under a lock of that record: one atomic exchange
 * instead of a dozen. A holder can only vanish if a signal handler jumped out of it; then the lock
 * is abandoned for good, and atomic additions replace it.
 */
enum { COUNTING_FREE = 0, COUNTING_HELD = 1, COUNTING_BROKEN = 2 };
#define SPINS 100
#define YIELDS 20000

static bool wait_for_counters(uint32_t *word)
{
    if (sw_thread.doubtful != NULL) /* it may be our own, further up the stack */
        return false;
    for (int i = 0; i < SPINS + YIELDS; i++) {
        uint32_t seen = COUNTING_FREE;
        if (__atomic_compare_exchange_n(word, &seen, COUNTING_HELD, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
        if (seen == COUNTING_BROKEN)
            return false;
        if (i >= SPINS)
            sched_yield();
    }
    __atomic_store_n(word, COUNTING_BROKEN, __ATOMIC_RELAXED);
    return false;
}

static inline bool hold_counters(struct sw_file *file)
{
    uint32_t seen = COUNTING_FREE;
    return SW_LIKELY(__atomic_compare_exchange_n(&file->counting, &seen, COUNTING_HELD, false,
                                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) ||
           wait_for_counters(&file->counting);
}

static inline void release_counters(struct sw_file *file)
{
    __atomic_store_n(&file->counting, COUNTING_FREE, __ATOMIC_RELEASE);
}

/* ---- time bins and events ----------------------------------------------------------------- */

static struct sw_span span_of(const struct sw_call *call, enum sw_op op, int64_t bytes,
                              uint64_t now)
{
    uint64_t moved = bytes > 0 ? (uint64_t)bytes : 0;
    return (struct sw_span){
        .start_ns = sw_age_ns(call->start_ns),
        .end_ns = sw_age_ns(now),
        .read_bytes = is_write(op) ? 0 : moved,
        .write_bytes = is_write(op) ? moved : 0,
    };
}

static bool add_to_bins(struct sw_file *file, const struct sw_span *span)
{
    if (SW_LIKELY(sw_bins_add_current(&file->bins, span)))
        return true;
    if (sw_bins_left(&file->bins) < sw_bins_needed(span))
        return false;
    sw_bins_add(&file->bins, span);
    return true;
}

static bool add_with_room(struct sw_file *file, const struct sw_span *span, struct sw_bin *room,
                          struct sw_bin *end, bool alone)
{
    bool held = !alone && hold_counters(file);
    if (room != NULL) {
        file->bins.spare = room;
        file->bins.spare_end = end;
    }
    bool added = add_to_bins(file, span);
    if (held)
        release_counters(file);
    return added;
}

/* Room for bins is allocated outside of the record's lock, because that may take long, and another
 * thread may have done it in the meantime. The library's lock replaces a record's lock that is
 * broken. */
static bool add_to_more_bins(struct sw_file *file, const struct sw_span *span, bool alone)
{
    struct sw_guarded guarded;
    struct sw_bin *end = NULL;
    if (!sw_lock(&guarded))
        return false;
    bool added = add_with_room(file, span, NULL, NULL, alone);
    if (!added) {
        struct sw_bin *room =
            sw_bins_reserve(file->record->file_id, file->layer, sw_bins_needed(span),
                            file->bins.current == NULL, &end);
        added = room != NULL && add_with_room(file, span, room, end, alone);
    }
    sw_unlock(&guarded);
    return added;
}

/* If the trace is full, there is no need to wait for the lock. */
static void leave_bins(struct sw_file *file, const struct sw_span *span, bool alone, bool held)
{
    bool tried = alone || held;
    bool added = tried && add_to_bins(file, span);
    if (held)
        release_counters(file);
    if (SW_LIKELY(added))
        return;
    if ((tried && sw_container_records_full()) || !add_to_more_bins(file, span, alone))
        sw_bins_lost();
}

/* Returns false if a sw_leave further up the stack may be writing the trace; see drop_busy. */
static bool has_trace(const struct sw_call *call)
{
    struct sw_thread *thread = &sw_thread;
    if (thread->doubtful != call && !is_surely_gone(thread->doubtful, call))
        return false;
    thread->doubtful = NULL;
    return true;
}

/* Writes to the trace for a call whose counters have been increased, and releases the record. It
 * is inlined completely: the part that GCC splits off otherwise costs 20 ns a call. */
static inline __attribute__((always_inline)) void
leave_captured(const struct sw_call *call, struct sw_file *file, enum sw_op op, int64_t bytes,
               int64_t offset, uint64_t now, bool alone, bool held)
{
    bool captured = SW_UNLIKELY(sw_options.capture != SW_CAPTURE_OFF);
    if (captured && SW_UNLIKELY(sw_thread.doubtful != NULL) && !has_trace(call)) {
        sw_log_lost(NULL, 1);
        captured = false;
    }
    if (!captured) {
        if (held)
            release_counters(file);
        return;
    }
    struct sw_span span = span_of(call, op, bytes, now);
    leave_bins(file, &span, alone, held);
    sw_capture_event(call, file, op, bytes, offset, now);
}

/* ---- exit ------------------------------------------------------------------------------------
 */

__attribute__((hot)) static void leave_counting(struct sw_call *call, struct sw_file *file,
                                                enum sw_op op, uint64_t count)
{
    uint64_t now = end_of(call);
    leave_begin(call);
    bool alone = __libc_single_threaded;
    add_process(call, op, -1, now, alone);
    if (file != NULL) {
        bool held = !alone && hold_counters(file);
        add_time(call, file, op, count, now, alone || held);
        if (count == 0) /* it moves what was posted */
            file->record->last_ns = now - sw_options.clock_origin_ns;
        leave_captured(call, file, op, 0, -1, now, alone, held);
    }
    leave_end(call);
}

__attribute__((hot)) void sw_leave(struct sw_call *call, struct sw_file *file, enum sw_op op)
{
    leave_counting(call, file, op, 1);
}

void sw_leave_time(struct sw_call *call, struct sw_file *file, enum sw_op op)
{
    leave_counting(call, file, op, 0);
}

/* Its sequence number is reused, if no call came in between. */
void sw_leave_uncounted(struct sw_call *call)
{
    leave_begin(call);
    if (sw_thread.sequence == call->sequence)
        sw_thread.sequence--;
    leave_end(call);
}

__attribute__((hot)) void sw_leave_data(struct sw_call *call, struct sw_file *file, enum sw_op op,
                                        int64_t bytes, int64_t offset)
{
    uint64_t now = end_of(call);
    leave_begin(call);
    bool alone = __libc_single_threaded;
    add_process(call, op, file != NULL ? bytes : -1, now, alone);
    if (SW_LIKELY(file != NULL)) {
        bool held = !alone && hold_counters(file);
        if (SW_LIKELY(alone || held))
            add_call(call, file, op, bytes, offset, now, true);
        else
            add_call(call, file, op, bytes, offset, now, false);
        leave_captured(call, file, op, bytes, offset, now, alone, held);
    }
    if (SW_UNLIKELY(call->entered_ns != 0) && !call->outermost)
        add_own(call, now);
    leave_end(call);
}

/* Returns a part of the current call, as a call below it that takes no time. */
static struct sw_call part_of_call(const struct sw_file *file, bool outermost)
{
    uint32_t active = sw_thread.active;
    return (struct sw_call){
        .start_ns = sw_now_ns(),
        .layer = (int)file->layer,
        .outermost = outermost,
        .active = active,
        .event_op = SW_OP_OF_CALL,
        .position = SW_POSITION_OF_CALL,
        .event_bytes = SW_BYTES_OF_CALL,
        .name = active != 0 ? sw_thread.names[__builtin_ctz(active)] : "",
    };
}

/* Rare: sets the thread's busy mark as sw_leave does, for the sake of the lock. */
static void count_part(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                       bool outermost, bool is_event)
{
    if (file == NULL || bytes < 0)
        return;
    struct sw_call call = part_of_call(file, outermost);
    leave_begin(&call);
    if (is_event)
        call.sequence = ++sw_thread.sequence;
    add_process(&call, op, bytes, call.start_ns, false);
    bool held = hold_counters(file);
    add(&file->record->ops[op].count, 1, held);
    add_data(file, op, (uint64_t)bytes, offset, outermost, held);
    if (is_event)
        leave_captured(&call, file, op, bytes, offset, call.start_ns, false, held);
    else if (held)
        release_counters(file);
    leave_end(&call);
}

void sw_count_data(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                   bool outermost)
{
    count_part(file, op, bytes, offset, outermost, true);
}

void sw_count_told(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                   bool outermost)
{
    count_part(file, op, bytes, offset, outermost, false);
}

void sw_count_issued(struct sw_file *file, enum sw_op op, uint64_t bytes, int64_t offset)
{
    if (file == NULL)
        return;
    bool alone = __libc_single_threaded;
    sw_inside_begin();
    bool held = !alone && hold_counters(file);
    add(&file->record->ops[op].count, 1, alone || held);
    add_data(file, op, bytes, offset, false, alone || held);
    if (held)
        release_counters(file);
    sw_inside_end();
}

void sw_file_reached(struct sw_file *file, int64_t end)
{
    if (file != NULL && end > 0)
        raise_to(&file->record->maximum_offset, (uint64_t)end, false);
}

void sw_count_instead(struct sw_file *file, enum sw_op from, enum sw_op to, uint64_t count,
                      uint64_t bytes)
{
    if (file == NULL)
        return;
    bool alone = __libc_single_threaded;
    sw_inside_begin();
    bool held = !alone && hold_counters(file);
    struct sw_op_counters *old = &file->record->ops[from], *new = &file->record->ops[to];
    double share = old->count > count ? (double)count / (double)old->count : 1.0;
    uint64_t ns = share < 1.0 ? (uint64_t)(share * (double)old->ns) : old->ns;
    add(&old->count, 0 - count, alone || held);
    add(&old->bytes, 0 - bytes, alone || held);
    add(&old->ns, 0 - ns, alone || held);
    add(&new->count, count, alone || held);
    add(&new->bytes, bytes, alone || held);
    add(&new->ns, ns, alone || held);
    if (held)
        release_counters(file);
    sw_inside_end();
}

void sw_capture_part(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                     uint32_t flags)
{
    if (sw_options.capture == SW_CAPTURE_OFF || file == NULL)
        return;
    struct sw_call call = part_of_call(file, false);
    leave_begin(&call);
    call.sequence = ++sw_thread.sequence;
    call.event_flags = (uint16_t)flags;
    if (SW_LIKELY(sw_thread.doubtful == NULL) || has_trace(&call))
        sw_capture_event(&call, file, op, bytes, offset, call.start_ns);
    else
        sw_log_lost(NULL, 1);
    leave_end(&call);
}

void sw_inside_begin(void)
{
    sw_thread.inside++;
}

void sw_inside_end(void)
{
    sw_thread.inside--;
}
