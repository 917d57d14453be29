/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Joins the boxes of a selection while they arrive, so that few describe many points or rows. */
#include "capture.h"

#include <string.h>

/* Returns the dimension in which `next` continues `box`, all of whose outer dimensions have one
 * element: only then is the order of elements that of the two boxes. -1 if it does not. */
static int continues_in(const uint64_t *box, const uint64_t *next, size_t n)
{
    size_t d = 0;
    while (d < n && box[d] == next[d] && box[n + d] == next[n + d] && box[d] == box[n + d])
        d++;
    if (d == n || next[d] != box[n + d] + 1)
        return -1;
    for (size_t inner = d + 1; inner < n; inner++)
        if (box[inner] != next[inner] || box[n + inner] != next[n + inner])
            return -1;
    return (int)d;
}

/* Joins the last two boxes as often as that is possible. */
static void join_last(struct sw_shape *shape, uint64_t *boxes)
{
    size_t n = shape->n_dims;
    while (shape->n_boxes >= 2) {
        uint64_t *box = boxes + 2 * n * (shape->n_boxes - 2);
        const uint64_t *next = box + 2 * n;
        int d = continues_in(box, next, n);
        if (d < 0)
            return;
        box[n + (size_t)d] = next[n + (size_t)d];
        shape->n_boxes--;
        shape->total_boxes--;
    }
}

void sw_shape_add_box(struct sw_shape *shape, uint64_t *boxes, const uint64_t *first,
                      const uint64_t *last)
{
    size_t n = shape->n_dims;
    shape->total_boxes++;
    if ((shape->flags & SW_SHAPE_TRUNCATED) != 0)
        return;
    uint64_t *box = boxes + 2 * n * shape->n_boxes++;
    memcpy(box, first, n * sizeof *box);
    memcpy(box + n, last, n * sizeof *box);
    join_last(shape, boxes);
    if (shape->n_boxes > SW_SHAPE_MOST_BOXES) {
        shape->n_boxes--;
        shape->flags |= SW_SHAPE_TRUNCATED;
    }
}

void sw_shape_add_rest(struct sw_shape *shape, uint64_t number)
{
    shape->total_boxes += number;
    if (number > 0)
        shape->flags |= SW_SHAPE_TRUNCATED;
}
