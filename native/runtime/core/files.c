/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Records by path and layer. No malloc: records are in the container, the small private part is in
 * anonymous pages of our own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "hash.h"
#include "internal.h"
#include "metadata.h"
#include "system.h"

#define FIRST_SLOTS 1024 /* a power of two */
#define ARENA_BYTES (4 * SW_PAGE)

/* Open addressing, at most half full, read without a lock: a slot's file is stored last. A larger
 * table replaces it as a whole; readers may still use the old one, which is kept. */
struct slot {
    uint64_t key;
    struct sw_file *file;
};
struct table {
    size_t slots;
    size_t used;
    struct slot slot[];
};
static struct {
    struct table table;
    struct slot slot[FIRST_SLOTS];
} first_table = {.table = {.slots = FIRST_SLOTS}};
static struct table *table = &first_table.table;

static struct sw_file *arena;
static size_t arena_left;

static uint64_t fnv1a(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t key_of(uint64_t hash, int layer)
{
    return hash + (uint64_t)layer * UINT64_C(0x9e3779b97f4a7c15);
}

/* The name of a file in two parts, of which the second may be the whole name. */
struct parts {
    const char *directory; /* without slash; 0 bytes: the name is absolute */
    size_t directory_bytes;
    const char *name;
    size_t name_bytes;
};

static bool has_name(const struct sw_file_record *record, const struct parts *parts)
{
    size_t front = parts->directory_bytes != 0 ? parts->directory_bytes + 1 : 0;
    return record->path_bytes == front + parts->name_bytes &&
           memcmp(record->path + front, parts->name, parts->name_bytes) == 0 &&
           memcmp(record->path, parts->directory, parts->directory_bytes) == 0;
}

/* Prefetches its counters, which are used soon, while its name is compared. */
static void fetch(const struct sw_file *file)
{
    const struct sw_file_record *record = file->record;
    __builtin_prefetch(record, 1);
    __builtin_prefetch(&record->ops[SW_OP_META], 1);
    __builtin_prefetch(record->path);
}

__attribute__((hot)) static struct sw_file *find(uint64_t key, const struct parts *parts)
{
    const struct table *seen = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    size_t mask = seen->slots - 1;
    for (size_t at = key & mask;; at = (at + 1) & mask) {
        struct sw_file *file = __atomic_load_n(&seen->slot[at].file, __ATOMIC_ACQUIRE);
        if (file == NULL)
            return NULL;
        if (seen->slot[at].key != key)
            continue;
        fetch(file);
        if (has_name(file->record, parts))
            return file;
    }
}

static struct sw_file *look_up(uint64_t hash, int layer, const char *path, size_t bytes)
{
    const struct parts parts = {.directory = path, .name = path, .name_bytes = bytes};
    return find(key_of(hash, layer), &parts);
}

static void put(struct table *into, uint64_t key, struct sw_file *file)
{
    size_t mask = into->slots - 1;
    size_t at = key & mask;
    while (into->slot[at].file != NULL)
        at = (at + 1) & mask;
    into->slot[at].key = key;
    __atomic_store_n(&into->slot[at].file, file, __ATOMIC_RELEASE);
    into->used++;
}

static size_t table_bytes(size_t slots)
{
    return sizeof(struct table) + slots * sizeof(struct slot);
}

/* Returns false if there is no memory for it. */
static bool has_room(void)
{
    if (table->used * 2 < table->slots)
        return true;
    struct table *larger = sw_sys_mmap(table_bytes(table->slots * 2), PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (larger == MAP_FAILED)
        return false;
    larger->slots = table->slots * 2;
    for (size_t i = 0; i < table->slots; i++) {
        if (table->slot[i].file != NULL)
            put(larger, table->slot[i].key, table->slot[i].file);
    }
    __atomic_store_n(&table, larger, __ATOMIC_RELEASE);
    return true;
}

/* The parent's records are its own; no other thread is using the table. */
void sw_files_forget(void)
{
    if (table != &first_table.table)
        syscall(SYS_munmap, table, table_bytes(table->slots));
    table = &first_table.table;
    memset(first_table.slot, 0, sizeof first_table.slot);
    table->used = 0;
}

static struct sw_file *take_private(void)
{
    if (arena_left == 0) {
        void *pages =
            sw_sys_mmap(ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return NULL;
        arena = pages;
        arena_left = ARENA_BYTES / sizeof *arena;
    }
    arena_left--;
    return arena++;
}

static struct sw_file *create(uint64_t hash, int layer, const char *path, size_t bytes)
{
    uint32_t room = (uint32_t)((sizeof(struct sw_file_record) + bytes + 8) / 8 * 8);
    struct sw_file_record *record = has_room() ? sw_container_reserve(room) : NULL;
    struct sw_file *file = record != NULL ? take_private() : NULL;
    if (file == NULL) {
        __atomic_fetch_add(&sw_process_live->lost_records, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    record->header.kind = layer == SW_ISSUED ? SW_RECORD_ISSUED : SW_RECORD_FILE;
    record->header.version = SW_CONTAINER_VERSION;
    record->file_id = fnv1a(path, bytes);
    record->layer = layer == SW_ISSUED ? SW_LAYER_POSIX : (uint32_t)layer;
    record->path_bytes = (uint32_t)bytes;
    memcpy(record->path, path, bytes);
    sw_container_commit(&record->header, room);
    *file = (struct sw_file){
        .record = record,
        .generation = sw_options.generation,
        .layer = (uint32_t)layer,
    };
    put(table, key_of(hash, layer), file);
    return file;
}

/* Call under the lock. */
static struct sw_file *get_absolute(int layer, const char *path, size_t bytes, bool make)
{
    uint64_t hash = sw_split(path, bytes).hash;
    struct sw_file *file = look_up(hash, layer, path, bytes);
    return file == NULL && make ? create(hash, layer, path, bytes) : file;
}

/* A name that is looked up; short ones need no lock. */
struct name {
    char near[512];
    const char *path;
    size_t bytes; /* 0: unknown */
};

static bool is_near(struct name *name, int directory, const char *path)
{
    name->path = name->near;
    name->bytes = sw_path_absolute_quick(directory, path, name->near, sizeof name->near);
    return name->bytes != 0;
}

/* Call under the lock, which the scratch buffer needs. */
static void find_far(struct name *name, int directory, const char *path)
{
    sw_cwd_remember();
    name->path = sw_scratch[0];
    name->bytes = sw_path_absolute(directory, path, sw_scratch[0], sizeof sw_scratch[0]);
}

static struct sw_file *get(int layer, int directory, const char *path, bool make, bool *wanted)
{
    struct sw_guarded guarded;
    struct name name;
    *wanted = false;
    if (path == NULL || !sw_running())
        return NULL;
    if (layer >= SW_LAYER_MPIIO)
        path = sw_path_without_prefix(path);
    if (is_near(&name, directory, path)) {
        struct sw_file *file =
            look_up(sw_split(name.path, name.bytes).hash, layer, name.path, name.bytes);
        *wanted = file != NULL || sw_filter_wanted(name.path);
        if (file != NULL || !*wanted || !make)
            return file;
    }
    if (!sw_lock(&guarded))
        return NULL;
    find_far(&name, directory, path);
    *wanted = name.bytes != 0 && sw_filter_wanted(name.path);
    struct sw_file *file = *wanted ? get_absolute(layer, name.path, name.bytes, make) : NULL;
    sw_unlock(&guarded);
    return file;
}

static uint64_t duration(const struct sw_call *call)
{
    return call->end_ns - call->start_ns;
}

/* Counts a call on a name, if names there are counted; *record: that of the directory, if it has
 * one of its own. */
static bool use(const struct name *name, const struct sw_split *split, const struct sw_call *call,
                enum sw_action action, bool failed, bool locked, struct sw_file **file,
                struct sw_metadata_record **record)
{
    *file = look_up(split->hash, SW_LAYER_POSIX, name->path, name->bytes);
    if (*file == NULL && !sw_filter_wanted(name->path))
        return false;
    struct sw_metadata_record *found = sw_metadata_of(name->path, split, locked);
    if (found != NULL)
        sw_metadata_add(found, action, failed, duration(call));
    if (found != NULL && !sw_metadata_is_others(found))
        *record = found;
    return true;
}

static bool use_known(const struct sw_near_name *near, const struct sw_call *call,
                      enum sw_action action, bool failed, struct sw_file **file)
{
    const struct parts parts = {near->record->path, near->record->path_bytes, near->name,
                                near->name_bytes};
    *file = find(key_of(near->hash, SW_LAYER_POSIX), &parts);
    sw_metadata_add(near->record, action, failed, duration(call));
    return true;
}

__attribute__((hot)) bool sw_name_used(const struct sw_call *call, int directory, const char *path,
                                       enum sw_action action, bool failed, struct sw_file **file)
{
    struct sw_guarded guarded;
    struct sw_near_name near;
    struct name name;
    struct sw_metadata_record *record = NULL;
    bool counted = false;
    uint32_t version = sw_cwd_version();
    bool here = directory == AT_FDCWD || path[0] == '/';
    enum sw_near_kind kind = here ? sw_near_find(path, &near) : SW_NEAR_UNKNOWN;
    *file = NULL;
    if (SW_LIKELY(kind != SW_NEAR_UNKNOWN))
        return kind == SW_NEAR_COUNTED && use_known(&near, call, action, failed, file);
    if (is_near(&name, directory, path)) {
        struct sw_split split = sw_split(name.path, name.bytes);
        counted = use(&name, &split, call, action, failed, false, file, &record);
        if (here)
            sw_near_remember(version, path, name.path, &split, record);
    } else if (sw_lock(&guarded)) {
        find_far(&name, directory, path);
        if (name.bytes != 0) {
            struct sw_split split = sw_split(name.path, name.bytes);
            counted = use(&name, &split, call, action, failed, true, file, &record);
        }
        sw_unlock(&guarded);
    }
    return counted;
}

struct sw_file *sw_file_get_at(int layer, int directory, const char *path, bool make)
{
    bool wanted;
    return get(layer, directory, path, make, &wanted);
}

struct sw_file *sw_file_opened(int layer, int directory, const char *path, bool *wanted)
{
    return get(layer, directory, path, true, wanted);
}

#define UNNAMED "/(unnamed)"

struct sw_file *sw_file_unnamed(int layer, int directory, const char *path)
{
    struct sw_guarded guarded;
    struct sw_file *file = NULL;
    struct name name;
    if (path == NULL || !sw_running() || !sw_lock(&guarded))
        return NULL;
    find_far(&name, directory, path);
    if (name.bytes != 0 && name.bytes + sizeof UNNAMED <= sizeof sw_scratch[0]) {
        memcpy(&sw_scratch[0][name.bytes], UNNAMED, sizeof UNNAMED);
        if (sw_filter_wanted(name.path))
            file = get_absolute(layer, name.path, name.bytes + sizeof UNNAMED - 1, true);
    }
    sw_unlock(&guarded);
    return file;
}

/* Writes the kernel's name of a descriptor's file to sw_scratch[0]; returns its length, 0 if it
 * has none. Memory that is not a file looks like a file that was removed from the root directory.
 * */
static size_t name_behind(int fd)
{
    static const char removed[] = " (deleted)";
    struct stat status;
    char *path = sw_scratch[0];
    size_t bytes = sw_path_absolute(fd, "", path, sizeof sw_scratch[0]);
    if (bytes == 0 || sw_sys_fstat(fd, &status) != 0)
        return 0;
    size_t end = sizeof removed - 1;
    if (status.st_nlink != 0 || bytes <= end || memcmp(path + bytes - end, removed, end) != 0)
        return bytes;
    path[bytes - end] = '\0';
    return strrchr(path, '/') == path ? 0 : bytes - end;
}

struct sw_file *sw_file_behind(int layer, int fd, bool make, bool *wanted)
{
    struct sw_guarded guarded;
    *wanted = false;
    if (!sw_running() || !sw_lock(&guarded))
        return NULL;
    size_t bytes = name_behind(fd);
    *wanted = bytes != 0 && sw_filter_wanted(sw_scratch[0]);
    struct sw_file *file = *wanted ? get_absolute(layer, sw_scratch[0], bytes, make) : NULL;
    sw_unlock(&guarded);
    return file;
}

struct sw_file *sw_file_get(int layer, const char *path)
{
    return sw_file_get_at(layer, AT_FDCWD, path, true);
}

struct sw_file *sw_file_find(int layer, const char *path)
{
    return sw_file_get_at(layer, AT_FDCWD, path, false);
}

struct sw_file *sw_file_sibling(struct sw_file *file, int layer)
{
    struct sw_guarded guarded;
    if (file == NULL || !sw_running() || !sw_lock(&guarded))
        return NULL;
    const struct sw_file_record *record = file->record;
    struct sw_file *sibling = get_absolute(layer, record->path, record->path_bytes, true);
    sw_unlock(&guarded);
    return sibling;
}

struct sw_file *sw_file_renew(struct sw_file *file)
{
    return file == NULL ? NULL : sw_file_sibling(file, (int)file->layer);
}

void sw_file_each(void (*visit)(struct sw_file *file))
{
    const struct table *seen = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < seen->slots; i++) {
        struct sw_file *file = __atomic_load_n(&seen->slot[i].file, __ATOMIC_ACQUIRE);
        if (file != NULL)
            visit(file);
    }
}

void sw_file_flag(struct sw_file *file, uint32_t flags)
{
    if (file == NULL)
        return;
    uint32_t *word = &file->record->flags;
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & flags) != flags)
        __atomic_fetch_or(word, flags, __ATOMIC_RELAXED);
}

uint64_t sw_file_id(const struct sw_file *file)
{
    return file == NULL ? 0 : file->record->file_id;
}

void sw_file_counted(const struct sw_file *file, struct sw_op_counters ops[SW_OP_COUNT])
{
    memcpy(ops, file->record->ops, sizeof file->record->ops);
}
