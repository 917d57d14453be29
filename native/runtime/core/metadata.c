/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory has a record from its first call on; the first SW_DIRECTORIES of a process have
 * one of their own, all others one in common.  A walk over a million directories leaves no
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
static bool stopped; /* there is no room for any */

/* Of the text before the last slash; "/" itself for what is directly in there. */
static size_t directory_bytes(const char *path, size_t bytes)
{
    while (bytes > 1 && path[bytes - 1] != '/')
        bytes--;
    return bytes > 1 ? bytes - 1 : bytes;
}

/* Eight bytes at a time: it is taken of every name that is used. */
static unsigned hash(const char *path, size_t bytes)
{
    uint64_t value = bytes;
    uint64_t word;
    for (; bytes >= sizeof word; path += sizeof word, bytes -= sizeof word) {
        __builtin_memcpy(&word, path, sizeof word);
        value = (value ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        value ^= value >> 29;
    }
    for (word = 0; bytes > 0; bytes--)
        word = word << 8 | (unsigned char)path[bytes - 1];
    value = (value ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(value >> 32);
}

/* The record, or NULL and the slot where it belongs. */
static struct sw_metadata_record *look_up(const char *path, size_t bytes, unsigned *slot)
{
    for (*slot = hash(path, bytes) % SLOTS;; *slot = (*slot + 1) % SLOTS) {
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

/* Under the lock: another thread may have been first. */
static struct sw_metadata_record *add_directory(const char *path, size_t bytes)
{
    unsigned slot;
    struct sw_metadata_record *record = look_up(path, bytes, &slot);
    if (record != NULL)
        return record;
    bool own = n_directories < SW_DIRECTORIES;
    struct sw_metadata_record **place = own ? &slots[slot] : &others;
    if (own || others == NULL) {
        record = create(path, own ? bytes : 0);
        n_directories += own && record != NULL;
        stopped = record == NULL;
        __atomic_store_n(place, record, __ATOMIC_RELEASE);
    }
    return own ? record : others;
}

static struct sw_metadata_record *record_of(const char *path, size_t bytes, bool locked)
{
    struct sw_guarded guarded;
    unsigned slot;
    struct sw_metadata_record *record = look_up(path, bytes, &slot);
    if (record == NULL && __atomic_load_n(&n_directories, __ATOMIC_RELAXED) >= SW_DIRECTORIES)
        record = __atomic_load_n(&others, __ATOMIC_ACQUIRE);
    if (SW_LIKELY(record != NULL) || stopped || (!locked && !sw_lock(&guarded)))
        return record;
    record = add_directory(path, bytes);
    if (!locked)
        sw_unlock(&guarded);
    return record;
}

void sw_metadata_add(const char *path, size_t bytes, enum sw_action action, bool failed,
                     uint64_t ns, bool locked)
{
    struct sw_metadata_record *record = record_of(path, directory_bytes(path, bytes), locked);
    if (record == NULL)
        return;
    bool alone = __libc_single_threaded;
    add(&record->actions[action].count, 1, alone);
    add(&record->actions[action].failed, failed, alone);
    add(&record->actions[action].ns, ns, alone);
}

void sw_metadata_forget(void)
{
    memset(slots, 0, sizeof slots);
    others = NULL;
    n_directories = 0;
    stopped = false;
}
