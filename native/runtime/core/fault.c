/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A store into our mapping of the container raises SIGBUS if somebody has truncated the file, or
 * its file system has lost it (a stale NFS handle, a bad disk). That must not affect the program:
 * the page is replaced by memory of our own, the library disables itself, and the program
 * continues. Any other SIGBUS is passed to the program, whose own action is stored here and shown
 * to it as if ours did not exist.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>

#include "internal.h"
#include "system.h"

#define MOST_MAPPINGS 1024 /* further ones are not protected */

static struct {
    uintptr_t begin;
    uintptr_t end;
} mappings[MOST_MAPPINGS];
static uint32_t n_mappings;

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
static sigaction_function *real_sigaction;
static struct sigaction programs_own; /* for SIGBUS; zero: the default */
static bool installed;

void sw_fault_mapped(const void *address, size_t bytes)
{
    uint32_t at = __atomic_fetch_add(&n_mappings, 1, __ATOMIC_RELAXED);
    if (at >= MOST_MAPPINGS) {
        __atomic_store_n(&n_mappings, MOST_MAPPINGS, __ATOMIC_RELAXED);
        return;
    }
    mappings[at].begin = (uintptr_t)address;
    __atomic_store_n(&mappings[at].end, (uintptr_t)address + bytes, __ATOMIC_RELEASE);
}

static bool is_ours(uintptr_t address)
{
    uint32_t count = __atomic_load_n(&n_mappings, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count && i < MOST_MAPPINGS; i++) {
        if (address < __atomic_load_n(&mappings[i].end, __ATOMIC_ACQUIRE) &&
            address >= mappings[i].begin)
            return true;
    }
    return false;
}

static bool replace_page(uintptr_t address)
{
    void *page = (void *)(address / SW_PAGE * SW_PAGE);
    return (void *)syscall(SYS_mmap, page, SW_PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

/* Does what would have happened without us: the default ends the process when the instruction is
 * repeated, or when a signal that was sent is sent again. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction own = programs_own;
    if ((own.sa_flags & SA_SIGINFO) == 0 && own.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if ((own.sa_flags & SA_SIGINFO) == 0 &&
        (own.sa_handler == SIG_DFL || own.sa_handler == SIG_IGN)) {
        struct sigaction otherwise = {.sa_handler = SIG_DFL};
        real_sigaction(number, &otherwise, NULL);
        if (info->si_code <= 0)
            syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
        return;
    }
    if ((own.sa_flags & (int)SA_RESETHAND) != 0)
        memset(&programs_own, 0, sizeof programs_own);
    if ((own.sa_flags & SA_SIGINFO) != 0)
        own.sa_sigaction(number, info, context);
    else
        own.sa_handler(number);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    if (info->si_code > 0 && is_ours(address) && replace_page(address)) {
        sw_switch_off();
        errno = saved_errno;
        return;
    }
    errno = saved_errno;
    pass_on(number, info, context);
}

/* Installs our handler, on the stack and with the mask that the program chose. */
static int install(void)
{
    struct sigaction ours = programs_own;
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = (ours.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    return real_sigaction(SIGBUS, &ours, NULL);
}

void sw_fault_start(void)
{
    real_sigaction = (sigaction_function *)sw_resolve("sigaction", NULL);
    if (real_sigaction != NULL && real_sigaction(SIGBUS, NULL, &programs_own) == 0)
        installed = install() == 0;
}

/* ---- what the program sees ------------------------------------------------------------- */

static int programs_action(const struct sigaction *new, struct sigaction *old)
{
    struct sigaction before = programs_own;
    if (new != NULL) {
        struct sigaction wanted = *new; /* as in the kernel: read before anything is written */
        programs_own = wanted;
        if (install() != 0)
            return -1;
    }
    if (old != NULL)
        *old = before;
    return 0;
}

SW_EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    SW_REAL(int, sigaction, (int, const struct sigaction *, struct sigaction *));
    if (number != SIGBUS || !installed)
        return real(number, new, old);
    return programs_action(new, old);
}

static sighandler_t programs_handler(sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    sigaddset(&new.sa_mask, SIGBUS);
    return programs_action(&new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

SW_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    SW_REAL(sighandler_t, signal, (int, sighandler_t));
    if (number != SIGBUS || !installed || handler == SIG_ERR)
        return real(number, handler);
    return programs_handler(handler, SA_RESTART);
}
