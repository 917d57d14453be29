/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_WRITABLE: a trial must not touch the user's files.  An existing file outside of
 * the writable directories may be changed only if this run made it: its birth (or, where
 * the file system keeps none, its last change) is not older than the run.  Links are
 * followed to the file that would really change.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "hook.h"
#include "places.h"

#define MAX_DIRECTORIES 32
/* Clocks of two file systems (local and network) may differ by this much. */
#define CLOCK_SLACK_NS UINT64_C(2000000000)

static char directories[MAX_DIRECTORIES][512];
static size_t n_directories;

static void add_directory(const char *text, size_t bytes)
{
    if (n_directories < MAX_DIRECTORIES &&
        sw_real_directory(text, bytes, directories[n_directories], sizeof directories[0]))
        n_directories++;
}

static uint32_t load(void)
{
    const char *value = getenv(SW_ENV_WRITABLE);
    if (value == NULL || *value == '\0')
        return 0;
    while (*value != '\0' && n_directories < MAX_DIRECTORIES) {
        size_t length = strcspn(value, ":");
        if (length != 0)
            add_directory(value, length);
        value += length;
        value += *value == ':';
    }
    return SW_ACTION_BIT(SW_DO_OPEN) | SW_ACTION_BIT(SW_DO_TRUNCATE) |
           SW_ACTION_BIT(SW_DO_UNLINK) | SW_ACTION_BIT(SW_DO_RMDIR) | SW_ACTION_BIT(SW_DO_RENAME) |
           SW_ACTION_BIT(SW_DO_LINK) | SW_ACTION_BIT(SW_DO_CHANGE);
}

static bool is_writable_place(const char *path)
{
    if (sw_is_below(path, "/dev") || sw_is_below(path, "/proc") || sw_is_below(path, "/sys"))
        return true;
    for (size_t i = 0; i < n_directories; i++) {
        if (sw_is_below(path, directories[i]))
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
           sw_real_path(fd, path, sizeof sw_scratch[0]) != 0 && !is_writable_place(path);
}

static void note_refusal(const char *path)
{
    char *text = sw_scratch[1];
    snprintf(text, sizeof sw_scratch[1], "refused to change %s: it existed before the run", path);
    sw_note_locked(text);
}

/* Under the lock. */
static bool refuses_place(const struct sw_place *place, bool follow)
{
    int fd = sw_sys_openat(place->directory, place->path,
                           O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
    bool refused = fd >= 0 && must_not_change(fd);
    if (fd >= 0)
        sw_sys_close(fd);
    return refused;
}

static bool refuses(const struct sw_request *request)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return false;
    bool refused = request->fd >= 0 ? must_not_change(request->fd)
                                    : refuses_place(&request->target, request->follow);
    if (!refused && request->action == SW_DO_RENAME) /* what has the new name is replaced */
        refused = refuses_place(&request->second, false);
    if (refused)
        note_refusal(sw_scratch[0]);
    sw_unlock(&guarded);
    return refused;
}

/* Files without a name and files that must be new are nobody's yet. */
static bool may_change_existing(int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
    bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    return writes && !is_new && (flags & O_TMPFILE) != O_TMPFILE;
}

/* A second name inside would be a way to write to the file outside: programs that link are ready
 * for "another file system". */
static bool before(struct sw_request *request)
{
    if (request->action == SW_DO_OPEN && !may_change_existing(request->flags))
        return true;
    if (!refuses(request))
        return true;
    sw_process_flag(SW_PROCESS_GUARD_HIT);
    request->result = -1;
    request->error = request->action == SW_DO_LINK ? EXDEV : EROFS;
    return false;
}

const struct sw_hook sw_hook_guard = {
    .name = "guard",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
