/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions, found by their address; each text is stored once. */
#include <string.h>

#include "tracer.h"

#define SLOTS 4096 /* power of two */
#define MOST (SLOTS / 4 * 3)

static struct {
    const char *text; /* stored after the number; NULL: free */
    uint32_t number;
} names[SLOTS];
static uint32_t used;
static uint32_t numbers;

static size_t first_slot(const char *name)
{
    return (size_t)(((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (SLOTS - 1);
}

/* Returns the slot of a name, or the free one where it belongs. */
static size_t find(const char *name)
{
    size_t slot = first_slot(name);
    for (;; slot = (slot + 1) & (SLOTS - 1)) {
        const char *seen = __atomic_load_n(&names[slot].text, __ATOMIC_ACQUIRE);
        if (seen == name || seen == NULL)
            return slot;
    }
}

static uint32_t number_of_text(const char *name)
{
    for (size_t slot = 0; slot < SLOTS; slot++) {
        if (names[slot].text != NULL && strcmp(names[slot].text, name) == 0)
            return names[slot].number;
    }
    return 0;
}

static uint32_t describe(const char *name)
{
    size_t length = strnlen(name, SW_PAGE);
    uint32_t bytes = (uint32_t)(sizeof(struct sw_name_record) + length + 7) / 8 * 8;
    struct sw_name_record *record = sw_container_reserve_trace(bytes);
    if (record == NULL)
        return 0;
    record->header.kind = SW_RECORD_NAME;
    record->header.version = SW_TRACE_VERSION;
    record->name = ++numbers;
    record->text_bytes = (uint32_t)length;
    memcpy(record->text, name, length);
    sw_container_commit(&record->header, bytes);
    return numbers;
}

static uint32_t add(const char *name)
{
    struct sw_guarded guarded;
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) >= MOST || sw_container_records_full() ||
        !sw_lock(&guarded))
        return 0;
    size_t slot = find(name);
    uint32_t number = names[slot].number;
    if (names[slot].text == NULL) {
        number = number_of_text(name);
        if (number == 0)
            number = describe(name);
        if (number != 0) {
            names[slot].number = number;
            __atomic_store_n(&names[slot].text, name, __ATOMIC_RELEASE);
            __atomic_store_n(&used, used + 1, __ATOMIC_RELAXED);
        }
    }
    sw_unlock(&guarded);
    return number;
}

uint32_t sw_name_intern(const char *name)
{
    if (name == NULL)
        return 0;
    size_t slot = find(name);
    return SW_LIKELY(names[slot].text == name) ? names[slot].number : add(name);
}

void sw_names_forget(void)
{
    if (used != 0)
        memset(names, 0, sizeof names);
    used = 0;
    numbers = 0;
}
