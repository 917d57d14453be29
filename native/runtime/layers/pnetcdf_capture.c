/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records variables and selections in the trace. A variable is queried once, and again when
 * definitions may have changed; everything is local to the rank. The record dimension is the
 * slowest one and has no fixed extent: it is 0 in the trace, and its maximum is unlimited.
 */
#include <string.h>

#include "layers/pnetcdf.h"

#define NAME_BYTES 257 /* NC_MAX_NAME and its end */

static struct sw_handle_table variables;
static uint32_t changes = 1;

void sw_pn_definitions_changed(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_RELEASE);
}

/* ---- variables ----------------------------------------------------------------------- */

static bool answers(void)
{
    return sw_pn_ask.varname && sw_pn_ask.varndims && sw_pn_ask.vardimid && sw_pn_ask.dimlen &&
           sw_pn_ask.vartype && sw_pn_ask.unlimdim;
}

/* By nc_type (pnetcdf.h). */
static void describe_type(struct sw_object *object, int type)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    enum { NC_CHAR = 2, NC_FLOAT = 5, NC_DOUBLE = 6 };
    if (type <= 0 || type >= (int)sizeof bytes)
        return;
    object->element_bytes = bytes[type];
    object->type_class = SW_TYPE_CLASS_INTEGER;
    if (type == NC_CHAR)
        object->type_class = SW_TYPE_CLASS_STRING;
    else if (type == NC_FLOAT || type == NC_DOUBLE)
        object->type_class = SW_TYPE_CLASS_FLOAT;
}

static bool describe_dimensions(struct sw_object *object, int ncid, int varid)
{
    int ids[SW_MOST_DIMS];
    int n = 0;
    int unlimited = -1;
    if (sw_pn_ask.varndims(ncid, varid, &n) != SW_PN_SUCCESS || n < 0 || n > SW_MOST_DIMS ||
        sw_pn_ask.vardimid(ncid, varid, ids) != SW_PN_SUCCESS ||
        sw_pn_ask.unlimdim(ncid, &unlimited) != SW_PN_SUCCESS)
        return false;
    object->n_dims = (uint8_t)n;
    object->storage = SW_STORAGE_CONTIGUOUS;
    for (int i = 0; i < n; i++) {
        sw_mpi_offset length = 0;
        if (ids[i] == unlimited) {
            object->maximum[i] = UINT64_MAX;
            object->storage = SW_STORAGE_OTHER; /* records of several variables alternate */
        } else if (sw_pn_ask.dimlen(ncid, ids[i], &length) != SW_PN_SUCCESS) {
            return false;
        } else {
            object->extents[i] = object->maximum[i] = (uint64_t)length;
        }
    }
    return true;
}

static bool describe(struct sw_handle_entry *entry, int ncid, int varid)
{
    struct sw_object object;
    char name[NAME_BYTES] = "";
    int type = 0;
    memset(&object, 0, sizeof object);
    if (!describe_dimensions(&object, ncid, varid) ||
        sw_pn_ask.varname(ncid, varid, name) != SW_PN_SUCCESS ||
        sw_pn_ask.vartype(ncid, varid, &type) != SW_PN_SUCCESS)
        return false;
    describe_type(&object, type);
    object.file_id = sw_file_id(entry->file);
    object.layer = SW_LAYER_PNETCDF;
    object.name = name;
    entry->object = sw_object_intern(&object);
    entry->n_dims = object.n_dims;
    if (object.n_dims <= SW_ENTRY_DIMS)
        memcpy(entry->extents, object.extents, sizeof entry->extents);
    return entry->object != 0;
}

/* Fills what all selections of a variable have in common; returns false if nothing is known. */
static bool look_up(struct sw_call *call, int ncid, int varid, struct sw_shape *shape)
{
    struct sw_handle_entry entry;
    uint64_t key = (uint64_t)(uint32_t)ncid << 32 | ((uint64_t)(uint32_t)varid + 1);
    uint32_t now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    if (!sw_handle_find(&variables, key, &entry) || entry.seen_changes != now) {
        memset(&entry, 0, sizeof entry);
        entry.handle = key;
        entry.file = sw_pn_file(ncid);
        entry.seen_changes = now;
        sw_inside_begin();
        bool known = entry.file != NULL && answers() && describe(&entry, ncid, varid);
        sw_inside_end();
        if (!known)
            return false;
        sw_handle_put(&variables, &entry);
    }
    call->object = entry.object;
    shape->object = entry.object;
    shape->memory = 0;
    shape->n_dims = entry.n_dims;
    shape->flags = 0;
    shape->n_boxes = 0;
    shape->total_boxes = 0;
    shape->boxes = NULL;
    if (entry.n_dims > SW_ENTRY_DIMS) /* rare enough to be left out */
        return false;
    for (size_t i = 0; i < entry.n_dims; i++)
        shape->extents[i] = entry.extents[i];
    return true;
}

/* ---- selections -------------------------------------------------------------------------- */

static void intern(struct sw_call *call, const struct sw_shape *shape)
{
    int64_t position = 0;
    call->shape = sw_shape_intern(shape, &position);
    if (call->shape != 0)
        call->position = position;
}

static void intern_box(struct sw_call *call, struct sw_shape *shape, const sw_mpi_offset *start,
                       const sw_mpi_offset *count, const sw_mpi_offset *stride)
{
    shape->elements = 1;
    for (size_t i = 0; i < shape->n_dims; i++) {
        shape->start[i] = (uint64_t)start[i];
        shape->count[i] = count != NULL ? (uint64_t)count[i] : 1;
        shape->stride[i] = stride != NULL ? (uint64_t)stride[i] : 1;
        shape->block[i] = 1;
        shape->elements *= shape->count[i];
    }
    shape->kind = shape->elements == 0 ? SW_SHAPE_NONE : SW_SHAPE_REGULAR;
    intern(call, shape);
}

void sw_pn_capture_variable(struct sw_call *call, int ncid, int varid)
{
    struct sw_shape shape;
    (void)look_up(call, ncid, varid, &shape);
}

void sw_pn_capture_whole(struct sw_call *call, int ncid, int varid)
{
    struct sw_shape shape;
    if (!look_up(call, ncid, varid, &shape))
        return;
    shape.kind = SW_SHAPE_ALL;
    shape.elements = (uint64_t)sw_pn_whole(ncid, varid);
    intern(call, &shape);
}

void sw_pn_capture_box(struct sw_call *call, int ncid, int varid, const sw_mpi_offset *start,
                       const sw_mpi_offset *count, const sw_mpi_offset *stride)
{
    struct sw_shape shape;
    if (look_up(call, ncid, varid, &shape) && (start != NULL || shape.n_dims == 0))
        intern_box(call, &shape, start, count, stride);
}

/* ---- several boxes ------------------------------------------------------------------------ */

/* Returns the number of elements of a box; 0 if it is empty. */
static uint64_t volume(const sw_mpi_offset *count, size_t n)
{
    uint64_t elements = 1;
    for (size_t i = 0; count != NULL && i < n; i++)
        elements *= (uint64_t)count[i];
    return elements;
}

static void add_box(struct sw_shape *shape, uint64_t *boxes, const sw_mpi_offset *start,
                    const sw_mpi_offset *count)
{
    uint64_t first[SW_ENTRY_DIMS], last[SW_ENTRY_DIMS];
    for (size_t i = 0; i < shape->n_dims; i++) {
        first[i] = (uint64_t)start[i];
        last[i] = first[i] + (count != NULL ? (uint64_t)count[i] : 1) - 1;
        if (shape->total_boxes == 0 || first[i] < shape->start[i])
            shape->start[i] = first[i];
    }
    shape->elements += volume(count, shape->n_dims);
    sw_shape_add_box(shape, boxes, first, last);
}

void sw_pn_capture_boxes(struct sw_call *call, int ncid, int varid, int number,
                         sw_mpi_offset *const *starts, sw_mpi_offset *const *counts)
{
    uint64_t boxes[SW_SHAPE_ROOM * 2 * SW_ENTRY_DIMS];
    struct sw_shape shape;
    if (!look_up(call, ncid, varid, &shape) || shape.n_dims == 0 || starts == NULL)
        return;
    if (number == 1 && starts[0] != NULL) {
        intern_box(call, &shape, starts[0], counts != NULL ? counts[0] : NULL, NULL);
        return;
    }
    shape.elements = 0;
    for (int i = 0; i < number; i++) {
        const sw_mpi_offset *count = counts != NULL ? counts[i] : NULL;
        if (starts[i] != NULL && volume(count, shape.n_dims) > 0)
            add_box(&shape, boxes, starts[i], count);
    }
    shape.boxes = boxes;
    shape.kind = counts == NULL ? SW_SHAPE_POINTS : SW_SHAPE_BOXES;
    if (shape.total_boxes == 0)
        shape.kind = SW_SHAPE_NONE;
    intern(call, &shape);
}
