/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map of a datatype as a list of contiguous pieces. A datatype is decoded once, into a tree
 * without MPI handles (types.c); the tree is then walked by pure arithmetic (pieces.c).
 */
#ifndef STRIPEWISE_FLATTEN_H
#define STRIPEWISE_FLATTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind {
    NODE_LEAF,     /* predefined: one piece, or two (`second_offset`) */
    NODE_STRIDED,  /* arguments: count, block, stride in bytes */
    NODE_BLOCKS,   /* arguments: count x block, count x offset in bytes */
    NODE_STRUCT,   /* as NODE_BLOCKS, each with a child of its own */
    NODE_SUBARRAY, /* arguments: n_dims x (size, part, start), slowest first */
    NODE_DARRAY,   /* arguments: n_dims x (size, block, processes, place), slowest first */
};

struct node {
    enum node_kind kind;
    bool dense;      /* its map is one piece */
    int64_t lower;   /* lower bound of the datatype, or if it is dense, of its piece */
    int64_t bytes;   /* of data */
    int64_t extent;  /* distance to the next one */
    int64_t n_first; /* NODE_LEAF: bytes before the hole, 0: none */
    int64_t second_offset;
    size_t n; /* blocks or dimensions */
    int64_t *arguments;
    size_t n_children;
    struct node **children;
};

typedef int piece_visitor(void *context, int64_t offset, int64_t bytes);

/* Returns 0 if all pieces were visited, 1 if the visitor stopped. */
int node_walk(const struct node *node, int64_t offset, piece_visitor *visit, void *context);
/* Sets `dense`, and `lower` if it is, of a node whose children are complete. */
void node_judge(struct node *node);
void node_free(struct node *node);

/* Entries of the plug-in (plugin.h). */
int sw_type_pieces(uintptr_t datatype, piece_visitor *visit, void *context);
int sw_type_extent(uintptr_t datatype, int64_t *lower, int64_t *extent);

#endif
