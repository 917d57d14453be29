/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that looks at many names looks at many in one directory. What a call on a name needs
 * to know depends, except for the name itself, on the directory: by the text before the last
 * slash, as the program wrote it, a thread finds what it has determined before.
 *
 * A signal handler may come in between and jump away: an entry is marked invalid before it
 * changes, and valid only at the very end.
 */
#define _GNU_SOURCE
#include <string.h>

#include "metadata.h"

#define ENTRIES 4
#define TEXT_BYTES 192

struct entry {
    uint32_t valid; /* bytes of the text + 1; 0: empty */
    uint32_t generation;
    uint32_t directory; /* version of the working directory, if the text is relative */
    bool has_code;      /* code in it is excluded */
    uint64_t hash;
    struct sw_metadata_record *record; /* NULL: everything is excluded */
    char text[TEXT_BYTES];
};

static __thread struct entry entries[ENTRIES] __attribute__((tls_model("initial-exec")));
static __thread struct entry *last __attribute__((tls_model("initial-exec")));

static struct entry *place_of(const char *path, size_t bytes)
{
    unsigned key = (unsigned)bytes + (bytes > 1 ? (unsigned char)path[bytes - 2] : 0);
    return &entries[key % ENTRIES];
}

/* Returns whether a name is plain: session directories of Open MPI have special names,
 * "ompi.HOST." or "prte.HOST."; "." and ".." are not plain either. */
static bool is_plain(const char *name)
{
    if (name[0] == '\0' || name[0] == '.')
        return false;
    if (name[0] == 'o' && name[1] == 'm')
        return strncmp(name, "ompi.", 5) != 0;
    return name[0] != 'p' || name[1] != 'r' || strncmp(name, "prte.", 5) != 0;
}

static size_t directory_bytes(const char *path, size_t bytes)
{
    const char *slash = memrchr(path, '/', bytes);
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Compares by words, without a call: its cost here would mostly be code that the preceding system
 * call has displaced from the cache. */
static inline bool is_same(const char *one, const char *other, size_t bytes)
{
    uint64_t words[2];
    for (; bytes >= sizeof *words; one += 8, other += 8, bytes -= 8) {
        __builtin_memcpy(&words[0], one, sizeof *words);
        __builtin_memcpy(&words[1], other, sizeof *words);
        if (words[0] != words[1])
            return false;
    }
    while (bytes > 0 && one[bytes - 1] == other[bytes - 1])
        bytes--;
    return bytes == 0;
}

static inline bool is_valid(const struct entry *entry, const char *path, size_t length)
{
    size_t bytes = (size_t)entry->valid - 1;
    return entry->valid != 0 && bytes < length && is_same(entry->text, path, bytes) &&
           (path[0] == '/' || entry->directory == sw_cwd_version()) &&
           entry->generation == sw_options.generation;
}

static inline bool has_slash(const char *name, size_t bytes)
{
    while (bytes > 0 && name[bytes - 1] != '/')
        bytes--;
    return bytes > 0;
}

static const struct entry *find(const char *path, size_t length)
{
    if (last != NULL && is_valid(last, path, length) &&
        !has_slash(path + last->valid - 1, length - last->valid + 1))
        return last;
    size_t bytes = directory_bytes(path, length);
    struct entry *entry = place_of(path, bytes);
    if (entry->valid != bytes + 1 || !is_valid(entry, path, length))
        return NULL;
    last = entry;
    return entry;
}

__attribute__((hot)) enum sw_near_kind sw_near_find(const char *path, struct sw_near_name *found)
{
    size_t length = strlen(path);
    const struct entry *entry = find(path, length);
    if (entry == NULL || !is_plain(path + entry->valid - 1))
        return SW_NEAR_UNKNOWN;
    if (entry->record == NULL)
        return SW_NEAR_LEFT_OUT;
    size_t bytes = (size_t)entry->valid - 1;
    *found = (struct sw_near_name){
        .record = entry->record, .name = path + bytes, .name_bytes = length - bytes};
    if (entry->has_code && sw_filter_is_code(found->name, found->name_bytes))
        return SW_NEAR_LEFT_OUT;
    found->hash = sw_hash(found->name, found->name_bytes, entry->hash);
    return SW_NEAR_COUNTED;
}

void sw_near_remember(uint32_t version, const char *path, const char *absolute,
                      const struct sw_split *split, struct sw_metadata_record *record)
{
    size_t length = strlen(path);
    size_t bytes = directory_bytes(path, length);
    enum sw_filtered filtered = sw_filter_directory(absolute, split->directory_bytes);
    bool left_out = filtered == SW_FILTERED_OUT;
    if (filtered == SW_FILTERED_BY_NAME || (record == NULL) != left_out || bytes > TEXT_BYTES ||
        !is_plain(path + bytes) || (path[0] != '/' && version == 0))
        return;
    struct entry *entry = place_of(path, bytes);
    entry->valid = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->generation = sw_options.generation;
    entry->directory = version;
    entry->has_code = filtered == SW_FILTERED_CODE;
    entry->hash = split->directory_hash;
    entry->record = record;
    memcpy(entry->text, path, bytes);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entry->valid = (uint32_t)bytes + 1;
}
