/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_WRITABLE: a trial must not touch the user's files.  An existing file outside of
 * the writable directories may be changed only if this run made it: its birth (or, where
 * the file system keeps none, its last change) is not older than the run.  Links are
 * followed to the file that would really change.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "internal.h"
#include "system.h"

#define MAX_DIRECTORIES 32
/* Clocks of two file systems (local and network) may differ by this much. */
#define CLOCK_SLACK_NS UINT64_C(2000000000)

static char directories[MAX_DIRECTORIES][512];
static size_t n_directories;

/* The path behind a descriptor in `out`, links resolved; its length or 0. */
static size_t real_path(int fd, char *out, size_t room)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = sw_sys_readlinkat(AT_FDCWD, link, out, room - 1);
    if (length <= 0 || (size_t)length >= room - 1)
        return 0;
    out[length] = '\0';
    return (size_t)length;
}

static void add_directory(const char *text, size_t bytes)
{
    char *path = directories[n_directories];
    if (bytes >= sizeof directories[0] || n_directories == MAX_DIRECTORIES)
        return;
    memcpy(path, text, bytes);
    path[bytes] = '\0';
    int fd = sw_sys_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_DIRECTORY, 0);
    if (fd >= 0) {
        if (real_path(fd, path, sizeof directories[0]) == 0)
            memcpy(path, text, bytes + 1);
        sw_sys_close(fd);
    }
    n_directories++;
}

void sw_guard_load(void)
{
    const char *value = getenv(SW_ENV_WRITABLE);
    sw_options.guard = value != NULL && *value != '\0';
    while (sw_options.guard && *value != '\0' && n_directories < MAX_DIRECTORIES) {
        size_t length = strcspn(value, ":");
        if (length != 0)
            add_directory(value, length);
        value += length;
        value += *value == ':';
    }
}

static bool below(const char *path, const char *directory)
{
    size_t bytes = strlen(directory);
    return strncmp(path, directory, bytes) == 0 &&
           (path[bytes] == '/' || path[bytes] == '\0' || directory[bytes - 1] == '/');
}

static bool is_writable_place(const char *path)
{
    if (below(path, "/dev") || below(path, "/proc") || below(path, "/sys"))
        return true;
    for (size_t i = 0; i < n_directories; i++) {
        if (below(path, directories[i]))
            return true;
    }
    return false;
}

static bool made_by_this_run(const struct statx *status)
{
    struct statx_timestamp when =
        (status->stx_mask & STATX_BTIME) != 0 ? status->stx_btime : status->stx_ctime;
    uint64_t when_ns = (uint64_t)when.tv_sec * UINT64_C(1000000000) + when.tv_nsec;
    bool same_clock =
        makedev(status->stx_dev_major, status->stx_dev_minor) == sw_options.run_device;
    return when_ns + (same_clock ? 0 : CLOCK_SLACK_NS) >= sw_options.run_start_ns;
}

/* The file behind `fd` (O_PATH).  Under the lock; leaves its path in sw_scratch[0]. */
static bool must_not_change(int fd)
{
    struct statx status;
    char *path = sw_scratch[0];
    if (sw_sys_statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
                     STATX_TYPE | STATX_BTIME | STATX_CTIME, &status) != 0)
        return false;
    bool guarded_type =
        S_ISREG(status.stx_mode) || S_ISDIR(status.stx_mode) || S_ISLNK(status.stx_mode);
    return guarded_type && !made_by_this_run(&status) &&
           real_path(fd, path, sizeof sw_scratch[0]) != 0 && !is_writable_place(path);
}

static void note_refusal(const char *path)
{
    char *text = sw_scratch[1];
    snprintf(text, sizeof sw_scratch[1], "refused to change %s: it existed before the run", path);
    sw_note_locked(text);
}

bool sw_guard_refuses(int directory, const char *path, bool follow)
{
    struct sw_guarded guarded;
    if (SW_LIKELY(!sw_options.guard) || sw_thread.inside != 0 || path == NULL || !sw_running() ||
        !sw_lock(&guarded))
        return false;
    int fd = sw_sys_openat(directory, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
    bool refused = fd >= 0 && must_not_change(fd);
    if (refused)
        note_refusal(sw_scratch[0]);
    if (fd >= 0)
        sw_sys_close(fd);
    sw_unlock(&guarded);
    if (!refused)
        return false;
    sw_process_flag(SW_PROCESS_GUARD_HIT);
    errno = EROFS;
    return true;
}
