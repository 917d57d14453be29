/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A member of the chain that answers as a Lustre client would, and holds nothing back: so that the
 * requests of ROMIO's Lustre driver can be seen without an emulation.  The layout of a file is
 * kept in an extended attribute; LUSTRE_MEMBER is "count unit", the layout of files that have
 * none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "hooks/hook.h"
#include "lustre/lustre_user.h"

#define KEPT "user.stripewise-test.layout"

static uint32_t load(void)
{
    return getenv("LUSTRE_MEMBER") == NULL
               ? 0
               : SW_ACTION_BIT(SW_DO_STATFS) | SW_ACTION_BIT(SW_DO_CONTROL);
}

static bool answer(struct sw_request *request, int64_t result, int error)
{
    request->result = result;
    request->error = error;
    return false;
}

static void usual(struct lov_user_md *layout)
{
    unsigned count = 1, unit = 1U << 20;
    sscanf(getenv("LUSTRE_MEMBER"), "%u %u", &count, &unit);
    memset(layout, 0, sizeof *layout);
    layout->lmm_magic = LOV_USER_MAGIC;
    layout->lmm_pattern = 1;
    layout->lmm_stripe_count = (unsigned short)count;
    layout->lmm_stripe_size = unit;
}

static bool set(struct sw_request *request)
{
    const struct lov_user_md *asked = request->argument;
    struct lov_user_md layout;
    usual(&layout);
    if (asked->lmm_stripe_size != 0)
        layout.lmm_stripe_size = asked->lmm_stripe_size;
    if (asked->lmm_stripe_count != 0 && asked->lmm_stripe_count != 0xffff)
        layout.lmm_stripe_count = asked->lmm_stripe_count;
    if (fsetxattr(request->fd, KEPT, &layout, sizeof layout, XATTR_CREATE) != 0)
        return answer(request, -1, errno);
    return answer(request, 0, 0);
}

static bool get(struct sw_request *request)
{
    struct lov_user_md *layout = request->argument;
    if (fgetxattr(request->fd, KEPT, layout, sizeof *layout) != (ssize_t)sizeof *layout)
        usual(layout);
    for (unsigned i = 0; i < layout->lmm_stripe_count; i++)
        layout->lmm_objects[i] = (struct lov_user_ost_data){.l_ost_idx = i};
    return answer(request, 0, 0);
}

static bool before(struct sw_request *request)
{
    if (request->action == SW_DO_STATFS) {
        struct statfs *status = request->argument;
        memset(status, 0, sizeof *status);
        status->f_type = LL_SUPER_MAGIC;
        return answer(request, 0, 0);
    }
    if (request->action == SW_DO_CONTROL && request->command == LL_IOC_LOV_SETSTRIPE)
        return set(request);
    if (request->action == SW_DO_CONTROL && request->command == LL_IOC_LOV_GETSTRIPE)
        return get(request);
    if (request->action == SW_DO_CONTROL && request->command == LL_IOC_LADVISE)
        return answer(request, 0, 0);
    return true;
}

const struct sw_hook sw_hook_extra = {
    .name = "extra",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
