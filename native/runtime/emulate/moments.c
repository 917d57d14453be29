/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* When a request begins and ends, and what this host was late. */
#include "emulator.h"

/* What this host was late with the last request of the thread is no part of the next one's time.
 */
#define MOST_LATE_NS UINT64_C(10000000) /* more than that is not made up for */
#define LATE_NS UINT64_C(2000000)       /* and 2 %: the host was the limit */

/* The storage that held the thread's last request. */
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
        count_late(late_ns - MOST_LATE_NS); /* it woke up so late */
        late_ns = MOST_LATE_NS;
    }
    sw_thread.late_ns = 0;
    request->emulated.start_ns = request->start_ns - late_ns;
    request->emulated.storage = NULL;
    request->emulated.end_ns = 0;
    request->emulated.layout = 0;
}

/* The real call has taken longer; what earlier ones were late has been counted with them. */
static void overtaken(const struct sw_request *request, uint64_t late_ns, uint64_t model_ns)
{
    uint64_t before_ns = request->start_ns - request->emulated.start_ns;
    sw_thread.late_ns = late_ns < MOST_LATE_NS ? late_ns : MOST_LATE_NS;
    if (late_ns > LATE_NS && late_ns > model_ns / 50 && late_ns > before_ns)
        count_late(late_ns - before_ns);
}

/* The chain waits. */
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
