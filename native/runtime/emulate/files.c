/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of an emulated storage: a table of slots shared by all processes. A slot is taken by
 * one compare-and-swap of its key. Only if a third process removes a file can two processes that
 * take a slot at the same moment find different ones: then they use different clocks.
 */
#define _GNU_SOURCE
#include "emulator.h"

#define FREE 0
#define WAS_IN_USE 1
#define PROBES 64

static uint64_t mixed(uint64_t one, uint64_t other)
{
    uint64_t word = (one ^ other) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 29;
}

uint64_t sw_file_key(const struct statx *status)
{
    uint64_t key =
        mixed(status->stx_ino, (uint64_t)status->stx_dev_major << 32 | status->stx_dev_minor);
    if ((status->stx_mask & STATX_BTIME) != 0)
        key = mixed(key, (uint64_t)status->stx_btime.tv_sec * UINT64_C(1000000000) +
                             status->stx_btime.tv_nsec);
    return key > WAS_IN_USE ? key : key + 2;
}

static uint32_t place(const struct sw_emulator *storage, uint64_t key, uint32_t probe)
{
    return ((uint32_t)(mixed(key, 0) >> 32) + probe) & (storage->header->files - 1);
}

/* Returns SW_NO_FILE if it has none; *room: the first slot that it could have. */
static uint32_t find(const struct sw_emulator *storage, uint64_t key, uint32_t *room)
{
    *room = SW_NO_FILE;
    for (uint32_t probe = 0; probe < PROBES && probe < storage->header->files; probe++) {
        uint32_t slot = place(storage, key, probe);
        uint64_t seen = __atomic_load_n(&storage->files[slot].key, __ATOMIC_ACQUIRE);
        if (seen == key)
            return slot;
        if (seen <= WAS_IN_USE && *room == SW_NO_FILE)
            *room = slot;
        if (seen == FREE)
            break;
    }
    return SW_NO_FILE;
}

static bool take(struct sw_emulate_file *file, uint64_t key)
{
    uint64_t seen = __atomic_load_n(&file->key, __ATOMIC_RELAXED);
    return seen <= WAS_IN_USE && __atomic_compare_exchange_n(&file->key, &seen, key, false,
                                                             __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

uint32_t sw_file_slot(struct sw_emulator *storage, uint64_t key, bool add, bool *is_new)
{
    uint32_t room;
    uint32_t slot;
    *is_new = false;
    while ((slot = find(storage, key, &room)) == SW_NO_FILE && add) {
        if (room == SW_NO_FILE)
            return place(storage, key, 0);
        if (take(&storage->files[room], key)) {
            *is_new = true;
            return room;
        }
    }
    return slot;
}

static void clear(struct sw_emulate_file *file)
{
    __atomic_fetch_add(&file->uses, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&file->layout, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&file->lock_mode, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&file->created, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 2; i++) {
        __atomic_store_n(&file->openers[i], 0, __ATOMIC_RELAXED);
        __atomic_store_n(&file->writers[i], 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&file->nodes, 0, __ATOMIC_RELAXED);
}

void sw_file_release(struct sw_emulator *storage, uint64_t key)
{
    uint32_t room;
    uint32_t slot = find(storage, key, &room);
    if (slot == SW_NO_FILE)
        return;
    clear(&storage->files[slot]);
    __atomic_compare_exchange_n(&storage->files[slot].key, &key, WAS_IN_USE, false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

uint64_t sw_file_settle(struct sw_emulator *storage, uint32_t slot, uint64_t key, uint64_t layout)
{
    struct sw_emulate_file *file = &storage->files[slot];
    uint64_t seen = 0;
    if (__atomic_load_n(&file->key, __ATOMIC_ACQUIRE) != key) /* removed, or the table is full */
        return layout;
    if (__atomic_compare_exchange_n(&file->layout, &seen, layout, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return layout;
    return seen;
}
