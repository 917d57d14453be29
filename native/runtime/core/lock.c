/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The library's only lock, for slow paths. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>

#include "internal.h"
#include "system.h"

/* A holder needs microseconds; so many yields are far longer than any live one takes. */
#define PATIENCE 200000

char sw_scratch[2][PATH_MAX + 256];
static uint32_t locked;

bool sw_lock(struct sw_guarded *guarded)
{
    const unsigned long long all = ~(1ULL << (SIGBUS - 1)); /* that one may be ours: fault.c */
    guarded->saved_errno = errno;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &guarded->signals, sizeof all);
    sw_thread.inside++;
    for (int i = 0; i < PATIENCE; i++) {
        if (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) == 0)
            return true;
        sched_yield();
    }
    sw_thread.inside--;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &guarded->signals, NULL, sizeof all);
    errno = guarded->saved_errno;
    return false;
}

void sw_unlock(struct sw_guarded *guarded)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
    sw_thread.inside--;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &guarded->signals, NULL, sizeof guarded->signals);
    errno = guarded->saved_errno;
}

void sw_lock_reset(void)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}
