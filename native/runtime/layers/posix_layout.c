/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of files on Lustre, real or emulated, which is recorded once for each larger file
 * when it is closed. The client has it since the open: the query is local, and fails at once
 * elsewhere. Source of the binary form: llapi_layout(7) and lustreapi's lov_user_md,
 * lov_comp_md_v1 (documented).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lustre/lustre/lustre_user.h"
#include "../core/internal.h"
#include "../emulate/emulator.h"
#include "../core/descriptors.h"

#define LEAST_BYTES                                                                               \
    (UINT64_C(1) << 20) /* moved by this process: less does not depend on stripes */
#define MAGIC_POOL 0x0BD30BD0u
#define MAGIC_COMPOSITE 0x0BD60BD0u
#define COMPONENT_EXISTS 0x10u
#define BUFFER_BYTES 65536 /* a layout of 2,000 stripes */

struct layout {
    uint32_t stripes;
    uint32_t stripe_bytes;
    uint32_t targets; /* of the storage; 0: unknown */
};

struct component { /* 48 bytes */
    uint32_t id;
    uint32_t flags;
    uint64_t start;
    uint64_t end;
    uint32_t offset;
    uint32_t bytes;
    uint32_t unused[4];
};

/* Keeps the layout of the component with the most stripes. */
static void read_one(const char *text, size_t bytes, struct layout *layout)
{
    struct lov_user_md found;
    if (bytes < sizeof found)
        return;
    memcpy(&found, text, sizeof found);
    bool known = found.lmm_magic == LOV_USER_MAGIC || found.lmm_magic == MAGIC_POOL;
    if (!known || found.lmm_stripe_count <= layout->stripes)
        return;
    layout->stripes = found.lmm_stripe_count;
    layout->stripe_bytes = found.lmm_stripe_size;
}

static void read_composite(const char *text, size_t bytes, struct layout *layout)
{
    enum { HEADER_BYTES = 32, ENTRIES_AT = 14 };
    uint16_t entries;
    struct component entry;
    memcpy(&entries, text + ENTRIES_AT, sizeof entries);
    for (size_t i = 0; i < entries && HEADER_BYTES + (i + 1) * sizeof entry <= bytes; i++) {
        memcpy(&entry, text + HEADER_BYTES + i * sizeof entry, sizeof entry);
        if ((entry.flags & COMPONENT_EXISTS) != 0 && entry.offset < bytes)
            read_one(text + entry.offset, bytes - entry.offset, layout);
    }
}

/* The buffer is too large for the stack of a signal handler. Returns false if it is in use. */
static bool of_lustre(int fd, struct layout *layout)
{
    static char text[BUFFER_BYTES];
    static bool used;
    uint32_t magic;
    if (__atomic_exchange_n(&used, true, __ATOMIC_ACQUIRE))
        return false;
    long bytes = syscall(SYS_fgetxattr, fd, "lustre.lov", text, sizeof text);
    if (bytes >= (long)sizeof(struct lov_user_md)) {
        memcpy(&magic, text, sizeof magic);
        if (magic == MAGIC_COMPOSITE)
            read_composite(text, (size_t)bytes, layout);
        else
            read_one(text, (size_t)bytes, layout);
    }
    __atomic_store_n(&used, false, __ATOMIC_RELEASE);
    return true;
}

static bool query(int fd, struct layout *layout)
{
    struct sw_emulated *emulated = sw_emulating() ? sw_emulated_file(fd) : NULL;
    if (emulated == NULL)
        return of_lustre(fd, layout);
    if (sw_is_lustre(emulated->storage)) {
        uint64_t packed = sw_emulated_layout(fd, emulated);
        layout->stripes = sw_layout_count(packed);
        layout->stripe_bytes = sw_layout_size(packed);
        layout->targets = emulated->storage->header->targets;
    }
    return true;
}

static uint64_t moved(const struct sw_file_record *record)
{
    uint64_t bytes = 0;
    for (int op = 0; op < SW_OP_COUNT; op++)
        bytes += record->ops[op].bytes;
    return bytes;
}

void sw_layout_record(int fd, struct sw_file *file)
{
    char text[128];
    if (file == NULL || file->layout_seen || !sw_recording() || moved(file->record) < LEAST_BYTES)
        return;
    int saved_errno = errno;
    struct layout layout = {0, 0, 0};
    file->layout_seen = query(fd, &layout);
    if (layout.stripes > 0) {
        snprintf(text, sizeof text, "stripe_count=%u\nstripe_bytes=%u\ntargets=%u\nemulated=%d\n",
                 layout.stripes, layout.stripe_bytes, layout.targets, layout.targets != 0);
        sw_settings_add((int)file->layer, sw_file_id(file), SW_SETTINGS_REPORTED, text);
    }
    errno = saved_errno;
}
