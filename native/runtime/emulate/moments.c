/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* When a request begins and ends, and how late this host was. */
#define _GNU_SOURCE
#include "emulator.h"

/* How late this host was with the last request of the thread is not part of the next one's time.
 */
#define MOST_LATE_NS UINT64_C(10000000) /* larger delays are not compensated */
#define LATE_NS UINT64_C(2000000)       /* and 2 %: the host was the limit */

/* The storage that delayed the thread's last request. */
static __thread struct sw_emulator *last_one __attribute__((tls_model("initial-exec")));

static void count_late(uint64_t late_ns)
{
    struct sw_emulator *storage = last_one != NULL ? last_one : &sw_emulators[0];
    SW_EMULATE_COUNT(storage, late, 1);
    SW_EMULATE_COUNT(storage, late_ns, late_ns);
}

void sw_emulated_begin(struct sw_request *request)
{
    uint64_t late_ns = sw_thread.late_ns;
    if (late_ns > MOST_LATE_NS) {
        count_late(late_ns - MOST_LATE_NS); /* the thread woke up so late */
        late_ns = MOST_LATE_NS;
    }
    sw_thread.late_ns = 0;
    request->emulated.start_ns = request->start_ns - late_ns;
    request->emulated.storage = NULL;
    request->emulated.end_ns = 0;
    request->emulated.layout = 0;
}

/* The real call has taken longer; the lateness of earlier ones has been counted with them. */
static void overtaken(const struct sw_request *request, uint64_t late_ns, uint64_t model_ns)
{
    uint64_t before_ns = request->start_ns - request->emulated.start_ns;
    sw_thread.late_ns = late_ns < MOST_LATE_NS ? late_ns : MOST_LATE_NS;
    if (late_ns > LATE_NS && late_ns > model_ns / 50 && late_ns > before_ns)
        count_late(late_ns - before_ns);
}

/* Makes the chain wait. */
void sw_emulated_hold(struct sw_request *request)
{
    struct sw_emulator *storage = request->emulated.storage;
    uint64_t end_ns = request->emulated.end_ns;
    uint64_t now_ns = sw_now_ns();
    if (end_ns == 0)
        return;
    last_one = storage;
    SW_EMULATE_COUNT(storage, model_ns, end_ns - request->emulated.start_ns);
    if (now_ns >= end_ns) {
        sw_law_came(storage, end_ns);
        overtaken(request, now_ns - end_ns, end_ns - request->emulated.start_ns);
        return;
    }
    SW_EMULATE_COUNT(storage, held, 1);
    SW_EMULATE_COUNT(storage, held_ns, end_ns - now_ns);
    if (request->wait_ns < end_ns)
        request->wait_ns = end_ns;
}

void sw_request_waited(const struct sw_request *request, uint64_t moment_ns)
{
    if (request->emulated.storage != NULL)
        sw_law_came(request->emulated.storage, moment_ns);
    else
        sw_laws_came(moment_ns);
}

/* ---- asynchronous requests: each ends for the program where it fetches the result ---------- */

#define SLOTS 1024
#define PROBES 16

static struct posted {
    uintptr_t block; /* control blocks are aligned: 1 is none */
    uint64_t end_ns;
    struct sw_emulator *storage;
} slots[SLOTS];

#define BEING_FILLED 1

static struct posted *slot_of(const void *block, unsigned probe)
{
    uint64_t mixed = ((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return &slots[((mixed >> 32) + probe) % SLOTS];
}

bool sw_posted_put(const void *block, struct sw_emulator *storage, uint64_t end_ns)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct posted *slot = slot_of(block, probe);
        uintptr_t seen = __atomic_load_n(&slot->block, __ATOMIC_RELAXED);
        if ((seen == 0 || seen == (uintptr_t)block) &&
            __atomic_compare_exchange_n(&slot->block, &seen, BEING_FILLED, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            slot->end_ns = end_ns;
            slot->storage = storage;
            __atomic_store_n(&slot->block, (uintptr_t)block, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

static uint64_t take(const void *block, struct sw_emulator **storage)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct posted *slot = slot_of(block, probe);
        if (__atomic_load_n(&slot->block, __ATOMIC_ACQUIRE) != (uintptr_t)block)
            continue;
        uint64_t end_ns = slot->end_ns;
        *storage = slot->storage;
        __atomic_store_n(&slot->block, 0, __ATOMIC_RELEASE);
        return end_ns;
    }
    return 0;
}

void sw_posted_done(const void *block)
{
    struct sw_emulator *storage = NULL;
    uint64_t end_ns = sw_emulating() ? take(block, &storage) : 0;
    uint64_t now_ns = end_ns != 0 ? sw_now_ns() : 0;
    if (now_ns >= end_ns)
        return;
    int saved_errno = errno;
    SW_EMULATE_COUNT(storage, held, 1);
    SW_EMULATE_COUNT(storage, held_ns, end_ns - now_ns);
    sw_wait_until(end_ns);
    errno = saved_errno;
}

/* ---- bypasses ----------------------------------------------------------------------------- */

/* What is not delayed, and is reported: memory maps, rings, and static programs, into which
 * nothing can be preloaded. */

void sw_emulator_note_once(const char *text, bool *noted)
{
    if (!__atomic_exchange_n(noted, true, __ATOMIC_RELAXED))
        sw_note(text);
}

void sw_memory_mapped(int fd)
{
    static bool noted;
    const struct sw_emulated *file = sw_emulating() ? sw_emulated_file(fd) : NULL;
    if (file == NULL)
        return;
    SW_EMULATE_COUNT(file->storage, mapped, 1);
    sw_emulator_note_once("emulation: the program maps files into its memory: what it reads and "
                          "writes there is not held back",
                          &noted);
}

void sw_ring_made(void)
{
    static bool noted;
    if (!sw_emulating() || noted)
        return;
    for (unsigned i = 0; i < sw_emulators_used; i++) /* which storage it is for is unknown */
        SW_EMULATE_COUNT(&sw_emulators[i], rings, 1);
    sw_emulator_note_once("emulation: the program uses io_uring or libaio: what it reads and "
                          "writes by them is not held back",
                          &noted);
}

void sw_emulator_static_starts(void)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        SW_EMULATE_COUNT(&sw_emulators[i], static_programs, 1);
}
