/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture: what a layer records beyond a call's time, bytes and offset. While capture is on, the
 * core records one event at every sw_leave* by itself; a layer adds detail between sw_enter and
 * sw_leave:
 *
 *   if (sw_capturing()) {
 *       call.object = entry.object;
 *       call.shape = sw_shape_intern(&shape, &call.position);
 *   }
 *
 * The name of a call is that of the exported function: sw_enter takes it from __func__; a wrapper
 * that enters in a shared inner function passes it with sw_enter_as.
 */
#ifndef STRIPEWISE_CAPTURE_H
#define STRIPEWISE_CAPTURE_H

#include "core/core.h"
#include "stripewise/trace.h"

/* Returns whether capture is on in this process (cheap: one load). */
bool sw_capturing(void);

/* ---- objects ---------------------------------------------------------------------- */

#define SW_MOST_DIMS 32

struct sw_object {
    uint64_t file_id;
    uint32_t element_bytes;
    uint8_t layer;
    uint8_t type_class;
    uint8_t storage;
    uint8_t n_dims;
    uint64_t extents[SW_MOST_DIMS];
    uint64_t maximum[SW_MOST_DIMS];
    uint64_t chunk[SW_MOST_DIMS]; /* zeros: not chunked */
    const char *name;
};

/* Returns the number of the object in the trace: of the existing record with this description, or
 * of a new one. 0 if there is no room, or capture is off. Keeps errno; takes the library's lock.
 * */
uint32_t sw_object_intern(const struct sw_object *object);

/* ---- shapes ----------------------------------------------------------------------- */

struct sw_shape {
    uint32_t object;
    uint32_t memory; /* shape of the buffer if it has holes, 0: contiguous */
    uint8_t kind;    /* enum sw_shape_kind */
    uint8_t n_dims;
    uint16_t flags;
    uint32_t n_boxes;
    uint64_t total_boxes;
    uint64_t elements;
    uint64_t extents[SW_MOST_DIMS];
    /* Absolute. REGULAR: start, stride, count, block; otherwise `start` is the lower corner. */
    uint64_t start[SW_MOST_DIMS];
    uint64_t stride[SW_MOST_DIMS];
    uint64_t count[SW_MOST_DIMS];
    uint64_t block[SW_MOST_DIMS];
    /* BOXES and POINTS: n_boxes x (first[n_dims], last[n_dims]), absolute; NULL otherwise. A
     * point is a box of one element, joined with others by sw_shape_add_box. */
    const uint64_t *boxes;
};

/* Returns the number of the shape, and in *position the C order index of `start` in the extents (0
 * for ALL and NONE). 0 if there is no room, or capture is off. Cheap for a known shape: no lock.
 * */
uint32_t sw_shape_intern(const struct sw_shape *shape, int64_t *position);

#define SW_SHAPE_ROOM (SW_SHAPE_MOST_BOXES + 1)

/* Adds a box to a shape of BOXES or POINTS: `boxes` has room for SW_SHAPE_ROOM. It is joined with
 * the previous ones as far as their elements, in C order, follow each other in the same order
 * then; what finds no room makes the shape truncated. `shape` begins with no boxes. */
void sw_shape_add_box(struct sw_shape *shape, uint64_t *boxes, const uint64_t *first,
                      const uint64_t *last);
/* Counts boxes that are not looked at: if there are any, the shape is truncated. */
void sw_shape_add_rest(struct sw_shape *shape, uint64_t number);

/* ---- views ------------------------------------------------------------------------ */

/* Folds the pieces of a datatype as they arrive. */
struct sw_pieces {
    struct sw_piece piece[SW_VIEW_MOST_PIECES];
    uint32_t n_pieces;
    bool truncated;
    uint64_t total; /* pieces that are not adjacent */
    /* The last piece, which may continue; sw_pieces_end, called by sw_view_intern, folds it too.
     * */
    int64_t open_offset;
    uint64_t open_bytes;
    uint64_t visited;
};
/* A `visit` of sw_plugin.type_pieces: joins a piece that is adjacent to the previous one, and
 * folds equal ones at a regular stride. Returns 0 to continue, 1 to stop with `truncated` set. */
int sw_pieces_add(void *pieces, int64_t offset, int64_t bytes);
/* Call after the last piece; a second call is harmless. */
void sw_pieces_end(struct sw_pieces *pieces);

struct sw_view {
    uint64_t file_id;
    int64_t displacement;
    uint64_t etype_bytes;
    uint64_t filetype_bytes;
    int64_t filetype_lower;
    int64_t filetype_extent;
    struct sw_pieces *pieces;
};
/* Returns the number of the view, which is the same for equal views. 0 if there is no room, or
 * capture is off. */
uint32_t sw_view_intern(const struct sw_view *view);

#endif
