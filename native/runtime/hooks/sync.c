/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* SW_ENV_SYNC: what was written through a descriptor is synced when it is closed. */
#include "hook.h"
#include "../core/descriptors.h"

static uint32_t load(void)
{
    return sw_options.sync ? SW_ACTION_BIT(SW_DO_CLOSE) : 0;
}

static bool before(struct sw_request *request)
{
    if (!request->synced)
        request->synced = sw_own_process() && sw_fd_sync(request->fd);
    return true;
}

const struct sw_hook sw_hook_sync = {
    .name = "sync",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
