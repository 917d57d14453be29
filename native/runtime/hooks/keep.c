/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_KEEP_REMOVED: makes it possible to compare the output of a program that removes it. A
 * regular file below that directory that is removed, or replaced by a rename, first gets a second
 * name below SW_KEPT. The call itself proceeds, and the program sees no difference.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "hook.h"
#include "places.h"

#define SW_KEPT "/.stripewise-removed"

static char root[512];
static size_t root_bytes;

static uint32_t load(void)
{
    const char *value = getenv(SW_ENV_KEEP_REMOVED);
    if (value == NULL || *value != '/' ||
        !sw_real_directory(value, strlen(value), root, sizeof root))
        return 0;
    root_bytes = strlen(root);
    return SW_ACTION_BIT(SW_DO_UNLINK) | SW_ACTION_BIT(SW_DO_RENAME);
}

/* Returns whether there is a regular file whose second name must be kept, with its path in
 * sw_scratch[0]. */
static bool is_wanted(const struct sw_place *place)
{
    struct statx status;
    char *path = sw_scratch[0];
    int fd = sw_sys_openat(place->directory, place->path, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0)
        return false;
    bool wanted =
        sw_sys_statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) == 0 &&
        S_ISREG(status.stx_mode) && sw_real_path(fd, path, sizeof sw_scratch[0]) != 0;
    sw_sys_close(fd);
    return wanted && sw_is_below(path, root) &&
           strncmp(path + root_bytes, SW_KEPT "/", sizeof SW_KEPT) != 0;
}

static void make_directories_of(char *path)
{
    for (char *end = strchr(path + root_bytes + 1, '/'); end != NULL; end = strchr(end + 1, '/')) {
        *end = '\0';
        sw_sys_mkdir(path, 0700);
        *end = '/';
    }
}

/* Call under the lock. If a name is removed several times, the last file is kept. */
static void keep(const struct sw_place *place)
{
    char *kept = sw_scratch[1];
    if (place->path == NULL || !is_wanted(place))
        return;
    int bytes =
        snprintf(kept, sizeof sw_scratch[1], "%s" SW_KEPT "%s", root, sw_scratch[0] + root_bytes);
    if (bytes < 0 || (size_t)bytes >= sizeof sw_scratch[1])
        return;
    make_directories_of(kept);
    sw_sys_unlink(kept);
    if (sw_sys_link(sw_scratch[0], kept) != 0)
        sw_note_locked("a file that the program removes could not be kept");
}

static bool before(struct sw_request *request)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return true;
    keep(request->action == SW_DO_RENAME ? &request->second : &request->target);
    sw_unlock(&guarded);
    return true;
}

const struct sw_hook sw_hook_keep = {
    .name = "keep",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
