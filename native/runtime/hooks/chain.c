/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Passes a request through the members. */
#define _GNU_SOURCE
#include <sys/prctl.h>

#include "hook.h"
#include "members.h"
#include "../core/system.h"

#define SW_DECLARE_HOOK(name) extern const struct sw_hook sw_hook_##name;
SW_HOOKS(SW_DECLARE_HOOK)
#define SW_POINT_TO_HOOK(name) &sw_hook_##name,
static const struct sw_hook *const members[] = {SW_HOOKS(SW_POINT_TO_HOOK)};
#define MEMBERS (sizeof members / sizeof *members)
_Static_assert(MEMBERS <= SW_MAX_HOOKS, "one bit of `passed` for each");

uint32_t sw_hooked = SW_ACTIONS_ALL;
static uint32_t wanted[MEMBERS]; /* actions of each member */
static bool loaded;

void sw_hooks_load(void)
{
    uint32_t all = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        all |= wanted[i] = members[i]->load();
    __atomic_store_n(&loaded, true, __ATOMIC_RELEASE);
    __atomic_store_n(&sw_hooked, all, __ATOMIC_RELEASE);
}

void sw_hooks_off(void)
{
    __atomic_store_n(&sw_hooked, 0, __ATOMIC_RELEASE);
}

bool sw_hook_before_nothing(struct sw_request *request)
{
    (void)request;
    return true;
}

void sw_hook_after_nothing(struct sw_request *request)
{
    (void)request;
}

/* ---- rooms for paths ------------------------------------------------------------------- */

#define ROOMS 64
#define PATIENCE 100000 /* yields; a room is used for one libc call */

static char rooms[ROOMS][PATH_MAX];
static uint32_t taken[ROOMS];

char *sw_request_room(struct sw_request *request, unsigned which)
{
    for (unsigned i = 0; request->rooms[which] == NULL && i < PATIENCE; i++) {
        uint32_t *room = &taken[i % ROOMS];
        if (__atomic_exchange_n(room, 1, __ATOMIC_ACQUIRE) == 0)
            request->rooms[which] = rooms[i % ROOMS];
        else if (i % ROOMS == ROOMS - 1)
            syscall(SYS_sched_yield);
    }
    return request->rooms[which];
}

static void give_back(struct sw_request *request)
{
    for (unsigned i = 0; i < 2; i++) {
        if (request->rooms[i] != NULL)
            __atomic_store_n(&taken[(request->rooms[i] - rooms[0]) / PATH_MAX], 0,
                             __ATOMIC_RELEASE);
        request->rooms[i] = NULL;
    }
}

/* Releases rooms that other threads of the parent used. */
void sw_hooks_forget(void)
{
    for (unsigned i = 0; i < ROOMS; i++)
        __atomic_store_n(&taken[i], 0, __ATOMIC_RELEASE);
    sw_thread.request = NULL;
}

bool sw_path_is_readable(const char *path)
{
    if (path == NULL)
        return false;
    int saved_errno = errno;
    bool readable = syscall(SYS_faccessat, -1, path, F_OK) == 0 || errno != EFAULT;
    errno = saved_errno;
    return readable;
}

/* ---- the way through ------------------------------------------------------------------- */

/* Returns whether a member is active further up this thread's stack: then it called us, or a
 * signal handler that interrupted it did. One that a handler jumped out of is forgotten. */
static bool is_nested(const struct sw_request *request)
{
    struct sw_thread *thread = &sw_thread;
    if (SW_LIKELY(thread->request == NULL))
        return false;
    if ((uintptr_t)request < (uintptr_t)thread->request || sw_on_signal_stack())
        return true;
    thread->request = NULL;
    return false;
}

/* Handlers may run in the meantime, and may jump out of it. */
static uint64_t sleep_until(uint64_t moment_ns)
{
    struct timespec moment = {.tv_sec = (time_t)(moment_ns / 1000000000),
                              .tv_nsec = (long)(moment_ns % 1000000000)};
    uint64_t now_ns;
    while ((now_ns = sw_now_ns()) < moment_ns &&
           (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == 0 ||
            errno == EINTR)) {
    }
    return now_ns;
}

/* The kernel may wake a thread late by its timer slack, usually 50 us, and does so unless
 * something else wakes the processor. A wake-up time that is earlier by as much is late by 20 us
 * (measured), as without slack. The slack itself is not changed: handlers would see a different
 * one, and those that jump would keep it. Spinning for the remaining time is exact to 1 us, but a
 * scheduler that shares processors makes spinning threads wait for 3 to 8 ms now and then. */
void sw_wait_until(uint64_t moment_ns)
{
    long slack_ns = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
    if (slack_ns > 0 && (uint64_t)slack_ns < moment_ns)
        sleep_until(moment_ns - (uint64_t)slack_ns);
    uint64_t now_ns = sleep_until(moment_ns);
    sw_thread.late_ns = now_ns > moment_ns ? now_ns - moment_ns : 0;
}

static void wait_if_asked(struct sw_request *request)
{
    uint64_t moment_ns = request->wait_ns;
    request->wait_ns = 0;
    if (moment_ns != 0) {
        sw_wait_until(moment_ns);
        sw_request_waited(request, moment_ns);
    }
}

static bool ask_members(struct sw_request *request)
{
    bool goes_on = true;
    sw_thread.request = request;
    for (size_t i = 0; goes_on && i < MEMBERS; i++) {
        if ((wanted[i] & SW_ACTION_BIT(request->action)) == 0)
            continue;
        request->passed |= UINT32_C(1) << i;
        goes_on = members[i]->before(request);
    }
    sw_thread.request = NULL;
    return goes_on;
}

bool sw_request_begin(struct sw_request *request)
{
    int saved_errno = errno;
    bool goes_on = true;
    if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE) && sw_thread.inside == 0 &&
        !is_nested(request) && sw_running()) {
        request->start_ns = sw_now_ns();
        goes_on = ask_members(request);
        wait_if_asked(request);
    }
    errno = goes_on || request->result >= 0 ? saved_errno : request->error;
    return goes_on;
}

static void tell_members(struct sw_request *request)
{
    sw_thread.request = request;
    for (size_t i = MEMBERS; i-- > 0;) {
        if ((request->passed & UINT32_C(1) << i) != 0)
            members[i]->after(request);
    }
    sw_thread.request = NULL;
}

int64_t sw_request_end(struct sw_request *request, int64_t result)
{
    int saved_errno = errno;
    request->result = result;
    request->error = saved_errno;
    if (request->passed == 0)
        return result;
    tell_members(request);
    wait_if_asked(request);
    give_back(request);
    errno = request->result == result ? saved_errno : request->error;
    return request->result;
}

void sw_request_only(struct sw_request *request)
{
    int saved_errno = errno;
    if (sw_request_begin(request))
        sw_request_end(request, 0);
    errno = saved_errno;
}
