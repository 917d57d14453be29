/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* SW_ENV_HOLD, "write=1000000:stat=50000": a request of that action ends at least that many
 * nanoseconds after its start, as on a slow storage. */
#include <stdlib.h>
#include <string.h>

#include "hook.h"

static uint64_t hold_ns[SW_DO_COUNT];

static const char *const names[SW_DO_COUNT] = {
    [SW_DO_OPEN] = "open",       [SW_DO_STAT] = "stat",     [SW_DO_ACCESS] = "access",
    [SW_DO_LIST] = "list",       [SW_DO_MKDIR] = "mkdir",   [SW_DO_RMDIR] = "rmdir",
    [SW_DO_UNLINK] = "unlink",   [SW_DO_RENAME] = "rename", [SW_DO_LINK] = "link",
    [SW_DO_SYMLINK] = "symlink", [SW_DO_CHANGE] = "change", [SW_DO_TRUNCATE] = "truncate",
    [SW_DO_STATFS] = "statfs",   [SW_DO_CLOSE] = "close",   [SW_DO_READ] = "read",
    [SW_DO_WRITE] = "write",     [SW_DO_SYNC] = "sync",     [SW_DO_ALLOCATE] = "allocate",
    [SW_DO_CONTROL] = "control",
};

static int action_of(const char *text, size_t bytes)
{
    for (int i = 0; i < SW_DO_COUNT; i++) {
        if (names[i] != NULL && strlen(names[i]) == bytes && memcmp(names[i], text, bytes) == 0)
            return i;
    }
    return -1;
}

static uint32_t load(void)
{
    uint32_t actions = 0;
    const char *value = getenv(SW_ENV_HOLD);
    while (value != NULL && *value != '\0') {
        size_t bytes = strcspn(value, "=:");
        int action = value[bytes] == '=' ? action_of(value, bytes) : -1;
        if (action >= 0) {
            hold_ns[action] = strtoull(value + bytes + 1, NULL, 10);
            actions |= SW_ACTION_BIT(action);
        } else {
            sw_note(SW_ENV_HOLD ": an action is unknown or has no \"=NANOSECONDS\"");
        }
        value += strcspn(value, ":");
        value += *value == ':';
    }
    return actions;
}

static void after(struct sw_request *request)
{
    uint64_t moment_ns = request->start_ns + hold_ns[request->action];
    if (request->wait_ns < moment_ns)
        request->wait_ns = moment_ns;
}

const struct sw_hook sw_hook_hold = {
    .name = "hold",
    .load = load,
    .before = sw_hook_before_nothing,
    .after = after,
};
