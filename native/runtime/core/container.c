/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of this process in the node's container, and the records in them. Everything here runs
 * under sw_lock. */
#define _GNU_SOURCE
#include <string.h>

#include "container_file.h"

/* Most processes of a run with thousands of them do little: blocks begin small and double. */
#define FIRST_BLOCK_BYTES SW_PAGE
#define SECOND_BLOCK_BYTES (2 * SW_PAGE)
#define LARGEST_BLOCK_BYTES (256 * SW_PAGE)
_Static_assert(sizeof(struct sw_block_header) + sizeof(struct sw_process) +
                       sizeof(struct sw_file_record) + sizeof(struct sw_metadata_record) <
                   FIRST_BLOCK_BYTES,
               "the first block has room for a file");

static struct sw_process stand_in = {.rank = -1};
struct sw_process *sw_process_live = &stand_in;

/* Records with a common limit: those of the counters, and those of the trace, whose failure does
 * not affect the counters. */
struct region {
    char *free; /* room that is left in the newest block */
    char *end;
    uint64_t next_block_bytes;
    uint64_t total_bytes;
    const char *trouble; /* the last one */
    uint64_t
        until_ns; /* it does not grow before: UINT64_MAX unless the failure may be temporary */
};

static struct {
    bool attempted;
    bool mapped;
    uint64_t process_id;
    uint64_t last_block; /* its offset */
    struct region counters;
    struct region trace;  /* what threads share: names, shapes, time bins */
    struct region events; /* THREAD and EVENTS blocks; their owners manage the room */
} container;

#define PASSING_NS UINT64_C(1000000000)

static void stop(struct region *region, const struct sw_trouble *trouble)
{
    __atomic_store_n(&region->until_ns, trouble->passing ? sw_now_ns() + PASSING_NS : UINT64_MAX,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&region->trouble, trouble->text, __ATOMIC_RELEASE);
}

static void stop_at_bound(struct region *region, const char *text)
{
    const struct sw_trouble trouble = {.text = text};
    stop(region, &trouble);
}

static bool has_stopped(const struct region *region)
{
    return __atomic_load_n(&region->trouble, __ATOMIC_ACQUIRE) != NULL &&
           sw_now_ns() < __atomic_load_n(&region->until_ns, __ATOMIC_RELAXED);
}

/* ---- blocks ------------------------------------------------------------------------ */

/* Adds a block to a region; returns its offset, or 0. After a permanent failure, the region gets
 * no further blocks. */
static uint64_t add_block(struct region *region, int kind, uint64_t bytes, char **mapped)
{
    struct sw_trouble trouble;
    struct sw_block_header header = {
        .magic = SW_BLOCK_MAGIC,
        .kind = (uint16_t)kind,
        .version = SW_CONTAINER_VERSION,
        .bytes = bytes,
        .process_id = container.process_id,
        .pid = (uint32_t)sw_options.pid,
        .previous = container.last_block,
    };
    uint64_t offset = sw_file_append(&header, mapped, &trouble);
    if (offset == 0) {
        stop(region, &trouble);
        return 0;
    }
    container.process_id = header.process_id;
    container.last_block = offset;
    region->total_bytes += bytes;
    return offset;
}

static char *add_counters_block(int kind, uint64_t bytes)
{
    struct region *region = &container.counters;
    if (region->total_bytes + bytes > sw_options.max_bytes) {
        stop_at_bound(region, "the records of this process have reached " SW_ENV_MAX_BYTES);
        return NULL;
    }
    char *block;
    return add_block(region, kind, bytes, &block) != 0 ? block : NULL;
}

bool sw_container_open(void)
{
    if (container.attempted)
        return container.mapped;
    container.attempted = true;
    container.counters.next_block_bytes = SECOND_BLOCK_BYTES;
    container.trace.next_block_bytes = FIRST_BLOCK_BYTES;
    if (!sw_file_wanted())
        return false;
    char *block = add_counters_block(SW_BLOCK_PROCESS, FIRST_BLOCK_BYTES);
    if (block == NULL)
        return false;
    struct sw_process *process = (struct sw_process *)(block + sizeof(struct sw_block_header));
    *process = stand_in;
    sw_process_describe(process);
    container.counters.free = (char *)(process + 1);
    container.counters.end = block + FIRST_BLOCK_BYTES;
    container.mapped = true;
    __atomic_store_n(&sw_process_live, process, __ATOMIC_RELEASE);
    return true;
}

bool sw_container_mapped(void)
{
    return sw_process_live != &stand_in;
}

const char *sw_container_trouble(void)
{
    const struct region *regions[] = {&container.counters, &container.events, &container.trace};
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        if (regions[i]->trouble != NULL)
            return regions[i]->trouble;
    }
    return NULL;
}

/* ---- seal -------------------------------------------------------------------------- */

/* Limit on reading back what a process recorded, so that its end is not delayed. */
#define MOST_SEALED_BYTES (UINT64_C(256) << 20)

static uint64_t *seal_word(void)
{
    return &((struct sw_block_header *)(void *)sw_process_live - 1)->sealed;
}

bool sw_container_seal(void)
{
    uint64_t bytes = container.counters.total_bytes + container.trace.total_bytes +
                     container.events.total_bytes;
    uint64_t blocks = bytes > MOST_SEALED_BYTES ? 0 : sw_file_seal(container.last_block);
    if (blocks != 0)
        __atomic_store_n(seal_word(), blocks, __ATOMIC_SEQ_CST);
    return blocks != 0;
}

void sw_container_unseal(void)
{
    __atomic_store_n(seal_word(), 0, __ATOMIC_SEQ_CST);
}

/* The parent's mapping is kept: its paths are read when a descriptor is inherited. */
void sw_container_forget(void)
{
    memset(&container, 0, sizeof container);
    memset(&stand_in, 0, sizeof stand_in);
    stand_in.rank = -1;
    sw_process_live = &stand_in;
}

/* ---- records ------------------------------------------------------------------------ */

/* An eighth of the trace's limit is reserved for what threads share: names and time bins are still
 * recorded when there is no room for events. */
static uint64_t trace_left(const struct region *region)
{
    uint64_t most = sw_options.capture_bytes;
    uint64_t used = container.trace.total_bytes + container.events.total_bytes;
    uint64_t left = used < most ? most - used : 0;
    uint64_t kept =
        most / 8 > container.trace.total_bytes ? most / 8 - container.trace.total_bytes : 0;
    if (region == &container.events)
        left = left > kept ? left - kept : 0;
    return left / SW_PAGE * SW_PAGE;
}

/* Returns whether `least` bytes are left; *bytes is limited to what is left. */
static bool bound_trace(struct region *region, uint64_t *bytes, uint64_t least)
{
    uint64_t left = trace_left(region);
    if (left < least) {
        stop_at_bound(region, "the trace of this process has reached " SW_ENV_CAPTURE_BYTES);
        return false;
    }
    if (*bytes > left)
        *bytes = left;
    return true;
}

bool sw_container_has_trace_room(uint64_t bytes)
{
    return !has_stopped(&container.events) && trace_left(&container.events) >= bytes;
}

char *sw_container_thread_block(uint64_t bytes)
{
    struct region *events = &container.events;
    char *block;
    if (!sw_container_open() || has_stopped(events) || !bound_trace(events, &bytes, bytes) ||
        add_block(events, SW_BLOCK_THREAD, bytes, &block) == 0)
        return NULL;
    return block;
}

static uint64_t whole_pages(uint64_t payload)
{
    return (payload + sizeof(struct sw_block_header) + SW_PAGE - 1) / SW_PAGE * SW_PAGE;
}

uint64_t sw_container_events_block(uint64_t *room, uint64_t least)
{
    struct region *events = &container.events;
    uint64_t bytes = whole_pages(*room);
    if (has_stopped(events) || !bound_trace(events, &bytes, whole_pages(least)))
        return 0;
    uint64_t offset = add_block(events, SW_BLOCK_EVENTS, bytes, NULL);
    *room = bytes - sizeof(struct sw_block_header);
    return offset == 0 ? 0 : offset + sizeof(struct sw_block_header);
}

bool sw_container_put_events(uint64_t place, const void *records, uint64_t bytes)
{
    struct sw_trouble trouble;
    bool done = sw_file_put_records(place, records, bytes, &trouble);
    if (!done)
        stop(&container.events, &trouble);
    return done;
}

bool sw_container_trace_full(void)
{
    return has_stopped(&container.events);
}

bool sw_container_records_full(void)
{
    return has_stopped(&container.trace);
}

static char *add_records_block(struct region *region, uint64_t *bytes, uint64_t least)
{
    char *block;
    if (region != &container.trace)
        return add_counters_block(SW_BLOCK_RECORDS, *bytes);
    if (!bound_trace(region, bytes, least) ||
        add_block(region, SW_BLOCK_RECORDS, *bytes, &block) == 0)
        return NULL;
    return block;
}

static bool grow(struct region *region, uint32_t bytes)
{
    uint64_t least = whole_pages(bytes);
    uint64_t block_bytes = region->next_block_bytes > least ? region->next_block_bytes : least;
    char *block = add_records_block(region, &block_bytes, least);
    if (block == NULL)
        return false;
    region->free = block + sizeof(struct sw_block_header);
    region->end = block + block_bytes;
    if (region->next_block_bytes < LARGEST_BLOCK_BYTES)
        region->next_block_bytes *= 2;
    return true;
}

static void *reserve(struct region *region, uint32_t bytes)
{
    if (!sw_container_open())
        return NULL;
    if ((size_t)(region->end - region->free) < bytes &&
        (has_stopped(region) || !grow(region, bytes)))
        return NULL;
    void *room = region->free;
    region->free += bytes;
    return room;
}

void *sw_container_reserve(uint32_t bytes)
{
    return reserve(&container.counters, bytes);
}

void *sw_container_reserve_trace(uint32_t bytes)
{
    return reserve(&container.trace, bytes);
}

void sw_container_commit(struct sw_record *record, uint32_t bytes)
{
    __atomic_store_n(&record->bytes, bytes, __ATOMIC_RELEASE);
}
