/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes a datatype by MPI_Type_get_envelope and MPI_Type_get_contents; from MPI 4 on by their
 * large-count variants, which support every datatype. The constructor's arguments are returned as
 * integers, addresses and counts; `gather` merges them into one list in the order of the
 * constructor's arguments. Source: MPI 4.1, 5.1.13, tables of the combiners.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "flatten.h"

#define MAX_DEPTH 64
#define MAX_DIMS 64

/* Result of querying one datatype. */
struct contents {
    int combiner;
    size_t n_numbers;
    int64_t *numbers; /* the constructor's arguments, without the datatypes */
    size_t n_types;
    MPI_Datatype *types;
};

/* ---- querying --------------------------------------------------------------------------- */

struct raw {
    MPI_Count n_integers;
    MPI_Count n_addresses;
    MPI_Count n_counts;
    MPI_Count n_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
};

static int ask_envelope(MPI_Datatype type, struct raw *raw, int *combiner)
{
#if MPI_VERSION >= 4
    return PMPI_Type_get_envelope_c(type, &raw->n_integers, &raw->n_addresses, &raw->n_counts,
                                    &raw->n_types, combiner);
#else
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, combiner);
    raw->n_integers = integers;
    raw->n_addresses = addresses;
    raw->n_types = types;
    return code;
#endif
}

static int ask_contents(MPI_Datatype type, const struct raw *raw, MPI_Datatype *types)
{
#if MPI_VERSION >= 4
    return PMPI_Type_get_contents_c(type, raw->n_integers, raw->n_addresses, raw->n_counts,
                                    raw->n_types, raw->integers, raw->addresses, raw->counts,
                                    types);
#else
    return PMPI_Type_get_contents(type, (int)raw->n_integers, (int)raw->n_addresses,
                                  (int)raw->n_types, raw->integers, raw->addresses, types);
#endif
}

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER
#if defined(MPI_COMBINER_VALUE_INDEX)
           || combiner == MPI_COMBINER_VALUE_INDEX
#endif
        ;
}

/* Returns the number of integers of an array's constructor before, and after, its counts. */
static size_t integers_first(const struct raw *raw, int combiner)
{
    if (combiner == MPI_COMBINER_SUBARRAY)
        return 1;
    return combiner == MPI_COMBINER_DARRAY ? 3 : (size_t)raw->n_integers;
}

/* Counts of the large variants replace integers. */
static void gather(const struct raw *raw, struct contents *contents)
{
    size_t first =
        raw->n_counts > 0 ? integers_first(raw, contents->combiner) : (size_t)raw->n_integers;
    int64_t *at = contents->numbers;
    for (size_t i = 0; i < first && i < (size_t)raw->n_integers; i++)
        *at++ = raw->integers[i];
    for (size_t i = 0; i < (size_t)raw->n_counts; i++)
        *at++ = raw->counts[i];
    for (size_t i = first; i < (size_t)raw->n_integers; i++)
        *at++ = raw->integers[i];
    for (size_t i = 0; i < (size_t)raw->n_addresses; i++)
        *at++ = raw->addresses[i];
}

static bool ask_room(struct raw *raw, struct contents *contents)
{
    contents->n_numbers = (size_t)(raw->n_integers + raw->n_addresses + raw->n_counts);
    contents->n_types = (size_t)raw->n_types;
    raw->integers = calloc((size_t)raw->n_integers + 1, sizeof *raw->integers);
    raw->addresses = calloc((size_t)raw->n_addresses + 1, sizeof *raw->addresses);
    raw->counts = calloc((size_t)raw->n_counts + 1, sizeof *raw->counts);
    contents->numbers = calloc(contents->n_numbers + 1, sizeof *contents->numbers);
    contents->types = calloc(contents->n_types + 1, sizeof *contents->types);
    return raw->integers && raw->addresses && raw->counts && contents->numbers && contents->types;
}

/* Handles of derived datatypes belong to us, those of predefined ones do not. */
static void free_handle(MPI_Datatype type)
{
    struct raw raw = {0};
    int combiner = MPI_COMBINER_NAMED;
    if (ask_envelope(type, &raw, &combiner) == MPI_SUCCESS && !is_predefined(combiner))
        PMPI_Type_free(&type);
}

static void free_contents(struct contents *contents)
{
    for (size_t i = 0; contents->types != NULL && i < contents->n_types; i++)
        free_handle(contents->types[i]);
    free(contents->numbers);
    free(contents->types);
}

static bool ask(MPI_Datatype type, struct contents *contents)
{
    struct raw raw = {0};
    memset(contents, 0, sizeof *contents);
    if (ask_envelope(type, &raw, &contents->combiner) != MPI_SUCCESS)
        return false;
    if (is_predefined(contents->combiner))
        return true;
    bool known =
        ask_room(&raw, contents) && ask_contents(type, &raw, contents->types) == MPI_SUCCESS;
    if (known)
        gather(&raw, contents);
    else
        contents->n_types = 0;
    free(raw.integers);
    free(raw.addresses);
    free(raw.counts);
    return known;
}

/* ---- building --------------------------------------------------------------------------- */

/* Allocates room for so many numbers; returns false if there is none, or the constructor had fewer
 * than `wanted`. */
static bool prepare(struct node *node, enum node_kind kind, size_t n, size_t room,
                    const struct contents *contents, size_t wanted)
{
    node->kind = kind;
    node->n = n;
    node->arguments = calloc(room + 1, sizeof *node->arguments);
    return node->arguments != NULL && contents->n_numbers >= wanted;
}

static bool build_strided(struct node *node, int64_t count, int64_t block, int64_t stride)
{
    node->kind = NODE_STRIDED;
    node->arguments = calloc(3, sizeof *node->arguments);
    if (node->arguments == NULL)
        return false;
    node->arguments[0] = count;
    node->arguments[1] = block;
    node->arguments[2] = stride;
    return true;
}

/* `blocks`: the argument with the first length; `same`: one length for all. */
static bool build_blocks(struct node *node, const struct contents *contents, int64_t unit,
                         bool same)
{
    size_t n = contents->n_numbers > 0 ? (size_t)contents->numbers[0] : 0;
    size_t lengths = same ? 1 : n;
    if (!prepare(node, NODE_BLOCKS, n, 2 * n, contents, 1 + lengths + n))
        return false;
    for (size_t i = 0; i < n; i++) {
        node->arguments[i] = contents->numbers[1 + (same ? 0 : i)];
        node->arguments[n + i] = contents->numbers[1 + lengths + i] * unit;
    }
    return true;
}

/* Returns the argument index of dimension `i` of the tree, whose first dimension is the slowest.
 * */
static size_t given_dimension(size_t i, size_t n, int64_t order)
{
    return order == MPI_ORDER_FORTRAN ? n - 1 - i : i;
}

static bool build_subarray(struct node *node, const struct contents *contents)
{
    const int64_t *numbers = contents->numbers;
    size_t n = contents->n_numbers > 0 ? (size_t)numbers[0] : 0;
    if (n == 0 || n > MAX_DIMS || !prepare(node, NODE_SUBARRAY, n, 3 * n, contents, 3 * n + 2))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t from = given_dimension(i, n, numbers[1 + 3 * n]);
        node->arguments[3 * i] = numbers[1 + from];
        node->arguments[3 * i + 1] = numbers[1 + n + from];
        node->arguments[3 * i + 2] = numbers[1 + 2 * n + from];
    }
    return true;
}

static int64_t darray_block(int64_t size, int64_t distribution, int64_t argument,
                            int64_t processes)
{
    if (distribution == MPI_DISTRIBUTE_NONE)
        return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG)
        return argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
}

/* Arguments: size, rank, n_dims, then for each dimension sizes, distributions, arguments,
 * processes; order. Ranks are arranged in C order, whatever the order of the array. */
static bool build_darray(struct node *node, const struct contents *contents)
{
    const int64_t *numbers = contents->numbers;
    size_t n = contents->n_numbers > 2 ? (size_t)numbers[2] : 0;
    if (n == 0 || n > MAX_DIMS || !prepare(node, NODE_DARRAY, n, 4 * n, contents, 4 * n + 4))
        return false;
    const int64_t *sizes = numbers + 3;
    const int64_t *processes = sizes + 3 * n;
    int64_t place[MAX_DIMS];
    int64_t rank = numbers[1];
    for (size_t i = n; i-- > 0;) {
        int64_t among = processes[i] > 0 ? processes[i] : 1;
        place[i] = rank % among;
        rank /= among;
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = given_dimension(i, n, numbers[3 + 4 * n]);
        int64_t *out = &node->arguments[4 * i];
        out[0] = sizes[from];
        out[1] = darray_block(sizes[from], sizes[n + from], sizes[2 * n + from], processes[from]);
        out[2] = processes[from];
        out[3] = place[from];
        if (out[2] == 1 && out[1] > 0) /* all of it, however it is distributed */
            out[1] = sizes[from];
        if (out[1] <= 0 || out[2] <= 0)
            return false;
    }
    return true;
}

/* Only MPI_SHORT_INT has a hole between its parts. */
static bool build_leaf(struct node *node, MPI_Datatype type)
{
    struct pair {
        short value;
        int place;
    };
    node->kind = NODE_LEAF;
    if (type == MPI_SHORT_INT) {
        node->n_first = sizeof(short);
        node->second_offset = offsetof(struct pair, place);
    }
    return true;
}

static bool has_children(const struct contents *contents)
{
    return contents->n_types >= 1 && contents->numbers != NULL;
}

/* `child`: extent of the old datatype. */
static bool build_own(struct node *node, const struct contents *contents, int64_t child)
{
    const int64_t *numbers = contents->numbers;
    size_t n = contents->n_numbers;
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return build_strided(node, 1, 1, 0);
    case MPI_COMBINER_CONTIGUOUS:
        return n >= 1 && build_strided(node, 1, numbers[0], 0);
    case MPI_COMBINER_VECTOR:
        return n >= 3 && build_strided(node, numbers[0], numbers[1], numbers[2] * child);
    case MPI_COMBINER_HVECTOR:
        return n >= 3 && build_strided(node, numbers[0], numbers[1], numbers[2]);
    case MPI_COMBINER_INDEXED:
        return build_blocks(node, contents, child, false);
    case MPI_COMBINER_HINDEXED:
        return build_blocks(node, contents, 1, false);
    case MPI_COMBINER_INDEXED_BLOCK:
        return build_blocks(node, contents, child, true);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return build_blocks(node, contents, 1, true);
    case MPI_COMBINER_STRUCT:
        if (!build_blocks(node, contents, 1, false) || node->n > contents->n_types)
            return false;
        node->kind = NODE_STRUCT;
        return true;
    case MPI_COMBINER_SUBARRAY:
        return build_subarray(node, contents);
    case MPI_COMBINER_DARRAY:
        return build_darray(node, contents);
    default:
        return false;
    }
}

static struct node *build(MPI_Datatype type, int depth);

static bool build_children(struct node *node, const struct contents *contents, int depth)
{
    node->children = calloc(contents->n_types + 1, sizeof *node->children);
    for (size_t i = 0; node->children != NULL && i < contents->n_types; i++) {
        node->children[i] = build(contents->types[i], depth + 1);
        if (node->children[i] == NULL)
            return false;
        node->n_children++;
    }
    return node->children != NULL;
}

static bool measure(struct node *node, MPI_Datatype type)
{
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    MPI_Count bytes = MPI_UNDEFINED;
    if (PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED)
        return false;
    node->extent = extent;
    node->bytes = bytes;
    return true;
}

static bool fill(struct node *node, MPI_Datatype type, int depth)
{
    struct contents contents;
    if (depth > MAX_DEPTH || !measure(node, type) || !ask(type, &contents))
        return false;
    bool done =
        is_predefined(contents.combiner)
            ? build_leaf(node, type)
            : build_children(node, &contents, depth) &&
                  (contents.combiner == MPI_COMBINER_STRUCT || has_children(&contents)) &&
                  build_own(node, &contents, node->n_children > 0 ? node->children[0]->extent : 0);
    free_contents(&contents);
    if (done)
        node_judge(node);
    return done;
}

static struct node *build(MPI_Datatype type, int depth)
{
    struct node *node = calloc(1, sizeof *node);
    if (node != NULL && !fill(node, type, depth)) {
        node_free(node);
        node = NULL;
    }
    return node;
}

/* ---- the entries -------------------------------------------------------------------------- */

int sw_type_pieces(uintptr_t datatype, piece_visitor *visit, void *context)
{
    struct node *node = build((MPI_Datatype)datatype, 0);
    if (node == NULL)
        return -1;
    int stopped = node_walk(node, 0, visit, context);
    node_free(node);
    return stopped != 0;
}

int sw_type_extent(uintptr_t datatype, int64_t *lower, int64_t *extent)
{
    MPI_Count low = 0;
    MPI_Count wide = 0;
    int code = PMPI_Type_get_extent_x((MPI_Datatype)datatype, &low, &wide);
    *lower = low;
    *extent = wide;
    return code;
}
