/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with a short probe sequence; if it is full, the oldest entry is replaced. */
#include <sched.h>
#include <string.h>

#include "layers/handles.h"

#define PATIENCE 10000

/* Held for a few loads and stores, without calls. It gives up eventually: a thread may have held
 * it when another one forked, and in the child it is never released. */
static bool lock(struct sw_handle_table *table)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (__atomic_exchange_n(&table->lock, 1, __ATOMIC_ACQUIRE) == 0)
            return true;
        sched_yield();
    }
    return false;
}

static void unlock(struct sw_handle_table *table)
{
    __atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE);
}

static size_t first_slot(uint64_t handle)
{
    return (size_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (SW_HANDLE_SLOTS - 1);
}

static struct sw_handle_entry *slot(struct sw_handle_table *table, uint64_t handle, size_t probe)
{
    return &table->entry[(first_slot(handle) + probe) & (SW_HANDLE_SLOTS - 1)];
}

static struct sw_handle_entry *find(struct sw_handle_table *table, uint64_t handle)
{
    for (size_t probe = 0; handle != 0 && probe < SW_HANDLE_PROBES; probe++)
        if (slot(table, handle, probe)->handle == handle)
            return slot(table, handle, probe);
    return NULL;
}

/* Returns a free slot, otherwise the oldest one. */
static struct sw_handle_entry *room(struct sw_handle_table *table, uint64_t handle)
{
    struct sw_handle_entry *best = slot(table, handle, 0);
    for (size_t probe = 0; probe < SW_HANDLE_PROBES; probe++) {
        struct sw_handle_entry *entry = slot(table, handle, probe);
        if (entry->handle == 0)
            return entry;
        if (entry->age < best->age)
            best = entry;
    }
    return best;
}

void sw_handle_put(struct sw_handle_table *table, const struct sw_handle_entry *entry)
{
    if (entry->handle == 0 || !lock(table))
        return;
    struct sw_handle_entry *at = find(table, entry->handle);
    if (at == NULL)
        at = room(table, entry->handle);
    *at = *entry;
    at->age = ++table->clock;
    unlock(table);
}

bool sw_handle_find(struct sw_handle_table *table, uint64_t handle, struct sw_handle_entry *entry)
{
    bool found = false;
    if (lock(table)) {
        const struct sw_handle_entry *at = find(table, handle);
        found = at != NULL;
        if (found)
            *entry = *at;
        unlock(table);
    }
    if (!found)
        memset(entry, 0, sizeof *entry);
    return found;
}

bool sw_handle_drop(struct sw_handle_table *table, uint64_t handle)
{
    if (!lock(table))
        return false;
    struct sw_handle_entry *at = find(table, handle);
    if (at != NULL)
        at->handle = 0;
    unlock(table);
    return at != NULL;
}
