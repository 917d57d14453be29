/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records datasets and selections in the trace. A dataset is described when it is created or
 * opened, or at its first transfer, and again if extents have changed since. A transfer then costs
 * three more calls of HDF5: for the kind of selection, whether it is regular, and the hyperslab.
 * Those cannot fail; around all others, HDF5's error reporting is switched off.
 */
#include <string.h>

#include "layers/hdf5.h"

#define NAME_BYTES 1024

/* H5S_sel_type. */
enum { SELECTED_NONE = 0, SELECTED_POINTS = 1, SELECTED_HYPERSLABS = 2, SELECTED_ALL = 3 };

/* Number of times that extents have changed. */
static uint32_t changes;

void sw_h5_extents_changed(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_RELEASE);
}

/* ---- objects ----------------------------------------------------------------------- */

static uint8_t type_class(int class)
{
    enum {
        CLASS_INTEGER = 0,
        CLASS_FLOAT = 1,
        CLASS_STRING = 3,
        CLASS_COMPOUND = 6,
        CLASS_ENUM = 8
    };
    switch (class) {
    case CLASS_INTEGER:
    case CLASS_ENUM:
        return SW_TYPE_CLASS_INTEGER;
    case CLASS_FLOAT:
        return SW_TYPE_CLASS_FLOAT;
    case CLASS_STRING:
        return SW_TYPE_CLASS_STRING;
    case CLASS_COMPOUND:
        return SW_TYPE_CLASS_COMPOUND;
    default:
        return SW_TYPE_CLASS_OTHER;
    }
}

static bool ask_space(const struct sw_h5 *h5, sw_hid dataset, struct sw_object *object,
                      uint64_t *elements)
{
    sw_hid space = h5->H5Dget_space(dataset);
    if (space < 0)
        return false;
    int n = h5->H5Sget_simple_extent_ndims(space);
    int64_t points = h5->H5Sget_simple_extent_npoints(space);
    bool known = n >= 0 && n <= SW_MOST_DIMS && points >= 0 &&
                 h5->H5Sget_simple_extent_dims(space, object->extents, object->maximum) >= 0;
    (void)h5->H5Sclose(space);
    object->n_dims = known ? (uint8_t)n : 0;
    *elements = known ? (uint64_t)points : 0;
    return known;
}

static void ask_type(const struct sw_h5 *h5, sw_hid dataset, struct sw_object *object)
{
    sw_hid type = h5->H5Dget_type(dataset);
    if (type < 0)
        return;
    object->element_bytes = (uint32_t)h5->H5Tget_size(type);
    object->type_class = type_class(h5->H5Tget_class(type));
    (void)h5->H5Tclose(type);
}

static void ask_storage(const struct sw_h5 *h5, sw_hid dataset, struct sw_object *object)
{
    static const uint8_t storages[] = {SW_STORAGE_COMPACT, SW_STORAGE_CONTIGUOUS,
                                       SW_STORAGE_CHUNKED}; /* H5D_layout_t */
    sw_hid list = h5->H5Dget_create_plist(dataset);
    if (list < 0)
        return;
    int layout = h5->H5Pget_layout(list);
    if (layout >= 0 && layout < (int)sizeof storages)
        object->storage = storages[layout];
    if (object->storage == SW_STORAGE_CHUNKED && object->n_dims > 0 &&
        h5->H5Pget_chunk(list, object->n_dims, object->chunk) < 0)
        memset(object->chunk, 0, sizeof object->chunk);
    if (object->storage == SW_STORAGE_CHUNKED && h5->H5Pget_nfilters != NULL &&
        h5->H5Pget_nfilters(list) > 0)
        object->storage = SW_STORAGE_FILTERED;
    (void)h5->H5Pclose(list);
}

/*
 * A dataset that is extended step by step in its slowest dimension stays one object: from the
 * first extension on, that extent is recorded as 0. Only the number of elements depends on it.
 */
static void note_growth(struct sw_object *object, struct sw_handle_entry *entry)
{
    size_t faster = object->n_dims > 1 ? (size_t)object->n_dims - 1 : 0;
    bool same = entry->object != 0 && entry->n_dims == object->n_dims && object->n_dims > 0 &&
                object->n_dims <= SW_ENTRY_DIMS && object->maximum[0] == UINT64_MAX &&
                memcmp(entry->extents + 1, object->extents + 1, faster * sizeof(uint64_t)) == 0;
    entry->grows = same && (entry->grows || entry->extents[0] != object->extents[0]);
    if (entry->grows)
        object->extents[0] = 0;
}

static void describe(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry)
{
    struct sw_object object;
    char name[NAME_BYTES];
    uint64_t elements;
    memset(&object, 0, sizeof object);
    if (!ask_space(h5, dataset, &object, &elements))
        return;
    ask_type(h5, dataset, &object);
    ask_storage(h5, dataset, &object);
    ssize_t length = h5->H5Iget_name(dataset, name, sizeof name);
    if (length <= 0)
        name[0] = '\0';
    object.file_id = sw_file_id(entry->file);
    object.layer = SW_LAYER_HDF5;
    object.name = name;
    note_growth(&object, entry);
    entry->object = sw_object_intern(&object);
    entry->n_dims = object.n_dims;
    entry->elements = elements;
    if (object.n_dims <= SW_ENTRY_DIMS)
        memcpy(entry->extents, object.extents, sizeof entry->extents);
}

void sw_h5_describe(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry)
{
    struct sw_h5_quiet quiet;
    uint32_t now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    if (!sw_capturing() || !h5->describes || entry->file == NULL ||
        (entry->described && entry->seen_changes == now))
        return;
    sw_h5_quiet_begin(h5, &quiet);
    describe(h5, dataset, entry);
    sw_h5_quiet_end(h5, &quiet);
    entry->described = true;
    entry->seen_changes = now;
    sw_handle_put(&sw_h5_handles, entry);
}

/* ---- selections ------------------------------------------------------------------------ */

static bool select_regular(const struct sw_h5 *h5, sw_hid space, struct sw_shape *shape)
{
    uint64_t elements = 1;
    if (h5->H5Sis_regular_hyperslab(space) <= 0 ||
        h5->H5Sget_regular_hyperslab(space, shape->start, shape->stride, shape->count,
                                     shape->block) < 0)
        return false;
    for (size_t i = 0; i < shape->n_dims; i++)
        if (shape->count[i] == UINT64_MAX || shape->block[i] == UINT64_MAX) /* H5S_UNLIMITED */
            return false;
        else
            elements *= shape->count[i] * shape->block[i];
    shape->kind = SW_SHAPE_REGULAR;
    shape->elements = elements;
    return true;
}

/* Returns whether a regular selection is not one contiguous piece of its extents. */
static bool has_holes(const struct sw_shape *shape)
{
    size_t d = shape->n_dims;
    while (d > 0 && shape->count[d - 1] * shape->block[d - 1] == shape->extents[d - 1])
        d--;
    if (d == 0)
        return false;
    if (shape->count[d - 1] > 1 && shape->stride[d - 1] != shape->block[d - 1])
        return true;
    for (size_t i = 0; i + 1 < d; i++)
        if (shape->count[i] * shape->block[i] > 1)
            return true;
    return false;
}

/* Returns the shape of the buffer, if it has holes (a halo). Without a memory space, it is that of
 * the file. */
static uint32_t intern_memory(const struct sw_h5 *h5, sw_hid memory, sw_hid in_file)
{
    struct sw_shape shape;
    uint64_t maximum[SW_MOST_DIMS];
    int64_t position;
    sw_hid space = memory != SW_H5_SPACE_ALL ? memory : in_file;
    if (space == SW_H5_SPACE_ALL || !sw_h5_is_space(space) ||
        h5->H5Sget_select_type(space) != SELECTED_HYPERSLABS)
        return 0;
    int n = h5->H5Sget_simple_extent_ndims(space);
    if (n <= 0 || n > SW_MOST_DIMS ||
        h5->H5Sget_simple_extent_dims(space, shape.extents, maximum) < 0)
        return 0;
    shape.n_dims = (uint8_t)n;
    if (!select_regular(h5, space, &shape) || !has_holes(&shape))
        return 0;
    shape.object = shape.memory = shape.n_boxes = 0;
    shape.flags = 0;
    shape.total_boxes = 0;
    shape.boxes = NULL;
    return sw_shape_intern(&shape, &position);
}

/* Points and boxes that HDF5 is asked for at once, and those of one call that are looked at. */
#define AT_ONCE 256
#define MOST_LISTED (1 << 16)

/* Adds boxes until the shape is full: of the rest, only the number is known. */
static bool select_boxes(const struct sw_h5 *h5, sw_hid space, struct sw_shape *shape,
                         uint64_t *boxes)
{
    uint64_t some[AT_ONCE * 2 * SW_ENTRY_DIMS];
    size_t n = shape->n_dims;
    int64_t total = h5->H5Sget_select_hyper_nblocks(space);
    uint64_t done = 0;
    while (done < (uint64_t)total && done < MOST_LISTED && shape->flags == 0) {
        uint64_t left = (uint64_t)total - done, now = left < AT_ONCE ? left : AT_ONCE;
        if (h5->H5Sget_select_hyper_blocklist(space, done, now, some) < 0)
            return false;
        for (size_t i = 0; i < now; i++)
            sw_shape_add_box(shape, boxes, some + 2 * i * n, some + (2 * i + 1) * n);
        done += now;
    }
    sw_shape_add_rest(shape, (uint64_t)total - done);
    shape->kind = SW_SHAPE_BOXES;
    return total > 0;
}

/* A point is a box of one element. */
static bool select_points(const struct sw_h5 *h5, sw_hid space, struct sw_shape *shape,
                          uint64_t *boxes)
{
    uint64_t some[AT_ONCE * SW_ENTRY_DIMS];
    size_t n = shape->n_dims;
    int64_t total = h5->H5Sget_select_elem_npoints(space);
    uint64_t done = 0;
    while (done < (uint64_t)total && done < MOST_LISTED && shape->flags == 0) {
        uint64_t left = (uint64_t)total - done, now = left < AT_ONCE ? left : AT_ONCE;
        if (h5->H5Sget_select_elem_pointlist(space, done, now, some) < 0)
            return false;
        for (size_t i = 0; i < now; i++)
            sw_shape_add_box(shape, boxes, some + i * n, some + i * n);
        done += now;
    }
    sw_shape_add_rest(shape, (uint64_t)total - done);
    shape->kind = SW_SHAPE_POINTS;
    return total > 0;
}

/* Rare and not inlined, because it needs room on the stack. */
static __attribute__((noinline)) uint32_t intern_listed(const struct sw_h5 *h5, sw_hid space,
                                                        bool points, struct sw_shape *shape,
                                                        int64_t *position)
{
    uint64_t boxes[SW_SHAPE_ROOM * 2 * SW_ENTRY_DIMS];
    uint64_t end[SW_MOST_DIMS];
    struct sw_h5_quiet quiet;
    if (shape->n_dims == 0 || shape->n_dims > SW_ENTRY_DIMS)
        return 0;
    sw_h5_quiet_begin(h5, &quiet);
    bool listed = (points ? select_points : select_boxes)(h5, space, shape, boxes) &&
                  h5->H5Sget_select_bounds(space, shape->start, end) >= 0;
    int64_t elements = h5->H5Sget_select_npoints(space);
    sw_h5_quiet_end(h5, &quiet);
    if (!listed)
        return 0;
    shape->elements = elements > 0 ? (uint64_t)elements : 0;
    shape->boxes = boxes;
    return sw_shape_intern(shape, position);
}

static bool fill_extents(const struct sw_h5 *h5, sw_hid dataset,
                         const struct sw_handle_entry *entry, struct sw_shape *shape)
{
    struct sw_object object;
    uint64_t elements;
    shape->n_dims = entry->n_dims;
    if (entry->n_dims > SW_ENTRY_DIMS) {
        if (!ask_space(h5, dataset, &object, &elements) || object.n_dims != entry->n_dims)
            return false;
        memcpy(shape->extents, object.extents, entry->n_dims * sizeof(uint64_t));
        return true;
    }
    for (size_t i = 0; i < entry->n_dims; i++)
        shape->extents[i] = entry->extents[i];
    return true;
}

static uint32_t intern(const struct sw_h5 *h5, sw_hid space, const struct sw_handle_entry *entry,
                       struct sw_shape *shape, int64_t *position)
{
    int selected = space == SW_H5_SPACE_ALL ? SELECTED_ALL : h5->H5Sget_select_type(space);
    switch (selected) {
    case SELECTED_ALL:
        shape->kind = SW_SHAPE_ALL;
        shape->elements = entry->elements;
        break;
    case SELECTED_NONE:
        shape->kind = SW_SHAPE_NONE;
        shape->elements = 0;
        break;
    case SELECTED_HYPERSLABS:
        if (!select_regular(h5, space, shape))
            return intern_listed(h5, space, false, shape, position);
        break;
    case SELECTED_POINTS:
        return intern_listed(h5, space, true, shape, position);
    default:
        return 0;
    }
    return sw_shape_intern(shape, position);
}

int64_t sw_h5_capture(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                      sw_hid memory, sw_hid in_file, struct sw_call *call)
{
    struct sw_shape shape; /* large: members that are not read are not set */
    int64_t position = 0;
    sw_h5_describe(h5, dataset, entry);
    call->object = entry->object;
    if (entry->object == 0 || (in_file != SW_H5_SPACE_ALL && !sw_h5_is_space(in_file)) ||
        !fill_extents(h5, dataset, entry, &shape))
        return -1;
    shape.object = entry->object;
    shape.memory = intern_memory(h5, memory, in_file);
    shape.flags = 0;
    shape.n_boxes = 0;
    shape.total_boxes = 0;
    shape.boxes = NULL;
    call->shape = intern(h5, in_file, entry, &shape, &position);
    if (call->shape == 0)
        return -1;
    call->position = position;
    return (int64_t)shape.elements;
}
