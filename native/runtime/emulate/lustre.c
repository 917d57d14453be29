/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a Lustre client: statfs, and the ioctls for layouts and locks. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include "emulator.h"
#include "../../lustre/lustre/lustre_user.h"
#include "../core/system.h"

#define LOV_USER_MAGIC_V3 0x0BD30BD0 /* the same, with the name of a pool */

/* ---- the program's memory ----------------------------------------------------------------------
 */

/* The pointer may be invalid: then the kernel reports it. */
static bool copy(bool out, void *own, void *theirs, size_t bytes)
{
    struct iovec here = {own, bytes};
    struct iovec there = {theirs, bytes};
    long number = out ? SYS_process_vm_writev : SYS_process_vm_readv;
    long moved = syscall(number, (long)sw_sys_getpid(), &here, 1L, &there, 1L, 0L);
    if (moved < 0 && (errno == ENOSYS || errno == EPERM)) {
        memcpy(out ? theirs : own, out ? own : theirs, bytes);
        return true;
    }
    return moved == (long)bytes;
}

static bool answer(struct sw_request *request, int error)
{
    request->result = error == 0 ? 0 : -1;
    request->error = error;
    return true;
}

/* ---- layouts -----------------------------------------------------------------------------------
 */

/* A count of 0xffff means all targets; a count or size of 0 that of the directory. */
static int set_layout(struct sw_request *request, struct sw_emulated *file)
{
    struct lov_user_md asked;
    if (!copy(false, &asked, request->argument, sizeof asked))
        return EFAULT;
    if (asked.lmm_magic != LOV_USER_MAGIC && asked.lmm_magic != LOV_USER_MAGIC_V3)
        return EINVAL;
    struct sw_layout_wish wish = {
        .count = asked.lmm_stripe_count == UINT16_MAX ? -1 : asked.lmm_stripe_count,
        .size = asked.lmm_stripe_size,
        .first = asked.lmm_stripe_offset == UINT16_MAX ? -1 : asked.lmm_stripe_offset,
    };
    return sw_emulated_set_layout(request->fd, file, wish);
}

static bool put_objects(char *out, uint64_t layout, uint32_t targets)
{
    for (uint32_t i = 0; i < sw_layout_count(layout); i++) {
        struct lov_user_ost_data object = {
            .l_object = {i + 1, 0},
            .l_ost_idx = (sw_layout_first(layout) + i) % targets,
        };
        if (!copy(true, &object, out + i * sizeof object, sizeof object))
            return false;
    }
    return true;
}

/* On input, the count is the number of objects for which there is room. */
static int get_layout(struct sw_request *request, struct sw_emulated *file)
{
    struct lov_user_md found;
    char *out = request->argument;
    if (!copy(false, &found, out, sizeof found))
        return EFAULT;
    uint64_t layout = sw_emulated_layout(request->fd, file);
    bool has_room = found.lmm_stripe_count != 0;
    if (has_room && found.lmm_stripe_count < sw_layout_count(layout))
        return EOVERFLOW;
    found = (struct lov_user_md){
        .lmm_magic = LOV_USER_MAGIC,
        .lmm_pattern = 1,
        .lmm_stripe_size = sw_layout_size(layout),
        .lmm_stripe_count = (uint16_t)sw_layout_count(layout),
    };
    bool put =
        copy(true, &found, out, sizeof found) &&
        (!has_room || put_objects(out + sizeof found, layout, file->storage->header->targets));
    return put ? 0 : EFAULT;
}

/* ---- locks -------------------------------------------------------------------------------------
 */

/* Requests locks ahead of time; the law charges the cost where the data is written. */
static int advise(struct sw_request *request)
{
    struct llapi_ladvise_hdr asked;
    uint32_t sent = LLA_RESULT_SENT;
    if (!copy(false, &asked, request->argument, sizeof asked))
        return EFAULT;
    if (asked.lah_magic != LADVISE_MAGIC || asked.lah_count > LAH_COUNT_MAX)
        return EINVAL;
    char *out = (char *)request->argument + sizeof asked;
    for (uint32_t i = 0; i < asked.lah_count; i++) {
        char *result = out + i * sizeof(struct llapi_lu_ladvise) +
                       offsetof(struct llapi_lu_ladvise, lla_value3);
        if (!copy(true, &sent, result, sizeof sent))
            return EFAULT;
    }
    return 0;
}

/* ---- for the member ----------------------------------------------------------------------------
 */

bool sw_lustre_control(struct sw_request *request, struct sw_emulated *file, uint64_t start_ns,
                       uint64_t *end_ns)
{
    uint32_t stripes;
    uint64_t served_ns;
    int error;
    *end_ns = 0;
    switch (request->command) {
    case LL_IOC_LOV_SETSTRIPE:
        error = set_layout(request, file);
        stripes = error == 0 ? sw_layout_count(file->layout) : 0;
        SW_EMULATE_COUNT(file->storage, metadata, 1);
        *end_ns =
            sw_law_metadata(file->storage, SW_OPERATION_STAT, 1, stripes, start_ns, &served_ns);
        if (error == 0) /* the client opens the file with the layout */
            sw_served_metadata(file->storage, SW_AT_METADATA_OPEN, served_ns);
        return answer(request, error);
    case LL_IOC_LOV_GETSTRIPE: /* the client has it since the open; ROMIO's driver asks */
        if ((file->state & SW_EMULATED_THRESHOLD) == 0)
            __atomic_fetch_or(&file->state, SW_EMULATED_ALWAYS_WRITE, __ATOMIC_RELAXED);
        return answer(request, get_layout(request, file));
    case LL_IOC_GROUP_LOCK:
    case LL_IOC_GROUP_UNLOCK:
        return answer(request, 0);
    case LL_IOC_LADVISE:
        return answer(request, advise(request));
    default:
        return false;
    }
}

void sw_lustre_statfs(struct sw_request *request)
{
    struct statfs *status = request->argument;
    if (status != NULL && sw_is_lustre(request->emulated.storage))
        status->f_type = LL_SUPER_MAGIC;
}
