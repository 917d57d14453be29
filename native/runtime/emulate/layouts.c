/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* How a file is striped: what was requested, what the storage makes of it, where it is stored. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "../core/system.h"

#define TEXT_BYTES 80

/* ---- from a wish to a layout -----------------------------------------------------------------
 */

static uint64_t refused(struct sw_emulator *storage, const char *why)
{
    static bool noted;
    SW_EMULATE_COUNT(storage, layouts_refused, 1);
    sw_emulator_note_once(why, &noted);
    return 0;
}

static uint32_t stripes_of(struct sw_emulator *storage, int64_t count)
{
    static bool noted;
    uint32_t targets = storage->header->targets;
    if (count < 0)
        return targets;
    if (count > targets) {
        SW_EMULATE_COUNT(storage, stripes_cut, 1);
        sw_emulator_note_once(
            "emulation: a layout has more stripes than the storage has targets: it gets one "
            "on each, as on Lustre",
            &noted);
        return targets;
    }
    return (uint32_t)count;
}

static uint32_t default_size(const struct sw_emulator *storage)
{
    uint64_t size = storage->header->stripe_size;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX - SW_EMULATE_GRAIN + 1;
}

/* Successive files go around the targets. */
static uint32_t next_target(const struct sw_emulator *storage, uint32_t count)
{
    uint64_t *next = &storage->clocks[SW_CLOCK_NEXT_TARGET];
    return (uint32_t)(__atomic_fetch_add(next, count, __ATOMIC_RELAXED) %
                      storage->header->targets);
}

uint64_t sw_layout_of(struct sw_emulator *storage, struct sw_layout_wish wish, int64_t fixed)
{
    const struct sw_emulate_header *header = storage->header;
    if (wish.size < 0 || wish.size % SW_EMULATE_GRAIN != 0 || wish.size > UINT32_MAX)
        return refused(storage,
                       "emulation: a stripe size is not a multiple of 64 KiB, or too large: as on "
                       "Lustre, that layout is refused");
    if (wish.first >= header->targets)
        return refused(storage,
                       "emulation: a layout's first target does not exist: as on Lustre, that "
                       "layout is refused");
    uint32_t count = stripes_of(storage, wish.count != 0 ? wish.count : header->stripe_count);
    count = count != 0 ? count : 1;
    uint32_t size = wish.size != 0 ? (uint32_t)wish.size : default_size(storage);
    uint32_t first;
    if (wish.first >= 0)
        first = (uint32_t)wish.first;
    else
        first = fixed >= 0 ? (uint32_t)(fixed % header->targets) : next_target(storage, count);
    return sw_layout_pack(count, first, size);
}

struct sw_layout_wish sw_layout_merged(struct sw_layout_wish wish, struct sw_layout_wish other)
{
    return (struct sw_layout_wish){
        .count = wish.count != 0 ? wish.count : other.count,
        .size = wish.size != 0 ? wish.size : other.size,
        .first = wish.first >= 0 ? wish.first : other.first,
    };
}

/* ---- where it is kept ------------------------------------------------------------------------
 */

static bool parse_words(const char *text, struct sw_layout_wish *wish)
{
    char *end;
    wish->count = strtoll(text, &end, 10);
    if (end == text || *end != ' ')
        return false;
    wish->size = strtoll(end, &end, 10);
    if (*end != ' ')
        return false;
    wish->first = strtoll(end, &end, 10);
    return *end == '\0' || *end == '\n';
}

/* `bytes`: what getxattr returned, which has set errno. */
static bool parse(struct sw_emulator *storage, char *text, long bytes, struct sw_layout_wish *wish)
{
    if (bytes < 0 && errno != ERANGE)
        return false;
    if (bytes >= 0)
        text[bytes] = '\0';
    if (bytes >= 0 && parse_words(text, wish))
        return true;
    SW_EMULATE_COUNT(storage, layouts_refused, 1); /* no note: some callers hold the lock for it */
    return false;
}

bool sw_layout_read(struct sw_emulator *storage, int fd, struct sw_layout_wish *wish)
{
    char text[TEXT_BYTES];
    return parse(storage, text,
                 syscall(SYS_fgetxattr, fd, SW_EMULATE_ATTRIBUTE, text, sizeof text - 1), wish);
}

static bool read_directory(struct sw_emulator *storage, const char *path,
                           struct sw_layout_wish *wish)
{
    char text[TEXT_BYTES];
    return parse(storage, text,
                 syscall(SYS_getxattr, path, SW_EMULATE_ATTRIBUTE, text, sizeof text - 1), wish);
}

struct sw_layout_wish sw_layout_inherited(struct sw_emulator *storage, char *path)
{
    struct sw_layout_wish wish = SW_NO_WISH;
    for (char *slash = strrchr(path, '/'); slash != NULL; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (read_directory(storage, slash != path ? path : "/", &wish))
            return wish;
    }
    return SW_NO_WISH;
}

void sw_layout_keep(struct sw_emulator *storage, int fd, uint64_t layout)
{
    static bool noted;
    char text[TEXT_BYTES];
    int bytes = snprintf(text, sizeof text, "%u %u %u", sw_layout_count(layout),
                         sw_layout_size(layout), sw_layout_first(layout));
    if (syscall(SYS_fsetxattr, fd, SW_EMULATE_ATTRIBUTE, text, (size_t)bytes, 0) == 0)
        return;
    SW_EMULATE_COUNT(storage, layouts_unkept, 1);
    sw_emulator_note_once(
        "emulation: the layout of a file could not be kept as an attribute of it: "
        "`stripewise machine layout get` and later runs will not know it",
        &noted);
}
