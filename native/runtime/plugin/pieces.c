/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Walks the tree of a datatype in the order of its map. */
#include <stdlib.h>

#include "flatten.h"

#define MAX_DIMS 64

struct walk {
    piece_visitor *visit;
    void *context;
};

static int visit_node(const struct walk *walk, const struct node *node, int64_t offset);

/* Visits so many of them, one after the other. */
static int visit_run(const struct walk *walk, const struct node *node, int64_t offset,
                     int64_t count)
{
    int stopped = 0;
    if (count <= 0 || node->bytes == 0)
        return 0;
    if (node->dense && node->bytes == node->extent)
        return walk->visit(walk->context, offset + node->lower, count * node->bytes);
    for (int64_t i = 0; !stopped && i < count; i++)
        stopped = visit_node(walk, node, offset + i * node->extent);
    return stopped;
}

static int visit_leaf(const struct walk *walk, const struct node *node, int64_t offset)
{
    int64_t rest = node->bytes - node->n_first;
    if (node->n_first == 0)
        return walk->visit(walk->context, offset + node->lower, node->bytes);
    return walk->visit(walk->context, offset, node->n_first) ||
           walk->visit(walk->context, offset + node->second_offset, rest);
}

static int visit_strided(const struct walk *walk, const struct node *node, int64_t offset)
{
    const struct node *child = node->children[0];
    int64_t count = node->arguments[0];
    int64_t block = node->arguments[1];
    int64_t stride = node->arguments[2];
    int stopped = 0;
    if (count > 1 &&
        stride == block * child->extent) /* no holes: its blocks need not be visited */
        return visit_run(walk, child, offset, count * block);
    for (int64_t i = 0; !stopped && i < count; i++)
        stopped = visit_run(walk, child, offset + i * stride, block);
    return stopped;
}

static int visit_blocks(const struct walk *walk, const struct node *node, int64_t offset)
{
    int stopped = 0;
    for (size_t i = 0; !stopped && i < node->n; i++)
        stopped = visit_run(walk, node->children[node->kind == NODE_STRUCT ? i : 0],
                            offset + node->arguments[node->n + i], node->arguments[i]);
    return stopped;
}

/* ---- arrays ------------------------------------------------------------------------ */

/* Position of a process's elements of one dimension: blocks at a stride. */
struct dimension {
    int64_t size;
    int64_t first;
    int64_t block;
    int64_t stride;
};

/* Returns the number of contiguous elements from the position on; 0 if the position is past the
 * end. */
static int64_t side_by_side(const struct dimension *dimension, int64_t at)
{
    int64_t end = dimension->first + dimension->block;
    if (at >= dimension->first)
        end += (at - dimension->first) / dimension->stride * dimension->stride;
    return (end < dimension->size ? end : dimension->size) - at;
}

/* Returns the next position; `size` or more if there is none. */
static int64_t next_position(const struct dimension *dimension, int64_t at)
{
    if (side_by_side(dimension, at) > 1)
        return at + 1;
    return dimension->first +
           ((at - dimension->first) / dimension->stride + 1) * dimension->stride;
}

/* The last dimension is the fastest; one that is complete is merged with its slower neighbour. */
static size_t join_whole(struct dimension *dimensions, size_t n, int64_t *unit)
{
    while (n > 1 && dimensions[n - 1].first == 0 &&
           dimensions[n - 1].block >= dimensions[n - 1].size) {
        *unit *= dimensions[n - 1].size;
        n--;
    }
    return n;
}

static int visit_rows(const struct walk *walk, const struct node *child,
                      const struct dimension *dimensions, size_t n, int64_t unit, int64_t offset)
{
    const struct dimension *last = &dimensions[n - 1];
    int64_t at[MAX_DIMS];
    for (size_t i = 0; i < n; i++) {
        at[i] = dimensions[i].first;
        if (side_by_side(&dimensions[i], at[i]) <= 0)
            return 0;
    }
    for (;;) {
        int64_t row = 0;
        for (size_t i = 0; i + 1 < n; i++)
            row = (row + at[i]) * dimensions[i + 1].size;
        for (int64_t j = last->first; j < last->size;) {
            int64_t count = side_by_side(last, j);
            if (visit_run(walk, child, offset + (row + j) * unit * child->extent, count * unit))
                return 1;
            j = next_position(last, j + count - 1);
        }
        size_t i = n - 1;
        while (i > 0 && (at[i - 1] = next_position(&dimensions[i - 1], at[i - 1])) >=
                            dimensions[i - 1].size) {
            at[i - 1] = dimensions[i - 1].first;
            i--;
        }
        if (i == 0)
            return 0;
    }
}

static int visit_array(const struct walk *walk, const struct node *node, int64_t offset)
{
    struct dimension dimensions[MAX_DIMS];
    int64_t unit = 1;
    for (size_t i = 0; i < node->n; i++) {
        const int64_t *given = &node->arguments[i * (node->kind == NODE_DARRAY ? 4 : 3)];
        if (node->kind == NODE_DARRAY)
            dimensions[i] =
                (struct dimension){given[0], given[3] * given[1], given[1], given[1] * given[2]};
        else /* the second block would begin past the end */
            dimensions[i] = (struct dimension){given[0], given[2], given[1], given[0]};
    }
    size_t n = join_whole(dimensions, node->n, &unit);
    return visit_rows(walk, node->children[0], dimensions, n, unit, offset);
}

/* ---- all ------------------------------------------------------------------------------ */

static int visit_node(const struct walk *walk, const struct node *node, int64_t offset)
{
    if (node->bytes == 0)
        return 0;
    if (node->dense)
        return walk->visit(walk->context, offset + node->lower, node->bytes);
    switch (node->kind) {
    case NODE_LEAF:
        return visit_leaf(walk, node, offset);
    case NODE_STRIDED:
        return visit_strided(walk, node, offset);
    case NODE_BLOCKS:
    case NODE_STRUCT:
        return visit_blocks(walk, node, offset);
    case NODE_SUBARRAY:
    case NODE_DARRAY:
        return visit_array(walk, node, offset);
    }
    return 0;
}

int node_walk(const struct node *node, int64_t offset, piece_visitor *visit, void *context)
{
    const struct walk walk = {.visit = visit, .context = context};
    return visit_node(&walk, node, offset);
}

struct seam {
    int64_t first;
    int64_t end;
    bool any;
};

/* Stops at the first hole. */
static int touch(void *context, int64_t offset, int64_t bytes)
{
    struct seam *seam = context;
    if (seam->any && offset != seam->end)
        return 1;
    if (!seam->any)
        seam->first = offset;
    seam->any = true;
    seam->end = offset + bytes;
    return 0;
}

void node_judge(struct node *node)
{
    struct seam seam = {0};
    node->dense = false;
    if (node->bytes == 0 || node_walk(node, 0, touch, &seam) != 0)
        return;
    node->dense = seam.any && seam.end - seam.first == node->bytes;
    if (node->dense)
        node->lower = seam.first;
}

void node_free(struct node *node)
{
    if (node == NULL)
        return;
    for (size_t i = 0; i < node->n_children; i++)
        node_free(node->children[i]);
    free(node->children);
    free(node->arguments);
    free(node);
}
