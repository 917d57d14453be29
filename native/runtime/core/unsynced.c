/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * fsync at close, and what is left of it for the end of the process.
 *
 * A signal handler that closes a file is delayed by the fsync. If its signal is raised again in
 * the meantime, the handler runs again as soon as it has ended, and the interrupted program never
 * continues. So if signals wait for their handlers when an fsync has ended, the thread makes no
 * further fsync while such signals are blocked. What is closed without its fsync (there, and by a
 * handler that interrupted an fsync) is synced when the process ends, by its name. That cannot be
 * done earlier: closing a descriptor of ours would release the locks that the program has on the
 * file.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "descriptors.h"
#include "system.h"
#include "../hooks/hook.h"

/* Number of times that signals waited after an fsync: once may be chance. */
#define MOST_HELD_UP 3
#define MOST_TRIES 4

static uint32_t held_up;
static uint32_t put_off; /* files that are, or were, marked */
static uint32_t nameless;

/* The kernel's own structure; the C library's has another order. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

static bool has_handler(int number)
{
    struct kernel_action action = {0};
    return syscall(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 &&
           action.handler != (uintptr_t)SIG_DFL && action.handler != (uintptr_t)SIG_IGN;
}

/* Returns whether signals that have a handler are blocked in this thread, as while the handler
 * runs. `pending`: and have been raised. */
static bool handlers_wait(bool pending)
{
    uint64_t blocked = 0;
    uint64_t come = UINT64_MAX;
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked) != 0 ||
        (pending && syscall(SYS_rt_sigpending, &come, sizeof come) != 0))
        return false;
    for (blocked &= come; blocked != 0; blocked &= blocked - 1) {
        if (has_handler(__builtin_ctzll(blocked) + 1))
            return true;
    }
    return false;
}

static bool sync_now(int fd)
{
    int result = -1;
    for (int i = 0; i < MOST_TRIES && result != 0; i++) {
        result = sw_sys_fsync(fd);
        if (result != 0 && errno != EINTR)
            return true; /* there is nothing to sync: a special file, a broken disk */
    }
    if (handlers_wait(true))
        __atomic_fetch_add(&held_up, 1, __ATOMIC_RELAXED);
    return result == 0;
}

static bool is_unsynced(const struct sw_fd *entry)
{
    return entry != NULL && entry->generation == sw_options.generation &&
           (__atomic_load_n(&entry->flags, __ATOMIC_RELAXED) & SW_FD_WRITTEN) != 0;
}

bool sw_fd_sync(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (!sw_options.sync || !is_unsynced(entry))
        return false;
    int saved_errno = errno;
    bool synced =
        (__atomic_load_n(&held_up, __ATOMIC_RELAXED) < MOST_HELD_UP || !handlers_wait(false)) &&
        sync_now(fd);
    if (synced)
        sw_fd_take_written(fd);
    errno = saved_errno;
    return synced;
}

/* ---- what is left -------------------------------------------------------------------- */

void sw_fd_leave_unsynced(struct sw_fd *entry)
{
    if (SW_LIKELY(!sw_options.sync) || !is_unsynced(entry) || !sw_own_process())
        return;
    struct sw_file *file = entry->posix != NULL ? entry->posix : entry->stdio;
    if (file == NULL) {
        __atomic_store_n(&nameless, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&file->unsynced, true, __ATOMIC_RELAXED);
    __atomic_store_n(&put_off, 1, __ATOMIC_RELAXED);
}

/* Opens the file that has the name by now, wherever a member of the chain has moved it. */
static int open_again(const char *path)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct sw_request request = sw_request_name(SW_DO_OPEN, AT_FDCWD, path, true);
    request.flags = flags;
    if (!sw_is_hooked(SW_DO_OPEN))
        return sw_sys_openat(AT_FDCWD, path, flags, 0);
    int fd = -1;
    if (sw_request_begin(&request))
        fd = sw_sys_openat(AT_FDCWD, request.target.path, flags, 0);
    sw_request_end(&request, fd);
    return fd;
}

static void sync_by_name(struct sw_file *file)
{
    struct sw_call call;
    int fd = -1;
    if (!file->unsynced || !sw_enter_as(&call, (int)file->layer, "fsync"))
        return;
    file->unsynced = false;
    bool is_there = (file->record->flags & SW_FILE_UNLINKED) == 0;
    if (is_there)
        fd = open_again(file->record->path);
    if (is_there && fd < 0) /* renamed, or not accessible */
        nameless = 1;
    if (fd >= 0 && sw_sys_fsync(fd) == 0) {
        call.event_flags |= SW_EVENT_SYNC;
        sw_leave(&call, file, SW_OP_SYNC);
    } else {
        sw_leave_uncounted(&call);
    }
    if (fd >= 0)
        sw_sys_close(fd);
}

void sw_sync_what_is_left(enum sw_ending ending)
{
    if (put_off != 0 && ending != SW_ENDING_EXEC) /* locks survive an exec */
        sw_file_each(sync_by_name);
    if (nameless != 0 || (put_off != 0 && ending == SW_ENDING_EXEC))
        sw_note("files that a signal handler closed were not synced: the handler would have held "
                "up the program");
    put_off = 0;
    nameless = 0;
}

void sw_unsynced_forget(void)
{
    held_up = 0;
    put_off = 0;
    nameless = 0;
}
