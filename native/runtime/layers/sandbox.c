/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that gives up system calls (seccomp) would be killed by one of ours. It announces that
 * with prctl(): by the filter itself, or by the promise without which the kernel accepts no filter
 * from an unprivileged process. From then on the library makes no system call of its own, nor in
 * children: nothing is counted any more, and no hook is active.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "core/internal.h"
#include "core/system.h"
#include "hooks/refused.h"

static bool gives_up_calls(int option)
{
    return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

/* No guard sees what the program does from then on. */
static void tell_guard(void)
{
    char path[PATH_MAX];
    ssize_t bytes = sw_sys_readlinkat(AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    sw_refused_tell(SW_ESCAPED_SANDBOX, path);
}

static void leave_alone(void)
{
    if (sw_recording()) {
        sw_note("the program entered a sandbox (seccomp or no_new_privs): nothing is counted from "
                "there on");
        sw_finish(SW_ENDING_ABRUPT);
    }
    if (sw_refused_wanted())
        tell_guard();
    sw_switch_off();
}

SW_EXPORT int prctl(int option, ...)
{
    SW_REAL(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long));
    va_list arguments;
    unsigned long word[4];
    va_start(arguments, option);
    for (int i = 0; i < 4; i++) /* as many as libc passes on, whatever the program passed */
        word[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (gives_up_calls(option) && sw_own_process())
        leave_alone();
    return real(option, word[0], word[1], word[2], word[3]);
}
