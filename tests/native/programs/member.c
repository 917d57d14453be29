/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A member of the chain from outside of the library's sources: it answers statfs() and one ioctl()
 * itself, fails every third write, and changes what a read returns. */
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

#include "hooks/hook.h"

#define ASKED 0x4004669aUL

static unsigned writes;

static uint32_t load(void)
{
    return getenv("MEMBER") == NULL ? 0
                                    : SW_ACTION_BIT(SW_DO_STATFS) | SW_ACTION_BIT(SW_DO_CONTROL) |
                                          SW_ACTION_BIT(SW_DO_WRITE) | SW_ACTION_BIT(SW_DO_READ);
}

static bool answer(struct sw_request *request, int64_t result, int error)
{
    request->result = result;
    request->error = error;
    return false;
}

static bool before(struct sw_request *request)
{
    if (request->action == SW_DO_STATFS) {
        struct statfs *status = request->argument;
        memset(status, 0, sizeof *status);
        status->f_type = 0x0bd00bd0;
        return answer(request, 0, 0);
    }
    if (request->action == SW_DO_CONTROL && request->command == ASKED) {
        *(int *)request->argument = 42;
        return answer(request, 7, 0);
    }
    if (request->action == SW_DO_WRITE && request->fd > 2 && !request->stream && ++writes % 3 == 0)
        return answer(request, -1, ENOSPC);
    return true;
}

static void after(struct sw_request *request)
{
    if (request->action == SW_DO_READ && request->fd > 2 && request->result == 5) {
        request->result = -1;
        request->error = EIO;
    }
}

const struct sw_hook sw_hook_extra = {
    .name = "extra",
    .load = load,
    .before = before,
    .after = after,
};
