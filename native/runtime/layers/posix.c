/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The layer's table: its real functions, and what happens at load and at the end. */
#define _GNU_SOURCE
#include <string.h>

#include "posix.h"
#include "../core/system.h"

struct sw_posix_functions sw_posix_functions;
bool sw_posix_resolved;

/* Replaces a function that this libc does not have. */
static long not_implemented(void)
{
    errno = ENOSYS;
    return -1;
}

static void *resolve_or_refuse(const char *name)
{
    void *symbol = sw_resolve(name, NULL);
    return symbol != NULL ? symbol : (void *)(uintptr_t)not_implemented;
}

void sw_posix_resolve(void)
{
#define SW_POSIX_RESOLVE(type, name, arguments)                                                   \
    if (sw_posix_functions.name == NULL)                                                          \
        sw_posix_functions.name = (type(*) arguments)(uintptr_t)resolve_or_refuse(#name);
    SW_POSIX_FUNCTIONS(SW_POSIX_RESOLVE)
    __atomic_store_n(&sw_posix_resolved, true, __ATOMIC_RELEASE);
}

static void start(void)
{
    (void)sw_posix();
    sw_posix_find_vfork();
}

struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static bool is_ring(int directory, const char *name)
{
    static const char wanted[] = "anon_inode:[io_uring]";
    char target[sizeof wanted];
    return sw_sys_readlinkat(directory, name, target, sizeof target) == sizeof wanted - 1 &&
           memcmp(target, wanted, sizeof wanted - 1) == 0;
}

static void look_for_rings(int directory, const char *entries, long bytes)
{
    for (long at = 0; at < bytes;) {
        const struct directory_entry *entry = (const struct directory_entry *)&entries[at];
        if (entry->name[0] != '.' && is_ring(directory, entry->name)) {
            sw_process_flag(SW_PROCESS_USES_IO_URING);
            sw_ring_made();
        }
        at += entry->bytes;
    }
}

/* Rings that were created by raw system calls are found in the list of open descriptors. */
static void find_io_uring(void)
{
    _Alignas(8) char entries[1024];
    long bytes;
    int directory =
        sw_sys_openat(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return;
    while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        look_for_rings(directory, entries, bytes);
    sw_sys_close(directory);
}

/* The kernel closes what the program does not, which is counted too. */
static void end_open(int fd)
{
    struct sw_call call;
    struct sw_fd *entry = sw_fd_entry(fd);
    struct sw_request request = sw_request_data(SW_DO_CLOSE, fd, 0, -1);
    if ((entry->flags & SW_FD_WRITTEN) == 0 || entry->generation != sw_options.generation ||
        !sw_enter_as(&call, SW_LAYER_POSIX, "fsync"))
        return;
    sw_request_only(&request);
    if (request.synced) {
        call.event_flags |= SW_EVENT_SYNC;
        sw_leave(&call, entry->posix, SW_OP_SYNC);
    } else {
        sw_leave_uncounted(&call);
    }
}

static void finish(enum sw_ending ending)
{
    if (sw_is_hooked(SW_DO_CLOSE)) {
        sw_fd_each(0, INT_MAX, end_open);
        sw_sync_what_is_left(ending);
        if (ending != SW_ENDING_EXEC)
            sw_descriptor_gone(0, INT_MAX);
    }
    sw_posted_at_exit();
    find_io_uring();
}

const struct sw_layer_table sw_layer_posix = {
    .name = "posix",
    .start = start,
    .finish = finish,
};
