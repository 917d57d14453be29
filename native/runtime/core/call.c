/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry and exit of every counted call.  The state of a thread is a bit per layer that
 * is on its stack, with the address of that call's frame: the stack grows down, so an
 * entry at or above a remembered frame proves that the frame is gone (a signal handler
 * jumped out of it with siglongjmp) and its bit is dropped.  Counters of a record are
 * added in place; nothing is merged at exit.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/single_threaded.h>

#include "internal.h"

__thread struct sw_thread sw_thread __attribute__((tls_model("initial-exec")));

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

/* Zero stands for "none yet": a minimum of zero is kept as 0 only if no call was larger. */
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

/* Bin of SW_SIZE_BINS: the bit length leaves one boundary to compare with. */
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

static inline unsigned alignment_bin(uint64_t offset_and_bytes)
{
    unsigned zeros = offset_and_bytes == 0 ? 31 : (unsigned)__builtin_ctzll(offset_and_bytes);
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
    add_bin(&record->write_alignment[alignment_bin((uint64_t)offset | bytes)], alone);
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

/* What the whole process adds up. */
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

/* ---- entry and exit ------------------------------------------------------------------ */

void sw_count_lost(void)
{
    __atomic_fetch_add(&sw_process_live->lost_calls, 1, __ATOMIC_RELAXED);
}

/* A handler runs at least a signal frame below the call that it interrupted; a wrapper
 * that is called from the same function as the lost one differs by its own size only. */
#define OWN_FRAME_BYTES 256
/* A call that was left by a jump never ends: after so many entries below it, it is taken
 * for lost.  Wrong for a handler that makes more calls: then these count as outermost. */
#define MOST_REFUSED 64

static bool is_gone(const void *frame, const struct sw_call *call, int layer)
{
    uintptr_t slack = layer <= SW_LAYER_STDIO ? OWN_FRAME_BYTES : 0;
    return (uintptr_t)call + slack >= (uintptr_t)frame;
}

static void drop_lost_frames(struct sw_thread *thread, const struct sw_call *call)
{
    bool all = thread->refused >= MOST_REFUSED;
    if (all || is_gone(thread->busy, call, SW_LAYER_POSIX))
        thread->busy = NULL;
    for (int i = 0; i < SW_LAYER_COUNT; i++) {
        if (all || is_gone(thread->frames[i], call, i))
            thread->active &= ~(1u << i);
    }
}

/* The rare part of sw_enter: something of ours is on this thread's stack, or was. */
static bool enter_nested(struct sw_thread *thread, const struct sw_call *call, int layer)
{
    if (thread->inside != 0)
        return false;
    drop_lost_frames(thread, call);
    if (thread->busy == NULL && (thread->active & (1u << layer)) == 0)
        return true;
    if (thread->busy != NULL || layer <= SW_LAYER_STDIO) {
        thread->refused++;
        sw_count_lost();
    }
    return false;
}

bool sw_enter_as(struct sw_call *call, int layer, const char *name)
{
    if (!sw_running())
        return false;
    struct sw_thread *thread = &sw_thread;
    if (SW_UNLIKELY(thread->active != 0 || thread->inside != 0 || thread->busy != NULL) &&
        !enter_nested(thread, call, layer))
        return false;
    call->saved_errno = errno;
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
    thread->busy = call; /* a handler's call in between would get the same number */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    call->sequence = ++thread->sequence;
    thread->frames[layer] = call;
    thread->names[layer] = name;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->active |= 1u << layer;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = NULL;
    call->start_ns = sw_now_ns();
    return true;
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
    sw_thread.busy = NULL;
}

/*
 * With threads, a record's counters are added under a lock of that record: one atomic
 * exchange instead of a dozen.  A holder is gone only if a signal handler jumped out of it;
 * then the lock is given up for good, and atomic additions take its place.
 */
enum { COUNTING_FREE = 0, COUNTING_HELD = 1, COUNTING_BROKEN = 2 };
#define SPINS 100
#define YIELDS 20000

static bool wait_for_counters(uint32_t *word)
{
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
        .start_ns = call->start_ns - sw_options.clock_origin_ns,
        .end_ns = now - sw_options.clock_origin_ns,
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

/* Room for bins is made outside of the record's lock: that may take its time.  The library's
 * lock stands in for a record's lock that is broken. */
static void add_to_more_bins(struct sw_file *file, const struct sw_span *span, bool alone)
{
    struct sw_guarded guarded;
    struct sw_bin *end = NULL;
    if (!sw_lock(&guarded))
        return;
    struct sw_bin *room = NULL;
    if (sw_bins_left(&file->bins) < sw_bins_needed(span))
        room = sw_bins_reserve(file->record->file_id, file->layer, sw_bins_needed(span),
                               file->bins.current == NULL, &end);
    bool held = !alone && hold_counters(file);
    if (room != NULL) {
        file->bins.spare = room;
        file->bins.spare_end = end;
    }
    if (!add_to_bins(file, span))
        sw_bins_lost();
    if (held)
        release_counters(file);
    sw_unlock(&guarded);
}

/* What the trace says of a call whose counters have been added; lets the record go. */
static inline void leave_captured(const struct sw_call *call, struct sw_file *file, enum sw_op op,
                                  int64_t bytes, int64_t offset, uint64_t now, bool alone,
                                  bool held)
{
    if (SW_LIKELY(sw_options.capture == SW_CAPTURE_OFF)) {
        if (held)
            release_counters(file);
        return;
    }
    struct sw_span span = span_of(call, op, bytes, now);
    bool added = (alone || held) && add_to_bins(file, &span);
    if (held)
        release_counters(file);
    if (SW_UNLIKELY(!added))
        add_to_more_bins(file, &span, alone);
    sw_capture_event(call, file, op, bytes, offset, now);
}

/* ---- exit ------------------------------------------------------------------------------------
 */

static void leave_counting(struct sw_call *call, struct sw_file *file, enum sw_op op,
                           uint64_t count)
{
    uint64_t now = sw_now_ns();
    leave_begin(call);
    bool alone = __libc_single_threaded;
    add_process(call, op, -1, now, alone);
    if (file != NULL) {
        bool held = !alone && hold_counters(file);
        add_time(call, file, op, count, now, alone || held);
        leave_captured(call, file, op, 0, -1, now, alone, held);
    }
    leave_end(call);
}

void sw_leave(struct sw_call *call, struct sw_file *file, enum sw_op op)
{
    leave_counting(call, file, op, 1);
}

void sw_leave_time(struct sw_call *call, struct sw_file *file, enum sw_op op)
{
    leave_counting(call, file, op, 0);
}

/* Its number in the sequence is free again, if no call came in between. */
void sw_leave_uncounted(struct sw_call *call)
{
    leave_begin(call);
    if (sw_thread.sequence == call->sequence)
        sw_thread.sequence--;
    leave_end(call);
}

void sw_leave_data(struct sw_call *call, struct sw_file *file, enum sw_op op, int64_t bytes,
                   int64_t offset)
{
    uint64_t now = sw_now_ns();
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
    leave_end(call);
}

/* A part of the call that is on its way, as a call below it that takes no time. */
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

/* Rare: takes the thread's busy mark as sw_leave does, for the lock's sake. */
void sw_count_data(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                   bool outermost)
{
    if (file == NULL || bytes < 0)
        return;
    struct sw_call call = part_of_call(file, outermost);
    leave_begin(&call);
    call.sequence = ++sw_thread.sequence;
    add_process(&call, op, bytes, call.start_ns, false);
    bool held = hold_counters(file);
    add(&file->record->ops[op].count, 1, held);
    add_data(file, op, (uint64_t)bytes, offset, outermost, held);
    leave_captured(&call, file, op, bytes, offset, call.start_ns, false, held);
    leave_end(&call);
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
    sw_capture_event(&call, file, op, bytes, offset, call.start_ns);
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
