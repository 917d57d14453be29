/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects, shapes and views: each description has one record and one number. A table of addresses
 * of records, with open addressing, is read without a lock; the record itself is compared.
 */
#define _GNU_SOURCE
#include <string.h>

#include "capture.h"
#include "system.h"
#include "tracer.h"

#define SLOTS (1u << 16) /* anonymous pages: only those in use exist */
#define MOST (SLOTS / 4 * 3)

struct entry {
    uint64_t hash;
    struct sw_record *record; /* stored last; NULL: free */
};

static struct entry *table;
static uint32_t used;
static uint32_t last_object;
static uint32_t last_shape; /* and last view */
static bool full;

/* How one kind of description is compared with a record and written into one. */
struct description {
    uint16_t kind;
    uint64_t hash;
    uint32_t bytes; /* of its record */
    const void *thing;
    bool (*same)(const struct sw_record *record, const void *thing);
    void (*write)(struct sw_record *record, const void *thing);
};

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

/* ---- table ------------------------------------------------------------------------------ */

static struct entry *entries(void)
{
    return __atomic_load_n(&table, __ATOMIC_ACQUIRE);
}

/* Returns the entry of a description, or the free one where it belongs. */
static struct entry *find(const struct description *wanted)
{
    for (size_t slot = wanted->hash;; slot++) {
        struct entry *entry = &entries()[slot & (SLOTS - 1)];
        const struct sw_record *record = __atomic_load_n(&entry->record, __ATOMIC_ACQUIRE);
        if (record == NULL || (entry->hash == wanted->hash && record->kind == wanted->kind &&
                               wanted->same(record, wanted->thing)))
            return entry;
    }
}

static bool make_table(void)
{
    if (table != NULL)
        return true;
    void *pages = sw_sys_mmap(SLOTS * sizeof *table, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return false;
    __atomic_store_n(&table, (struct entry *)pages, __ATOMIC_RELEASE);
    return true;
}

/* Reports that there is no room: without its number, an event does not show what it moves. */
static void note_full(void)
{
    if (!full)
        sw_note_locked(
            "the trace is full: some events have lost their dataset, selection or view");
    __atomic_store_n(&full, true, __ATOMIC_RELAXED);
}

/* Returns whether there is still no room: a block may be available later. */
static bool is_full(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED) >= MOST || sw_container_records_full();
}

static struct sw_record *add_locked(const struct description *wanted)
{
    struct sw_record *record = NULL;
    if (make_table()) {
        struct entry *entry = find(wanted);
        if (entry->record != NULL)
            return entry->record;
        if (used < MOST)
            record = sw_container_reserve_trace(wanted->bytes);
        if (record != NULL) {
            record->kind = wanted->kind;
            record->version = SW_TRACE_VERSION;
            wanted->write(record, wanted->thing);
            sw_container_commit(record, wanted->bytes);
            entry->hash = wanted->hash;
            __atomic_store_n(&entry->record, record, __ATOMIC_RELEASE);
            __atomic_store_n(&used, used + 1, __ATOMIC_RELAXED);
        }
    }
    if (record == NULL)
        note_full();
    return record;
}

/* Returns the record of a description; NULL if there is no room. */
static const struct sw_record *intern(const struct description *wanted)
{
    const struct sw_record *record = NULL;
    struct sw_guarded guarded;
    if (SW_LIKELY(entries() != NULL))
        record = find(wanted)->record;
    if (SW_LIKELY(record != NULL))
        return record;
    if ((__atomic_load_n(&full, __ATOMIC_RELAXED) && is_full()) || !sw_lock(&guarded))
        return NULL;
    record = add_locked(wanted);
    sw_unlock(&guarded);
    return record;
}

void sw_interned_forget(void)
{
    if (table != NULL)
        syscall(SYS_munmap, table, SLOTS * sizeof *table);
    table = NULL;
    used = 0;
    last_object = 0;
    last_shape = 0;
    full = false;
}

/* ---- objects ------------------------------------------------------------------------------ */

static const uint64_t *numbers_of(const struct sw_object *object, int group)
{
    return group == 0 ? object->extents : group == 1 ? object->maximum : object->chunk;
}

static uint64_t hash_object(const struct sw_object *object)
{
    uint64_t hash = mix(SW_RECORD_OBJECT, object->file_id);
    hash = mix(hash, object->element_bytes | (uint64_t)object->n_dims << 32 |
                         (uint64_t)object->layer << 40 | (uint64_t)object->type_class << 48 |
                         (uint64_t)object->storage << 56);
    for (int group = 0; group < 3; group++)
        for (unsigned d = 0; d < object->n_dims; d++)
            hash = mix(hash, numbers_of(object, group)[d]);
    for (const char *name = object->name; *name != '\0'; name++)
        hash = mix(hash, (unsigned char)*name);
    return hash;
}

static bool same_object(const struct sw_record *header, const void *thing)
{
    const struct sw_object_record *record = (const void *)header;
    const struct sw_object *object = thing;
    size_t bytes = object->n_dims * sizeof(uint64_t);
    if (record->file_id != object->file_id || record->element_bytes != object->element_bytes ||
        record->layer != object->layer || record->type_class != object->type_class ||
        record->storage != object->storage || record->n_dims != object->n_dims)
        return false;
    const uint64_t *number = record->numbers;
    for (int group = 0; group < 3; group++, number += object->n_dims)
        if (memcmp(number, numbers_of(object, group), bytes) != 0)
            return false;
    return strnlen(object->name, SW_PAGE) == record->name_bytes &&
           memcmp(number, object->name, record->name_bytes) == 0;
}

static void write_object(struct sw_record *header, const void *thing)
{
    struct sw_object_record *record = (void *)header;
    const struct sw_object *object = thing;
    record->file_id = object->file_id;
    record->object = ++last_object;
    record->element_bytes = object->element_bytes;
    record->layer = object->layer;
    record->type_class = object->type_class;
    record->storage = object->storage;
    record->n_dims = object->n_dims;
    record->name_bytes = (uint32_t)strnlen(object->name, SW_PAGE);
    uint64_t *number = record->numbers;
    for (int group = 0; group < 3; group++, number += object->n_dims)
        memcpy(number, numbers_of(object, group), object->n_dims * sizeof *number);
    memcpy(number, object->name, record->name_bytes);
}

uint32_t sw_object_intern(const struct sw_object *object)
{
    if (!sw_capturing() || object->n_dims > SW_MOST_DIMS || object->name == NULL)
        return 0;
    size_t bytes = sizeof(struct sw_object_record) + 3 * object->n_dims * sizeof(uint64_t) +
                   strnlen(object->name, SW_PAGE);
    const struct description wanted = {
        .kind = SW_RECORD_OBJECT,
        .hash = hash_object(object),
        .bytes = (uint32_t)(bytes + 7) / 8 * 8,
        .thing = object,
        .same = same_object,
        .write = write_object,
    };
    const struct sw_object_record *record = (const void *)intern(&wanted);
    return record == NULL ? 0 : record->object;
}

/* ---- shapes -------------------------------------------------------------------------------- */

static size_t numbers_in(const struct sw_shape *shape)
{
    size_t n = shape->n_dims;
    if (shape->kind == SW_SHAPE_REGULAR)
        return 4 * n;
    return shape->boxes == NULL ? n : n + 2 * n * shape->n_boxes;
}

/* Returns number k of the record: extents, then what the kind has, relative to `start`. */
static inline uint64_t number_at(const struct sw_shape *shape, size_t k)
{
    size_t n = shape->n_dims;
    if (k < n)
        return shape->extents[k];
    if (shape->kind != SW_SHAPE_REGULAR)
        return shape->boxes[k - n] - shape->start[(k - n) % n];
    return k < 2 * n   ? shape->stride[k - n]
           : k < 3 * n ? shape->count[k - 2 * n]
                       : shape->block[k - 3 * n];
}

static uint64_t hash_shape(const struct sw_shape *shape)
{
    uint64_t hash =
        mix(SW_RECORD_SHAPE, shape->object | (uint64_t)shape->kind << 32 |
                                 (uint64_t)shape->n_dims << 40 | (uint64_t)shape->flags << 48);
    hash = mix(mix(hash, shape->total_boxes), shape->elements + ((uint64_t)shape->memory << 32));
    size_t n_numbers = numbers_in(shape);
    for (size_t k = 0; k < n_numbers; k++)
        hash = mix(hash, number_at(shape, k));
    return hash;
}

static bool same_shape(const struct sw_record *header, const void *thing)
{
    const struct sw_shape_record *record = (const void *)header;
    const struct sw_shape *shape = thing;
    if (record->object != shape->object || record->kind != shape->kind ||
        record->n_dims != shape->n_dims || record->flags != shape->flags ||
        record->memory != shape->memory || record->total_boxes != shape->total_boxes ||
        record->elements != shape->elements ||
        record->n_boxes != (shape->boxes != NULL ? shape->n_boxes : 0))
        return false;
    size_t n_numbers = numbers_in(shape);
    for (size_t k = 0; k < n_numbers; k++)
        if (record->numbers[k] != number_at(shape, k))
            return false;
    return true;
}

static void write_shape(struct sw_record *header, const void *thing)
{
    struct sw_shape_record *record = (void *)header;
    const struct sw_shape *shape = thing;
    record->shape = ++last_shape;
    record->object = shape->object;
    record->kind = shape->kind;
    record->n_dims = shape->n_dims;
    record->flags = shape->flags;
    record->memory = shape->memory;
    record->n_boxes = shape->boxes != NULL ? shape->n_boxes : 0;
    record->total_boxes = shape->total_boxes;
    record->elements = shape->elements;
    size_t n_numbers = numbers_in(shape);
    for (size_t k = 0; k < n_numbers; k++)
        record->numbers[k] = number_at(shape, k);
}

/* Returns the C order index of `start` in the extents. */
static int64_t position_of(const struct sw_shape *shape)
{
    uint64_t position = 0;
    if (shape->kind == SW_SHAPE_ALL || shape->kind == SW_SHAPE_NONE)
        return 0;
    for (unsigned d = 0; d < shape->n_dims; d++)
        position = position * shape->extents[d] + shape->start[d];
    return (int64_t)position;
}

/*
 * Most calls have the shape of an earlier one: each thread stores a few of them, and compares
 * numbers instead of hashing them. `count` and `block` determine `elements`.
 */
static struct sw_known_shape *known_place(const struct sw_shape *shape)
{
    struct sw_tracer *tracer = sw_thread.tracer;
    if (tracer == NULL || tracer->generation != sw_options.generation || tracer->learning ||
        shape->kind != SW_SHAPE_REGULAR || shape->flags != 0 || shape->n_dims > SW_KNOWN_DIMS)
        return NULL;
    return &tracer->known[shape->object % SW_KNOWN_SHAPES];
}

static inline uint32_t known_number(const struct sw_known_shape *known,
                                    const struct sw_shape *shape)
{
    uint64_t differs = (known->object ^ shape->object) | (known->memory ^ shape->memory) |
                       (known->n_dims ^ shape->n_dims);
    for (unsigned d = 0; d < shape->n_dims; d++)
        differs |= (known->extents[d] ^ shape->extents[d]) |
                   (known->stride[d] ^ shape->stride[d]) | (known->count[d] ^ shape->count[d]) |
                   (known->block[d] ^ shape->block[d]);
    return differs == 0 ? known->number : 0;
}

/* A handler that interrupts this sees `learning`, and does not use the place. */
static void learn(struct sw_known_shape *known, const struct sw_shape *shape, uint32_t number)
{
    bool *learning = &sw_thread.tracer->learning;
    *learning = true;
    known->number = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    known->object = shape->object;
    known->memory = shape->memory;
    known->n_dims = shape->n_dims;
    for (unsigned d = 0; d < shape->n_dims; d++) {
        known->extents[d] = shape->extents[d];
        known->stride[d] = shape->stride[d];
        known->count[d] = shape->count[d];
        known->block[d] = shape->block[d];
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    known->number = number;
    *learning = false;
}

static uint32_t intern_shape(const struct sw_shape *shape)
{
    size_t bytes = sizeof(struct sw_shape_record) + numbers_in(shape) * sizeof(uint64_t);
    const struct description wanted = {
        .kind = SW_RECORD_SHAPE,
        .hash = hash_shape(shape),
        .bytes = (uint32_t)bytes,
        .thing = shape,
        .same = same_shape,
        .write = write_shape,
    };
    const struct sw_shape_record *record = (const void *)intern(&wanted);
    return record == NULL ? 0 : record->shape;
}

uint32_t sw_shape_intern(const struct sw_shape *shape, int64_t *position)
{
    if (!sw_capturing() || shape->n_dims > SW_MOST_DIMS || shape->n_boxes > SW_SHAPE_MOST_BOXES)
        return 0;
    *position = position_of(shape);
    struct sw_known_shape *known = known_place(shape);
    uint32_t number = known != NULL ? known_number(known, shape) : 0;
    if (SW_LIKELY(number != 0))
        return number;
    number = intern_shape(shape);
    if (known != NULL && number != 0)
        learn(known, shape, number);
    return number;
}

/* ---- views ---------------------------------------------------------------------------------- */

static bool same_view(const struct sw_record *header, const void *thing)
{
    const struct sw_view_record *record = (const void *)header;
    const struct sw_view *view = thing;
    const struct sw_pieces *pieces = view->pieces;
    return record->file_id == view->file_id && record->displacement == view->displacement &&
           record->etype_bytes == view->etype_bytes &&
           record->filetype_bytes == view->filetype_bytes &&
           record->filetype_lower == view->filetype_lower &&
           record->filetype_extent == view->filetype_extent &&
           record->total_pieces == pieces->total && record->n_pieces == pieces->n_pieces &&
           record->flags == (pieces->truncated ? SW_VIEW_TRUNCATED : 0) &&
           memcmp(record->pieces, pieces->piece, pieces->n_pieces * sizeof *pieces->piece) == 0;
}

static void write_view(struct sw_record *header, const void *thing)
{
    struct sw_view_record *record = (void *)header;
    const struct sw_view *view = thing;
    const struct sw_pieces *pieces = view->pieces;
    record->file_id = view->file_id;
    record->view = ++last_shape;
    record->flags = pieces->truncated ? SW_VIEW_TRUNCATED : 0;
    record->displacement = view->displacement;
    record->etype_bytes = view->etype_bytes;
    record->filetype_bytes = view->filetype_bytes;
    record->filetype_lower = view->filetype_lower;
    record->filetype_extent = view->filetype_extent;
    record->total_pieces = pieces->total;
    record->n_pieces = pieces->n_pieces;
    memcpy(record->pieces, pieces->piece, pieces->n_pieces * sizeof *pieces->piece);
}

static uint64_t hash_view(const struct sw_view *view)
{
    uint64_t hash = mix(mix(SW_RECORD_VIEW, view->file_id), (uint64_t)view->displacement);
    hash = mix(mix(hash, view->etype_bytes), view->filetype_bytes);
    hash = mix(mix(hash, (uint64_t)view->filetype_lower), (uint64_t)view->filetype_extent);
    for (uint32_t i = 0; i < view->pieces->n_pieces; i++) {
        const struct sw_piece *piece = &view->pieces->piece[i];
        hash = mix(mix(hash, (uint64_t)piece->offset), piece->bytes ^ piece->count << 32);
    }
    return hash;
}

uint32_t sw_view_intern(const struct sw_view *view)
{
    if (!sw_capturing() || view->pieces == NULL)
        return 0;
    sw_pieces_end(view->pieces);
    const struct description wanted = {
        .kind = SW_RECORD_VIEW,
        .hash = hash_view(view),
        .bytes = (uint32_t)(sizeof(struct sw_view_record) +
                            view->pieces->n_pieces * sizeof(struct sw_piece)),
        .thing = view,
        .same = same_view,
        .write = write_view,
    };
    const struct sw_view_record *record = (const void *)intern(&wanted);
    return record == NULL ? 0 : record->view;
}
