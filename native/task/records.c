/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the records of a task's file make of its environment. */
#define _GNU_SOURCE
#include "task.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD"
#define SEPARATORS ": " /* in it; ld.so(8) */

struct list {
    char **entries;
    size_t count;
};

/* ---- values that are put together -------------------------------------------------------- */

static char built[2 * SW_TASK_BYTES];
static size_t used;

static bool add(const char *text, size_t bytes)
{
    if (bytes > sizeof built - used)
        return false;
    memcpy(built + used, text, bytes);
    used += bytes;
    return true;
}

/* ---- a list of variables ----------------------------------------------------------------- */

static bool is_of(const char *entry, const char *name, size_t bytes)
{
    return strncmp(entry, name, bytes) == 0 && entry[bytes] == '=';
}

static const char *value_in(char *const *entries, size_t count, const char *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (is_of(entries[i], name, bytes))
            return entries[i] + bytes + 1;
    return NULL;
}

static void drop(struct list *list, const char *name, size_t bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!is_of(list->entries[i], name, bytes))
            list->entries[kept++] = list->entries[i];
    list->count = kept;
}

static void put(struct list *list, char *entry)
{
    drop(list, entry, strcspn(entry, "="));
    list->entries[list->count++] = entry;
}

/* ---- records ----------------------------------------------------------------------------- */

static const char too_long[] = "its variables are too long";
static const char damaged[] = "it is damaged";

/* `record`: the name, and behind the "=" the text. */
static const char *expand(struct list *list, char **present, const char *record)
{
    char *entry = built + used;
    const char *text = strchr(record, '=') + 1;
    size_t n_present = 0;
    while (present[n_present] != NULL)
        n_present++;
    if (!add(record, (size_t)(text - record)))
        return too_long;
    for (const char *next; (next = strstr(text, "%{")) != NULL; text = next + 1) {
        bool fits = add(text, (size_t)(next - text));
        const char *name = next + 2;
        next = strchr(name, '}');
        if (next == NULL)
            return damaged;
        const char *value = value_in(present, n_present, name, (size_t)(next - name));
        if (!fits || (value != NULL && !add(value, strlen(value))))
            return too_long;
    }
    if (!add(text, strlen(text) + 1))
        return too_long;
    put(list, entry);
    return NULL;
}

static const char *base_of(const char *path, size_t bytes)
{
    const char *slash = memrchr(path, '/', bytes);
    return slash != NULL ? slash + 1 : path;
}

static bool is_same_library(const char *one, size_t bytes, const char *other)
{
    const char *base = base_of(one, bytes);
    const char *wanted = base_of(other, strlen(other));
    size_t length = (size_t)(one + bytes - base);
    return length == strlen(wanted) && memcmp(base, wanted, length) == 0;
}

/* What is preloaded, with the library in the place of those that have its base name; *found:
 * whether there is one. */
static bool replace(const char *present, const char *library, bool *found)
{
    *found = false;
    while (*(present += strspn(present, SEPARATORS)) != '\0') {
        size_t bytes = strcspn(present, SEPARATORS);
        bool is_same = is_same_library(present, bytes, library);
        if (is_same && !*found && !(add(library, strlen(library)) && add(":", 1)))
            return false;
        if (!is_same && !(add(present, bytes) && add(":", 1)))
            return false;
        *found |= is_same;
        present += bytes;
    }
    return true;
}

static const char *preload(struct list *list, const char *library)
{
    const char *present = value_in(list->entries, list->count, PRELOAD, strlen(PRELOAD));
    char *entry = built + used;
    bool found;
    if (*library == '\0' || strpbrk(library, SEPARATORS) != NULL)
        return damaged;
    if (!add(PRELOAD "=", strlen(PRELOAD "=")))
        return too_long;
    size_t begin = used;
    if (!replace(present != NULL ? present : "", library, &found))
        return too_long;
    if (!found) { /* once more, behind it */
        used = begin;
        if (!add(library, strlen(library)) || !add(":", 1) ||
            !replace(present != NULL ? present : "", library, &found))
            return too_long;
    }
    built[used - 1] = '\0';
    put(list, entry);
    return NULL;
}

static const char *apply(struct list *list, char **present, char *record)
{
    char kind = *record;
    const char *name = record + (kind == '@' || kind == '+');
    size_t bytes = strcspn(name, "=");
    if (bytes == 0 || (name != record && name[bytes] == '\0'))
        return damaged;
    if (kind == '@')
        return expand(list, present, name);
    if (kind == '+')
        return is_of(name, PRELOAD, strlen(PRELOAD)) ? preload(list, name + bytes + 1) : damaged;
    if (name[bytes] == '=')
        put(list, record);
    else
        drop(list, name, bytes);
    return NULL;
}

static size_t count_records(const char *text, size_t bytes)
{
    size_t records = 0;
    for (const char *end; (end = memchr(text, '\0', bytes)) != NULL; records++) {
        bytes -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    return records;
}

const char *sw_task_environment(char *text, size_t bytes, char **present, char ***made)
{
    const char *end = text + bytes;
    struct list list = {.count = 0};
    const char *why = NULL;
    if (bytes == 0 || end[-1] != '\0' || (bytes > 1 && end[-2] != '\0'))
        return damaged;
    while (present[list.count] != NULL)
        list.count++;
    list.entries = calloc(list.count + count_records(text, bytes) + 1, sizeof *list.entries);
    if (list.entries == NULL)
        return "there is no memory";
    memcpy(list.entries, present, list.count * sizeof *present);
    for (; why == NULL && *text != '\0'; text += strlen(text) + 1)
        why = apply(&list, present, text);
    if (why == NULL && text != end - 1) /* an empty record, and more behind it */
        why = damaged;
    list.entries[list.count] = NULL;
    *made = list.entries;
    return why;
}
