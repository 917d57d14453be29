/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory has a record from its first call on; the first SW_DIRECTORIES of a process have one
 * of their own, all others share one. So a walk over a million directories does not create a
 * million records.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/single_threaded.h>

#include "counting.h"
#include "metadata.h"
#include "system.h"

#define SW_DIRECTORIES 64
#define SLOTS (2 * SW_DIRECTORIES) /* a power of two */

static struct sw_metadata_record *slots[SLOTS];
static struct sw_metadata_record *others;
static unsigned n_directories;
static bool stopped; /* there is no room for any record */

/* Returns the record, or NULL and the slot where it belongs. */
static struct sw_metadata_record *look_up(const char *path, const struct sw_split *split,
                                          unsigned *slot)
{
    size_t bytes = split->directory_bytes;
    for (*slot = (unsigned)split->directory_hash % SLOTS;; *slot = (*slot + 1) % SLOTS) {
        struct sw_metadata_record *record = __atomic_load_n(&slots[*slot], __ATOMIC_ACQUIRE);
        if (record == NULL ||
            (record->path_bytes == bytes && memcmp(record->path, path, bytes) == 0))
            return record;
    }
}

static struct sw_metadata_record *create(const char *path, size_t bytes)
{
    uint32_t room = (uint32_t)((sizeof(struct sw_metadata_record) + bytes + 8) / 8 * 8);
    struct sw_metadata_record *record = sw_container_reserve(room);
    if (record == NULL)
        return NULL;
    record->header.kind = SW_RECORD_METADATA;
    record->header.version = SW_CONTAINER_VERSION;
    record->path_bytes = (uint32_t)bytes;
    memcpy(record->path, path, bytes);
    sw_container_commit(&record->header, room);
    return record;
}

/* Call under the lock: another thread may have been first. */
static struct sw_metadata_record *add_directory(const char *path, const struct sw_split *split)
{
    unsigned slot;
    struct sw_metadata_record *record = look_up(path, split, &slot);
    if (record != NULL)
        return record;
    bool own = n_directories < SW_DIRECTORIES;
    struct sw_metadata_record **place = own ? &slots[slot] : &others;
    if (own || others == NULL) {
        record = create(path, own ? split->directory_bytes : 0);
        n_directories += own && record != NULL;
        stopped = record == NULL;
        __atomic_store_n(place, record, __ATOMIC_RELEASE);
    }
    return own ? record : others;
}

struct sw_metadata_record *sw_metadata_of(const char *path, const struct sw_split *split,
                                          bool locked)
{
    struct sw_guarded guarded;
    unsigned slot;
    struct sw_metadata_record *record = look_up(path, split, &slot);
    if (record == NULL && __atomic_load_n(&n_directories, __ATOMIC_RELAXED) >= SW_DIRECTORIES)
        record = __atomic_load_n(&others, __ATOMIC_ACQUIRE);
    if (SW_LIKELY(record != NULL) || stopped || (!locked && !sw_lock(&guarded)))
        return record;
    record = add_directory(path, split);
    if (!locked)
        sw_unlock(&guarded);
    return record;
}

bool sw_metadata_is_others(const struct sw_metadata_record *record)
{
    return record->path_bytes == 0;
}

__attribute__((hot)) void sw_metadata_add(struct sw_metadata_record *record, enum sw_action action,
                                          bool failed, uint64_t ns)
{
    bool alone = __libc_single_threaded;
    add(&record->actions[action].count, 1, alone);
    add(&record->actions[action].ns, ns, alone);
    if (failed)
        add(&record->actions[action].failed, 1, alone);
}

void sw_metadata_forget(void)
{
    memset(slots, 0, sizeof slots);
    others = NULL;
    n_directories = 0;
    stopped = false;
}
