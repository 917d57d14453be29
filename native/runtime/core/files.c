/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Records by path and layer.  No malloc: records live in the container, the little
 * private part in anonymous pages of our own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "internal.h"
#include "metadata.h"
#include "system.h"

#define BUCKETS 1024
#define ARENA_BYTES (4 * SW_PAGE)

static struct sw_file *buckets[BUCKETS];
static struct sw_file *arena;
static size_t arena_left;

static uint64_t fnv1a(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static struct sw_file **bucket_of(uint64_t id, int layer)
{
    return &buckets[(id ^ (id >> 32) ^ (unsigned)layer) % BUCKETS];
}

/* Without lock: records are only added, each when it is complete. */
static struct sw_file *look_up(uint64_t id, int layer, const char *path, size_t bytes)
{
    struct sw_file *file = __atomic_load_n(bucket_of(id, layer), __ATOMIC_ACQUIRE);
    for (; file != NULL; file = file->next) {
        if (file->generation == sw_options.generation && file->layer == (uint32_t)layer &&
            file->record->file_id == id && file->record->path_bytes == bytes &&
            memcmp(file->record->path, path, bytes) == 0)
            return file;
    }
    return NULL;
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

static struct sw_file *create(uint64_t id, int layer, const char *path, size_t bytes)
{
    uint32_t room = (uint32_t)((sizeof(struct sw_file_record) + bytes + 8) / 8 * 8);
    struct sw_file_record *record = sw_container_reserve(room);
    struct sw_file *file = record != NULL ? take_private() : NULL;
    if (file == NULL) {
        __atomic_fetch_add(&sw_process_live->lost_records, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    record->header.kind = layer == SW_ISSUED ? SW_RECORD_ISSUED : SW_RECORD_FILE;
    record->header.version = SW_CONTAINER_VERSION;
    record->file_id = id;
    record->layer = layer == SW_ISSUED ? SW_LAYER_POSIX : (uint32_t)layer;
    record->path_bytes = (uint32_t)bytes;
    memcpy(record->path, path, bytes);
    sw_container_commit(&record->header, room);
    struct sw_file **bucket = bucket_of(id, layer);
    *file = (struct sw_file){
        .record = record,
        .next = *bucket,
        .generation = sw_options.generation,
        .layer = (uint32_t)layer,
    };
    __atomic_store_n(bucket, file, __ATOMIC_RELEASE);
    return file;
}

static struct sw_file *get_absolute(int layer, const char *path, size_t bytes, bool make)
{
    uint64_t id = fnv1a(path, bytes);
    struct sw_file *file = look_up(id, layer, path, bytes);
    return file == NULL && make ? create(id, layer, path, bytes) : file;
}

/* A name as it is looked for; short ones need no lock. */
struct name {
    char near[512];
    const char *path;
    size_t bytes; /* 0: it cannot be told */
};

static bool is_near(struct name *name, int directory, const char *path)
{
    name->path = name->near;
    name->bytes = sw_path_absolute_quick(directory, path, name->near, sizeof name->near);
    return name->bytes != 0;
}

/* Under the lock, which the scratch needs. */
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
        struct sw_file *file = look_up(fnv1a(name.path, name.bytes), layer, name.path, name.bytes);
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

static struct sw_file *use(const struct name *name, const struct sw_call *call,
                           enum sw_action action, bool failed, bool locked, bool *counted)
{
    struct sw_file *file =
        look_up(fnv1a(name->path, name->bytes), SW_LAYER_POSIX, name->path, name->bytes);
    *counted = file != NULL || sw_filter_wanted(name->path);
    if (*counted)
        sw_metadata_add(name->path, name->bytes, action, failed, call->end_ns - call->start_ns,
                        locked);
    return file;
}

bool sw_name_used(const struct sw_call *call, int directory, const char *path,
                  enum sw_action action, bool failed, struct sw_file **file)
{
    struct sw_guarded guarded;
    struct name name;
    bool counted = false;
    *file = NULL;
    if (is_near(&name, directory, path)) {
        *file = use(&name, call, action, failed, false, &counted);
    } else if (sw_lock(&guarded)) {
        find_far(&name, directory, path);
        if (name.bytes != 0)
            *file = use(&name, call, action, failed, true, &counted);
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
    for (size_t i = 0; i < BUCKETS; i++) {
        struct sw_file *file = __atomic_load_n(&buckets[i], __ATOMIC_ACQUIRE);
        for (; file != NULL; file = file->next) {
            if (file->generation == sw_options.generation)
                visit(file);
        }
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
