/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dataset has a record for each direction from its first transfer on. A program may create one
 * dataset after another: the first SW_TRANSFERS_NAMED records of a process have the name of one,
 * all further datasets of a file share a record, and files beyond SHARED have none.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/single_threaded.h>

#include "core/transfers.h"
#include "counting.h"

#define SHARED 64
#define INDEPENDENT_MODES 2 /* no collective I/O, and chunks of which each was independent */

static struct sw_transfers_record *named[SW_TRANSFERS_NAMED];
static struct sw_transfers_record *shared[SHARED];
static unsigned n_named;
static unsigned n_shared;

static struct sw_transfers_record *find(struct sw_transfers_record *const *records, unsigned n,
                                        uint64_t file_id, const char *name, size_t bytes,
                                        bool writes)
{
    for (unsigned i = 0; i < n; i++) {
        struct sw_transfers_record *record = records[i];
        if (record->file_id == file_id && record->writes == writes &&
            record->name_bytes == bytes && memcmp(record->name, name, bytes) == 0)
            return record;
    }
    return NULL;
}

static struct sw_transfers_record *create(uint64_t file_id, const char *name, size_t bytes,
                                          bool writes, uint32_t element_bytes)
{
    uint32_t room = (uint32_t)((sizeof(struct sw_transfers_record) + bytes + 8) / 8 * 8);
    struct sw_transfers_record *record = sw_container_reserve(room);
    if (record == NULL)
        return NULL;
    record->header.kind = SW_RECORD_TRANSFERS;
    record->header.version = SW_CONTAINER_VERSION;
    record->file_id = file_id;
    record->writes = writes;
    record->element_bytes = bytes != 0 ? element_bytes : 0;
    record->name_bytes = (uint32_t)bytes;
    memcpy(record->name, name, bytes);
    sw_container_commit(&record->header, room);
    return record;
}

/* Call under the lock. */
static struct sw_transfers_record *get(uint64_t file_id, const char *name, bool writes,
                                       uint32_t element_bytes)
{
    size_t bytes = strlen(name);
    struct sw_transfers_record *record =
        bytes != 0 ? find(named, n_named, file_id, name, bytes, writes) : NULL;
    if (record == NULL && bytes != 0 && n_named < SW_TRANSFERS_NAMED) {
        record = create(file_id, name, bytes, writes, element_bytes);
        if (record != NULL)
            named[n_named++] = record;
        return record;
    }
    if (record == NULL)
        record = find(shared, n_shared, file_id, "", 0, writes);
    if (record == NULL && n_shared < SHARED) {
        record = create(file_id, "", 0, writes, 0);
        if (record != NULL)
            shared[n_shared++] = record;
    }
    return record;
}

struct sw_transfers_record *sw_transfers_of(const struct sw_file *file, const char *name,
                                            bool writes, uint32_t element_bytes)
{
    struct sw_guarded guarded;
    if (file == NULL || !sw_lock(&guarded))
        return NULL;
    struct sw_transfers_record *record = get(sw_file_id(file), name, writes, element_bytes);
    sw_unlock(&guarded);
    return record;
}

static void add_causes(uint64_t *counters, uint32_t causes, bool alone)
{
    for (; causes != 0; causes &= causes - 1)
        if (__builtin_ctz(causes) < SW_H5_CAUSES)
            add(&counters[__builtin_ctz(causes)], 1, alone);
}

static void add_collective(struct sw_transfers_record *record, const struct sw_transfer *transfer,
                           bool alone)
{
    add(&record->collective, 1, alone);
    add(&record->collective_ns, transfer->ns, alone);
    if (!transfer->answered || transfer->mode >= SW_H5_MODES)
        return;
    add(&record->answered, 1, alone);
    add(&record->modes[transfer->mode], 1, alone);
    if (transfer->mode < INDEPENDENT_MODES)
        add(&record->independent_ns, transfer->ns, alone);
    if (transfer->chunk_mode >= 0 && transfer->chunk_mode < SW_H5_CHUNK_MODES)
        add(&record->chunk_modes[transfer->chunk_mode], 1, alone);
    add_causes(record->local_causes, transfer->local_causes, alone);
    add_causes(record->global_causes, transfer->global_causes, alone);
}

static void add_conversion(struct sw_transfers_record *record, const struct sw_transfer *transfer,
                           bool alone)
{
    if (transfer->conversion == SW_CONVERSION_UNKNOWN)
        return;
    add(&record->compared, 1, alone);
    if (transfer->conversion == SW_CONVERSION_VALUES) {
        add(&record->converted, 1, alone);
        add(&record->converted_bytes, transfer->bytes, alone);
        add(&record->converted_ns, transfer->ns, alone);
    } else if (transfer->conversion == SW_CONVERSION_MEMBERS) {
        add(&record->members, 1, alone);
        add(&record->members_bytes, transfer->bytes, alone);
        add(&record->members_ns, transfer->ns, alone);
    }
}

void sw_transfers_add(struct sw_transfers_record *record, const struct sw_transfer *transfer)
{
    bool alone = __libc_single_threaded;
    add(&record->count, 1, alone);
    add(&record->bytes, transfer->bytes, alone);
    add(&record->ns, transfer->ns, alone);
    add_conversion(record, transfer, alone);
    if (transfer->collective)
        add_collective(record, transfer, alone);
}

void sw_transfers_forget(void)
{
    n_named = n_shared = 0;
}
