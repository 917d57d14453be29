/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* For every pattern and many numbers of ranks: each element of the global array belongs to one
 * rank, runs ascend and lie inside of memory, and btio deals out the same number of cells of each
 * slab. */
#include "../../native/kernels/backends/mpiio_types.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                        \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s of %d ranks, rank %d: %s\n", options->pattern->name, n_ranks,     \
                    rank, #condition);                                                            \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* What multi-partitioning is for: in every slab a rank has the same number of cells. */
static bool slabs_are_even(const struct sw_share *share, int d)
{
    const struct sw_domain *domain = &share->domains[0];
    int64_t expected = (int64_t)domain->n_boxes / share->grid[d];
    for (int64_t slab = 0; slab < share->grid[d]; slab++) {
        int64_t start = 0;
        int64_t count = 0;
        int64_t cells = 0;
        sw_split(domain->extent[d], share->grid[d], slab, &start, &count);
        for (size_t b = 0; b < domain->n_boxes; b++)
            cells += domain->boxes[b].start[d] == start;
        if (cells != expected)
            return false;
    }
    return true;
}

static void check_rank(const struct sw_options *options, int n_ranks, int rank, int *owners,
                       bool same_boxes, size_t *n_boxes)
{
    struct sw_share share;
    char trouble[512];
    int64_t owned = 0;
    int64_t end = 0;
    REQUIRE(sw_share_make(options, rank, n_ranks, &share, trouble, sizeof trouble));
    const struct sw_domain domain = share.domains[0];
    for (size_t r = 0; r < domain.n_runs; r++) {
        const struct sw_run *run = &domain.runs[r];
        REQUIRE(run->count > 0 && run->global >= end);
        REQUIRE(run->memory >= 0 && run->memory + run->count <= domain.allocated);
        end = run->global + run->count;
        REQUIRE(end <= domain.elements);
        for (int64_t i = 0; i < run->count; i++)
            owners[run->global + i]++;
        owned += run->count;
    }
    REQUIRE(owned == domain.owned);
    REQUIRE((int64_t)domain.n_boxes <= domain.most_boxes);
    if (same_boxes && options->pattern == sw_pattern_find("btio"))
        for (int d = 0; d < 3; d++)
            REQUIRE(slabs_are_even(&share, d));
    *n_boxes = domain.n_boxes;
    sw_share_free(&share);
}

static void check(const struct sw_options *options, int n_ranks, bool same_boxes)
{
    struct sw_share share;
    char trouble[512];
    int rank = -1;
    size_t first_boxes = 0;
    REQUIRE(sw_share_make(options, -1, n_ranks, &share, trouble, sizeof trouble));
    int64_t elements = share.domains[0].elements;
    int *owners = calloc((size_t)elements, sizeof *owners);
    for (rank = 0; rank < n_ranks; rank++) {
        size_t n_boxes = 0;
        check_rank(options, n_ranks, rank, owners, same_boxes, &n_boxes);
        first_boxes = rank == 0 ? n_boxes : first_boxes;
        REQUIRE(!same_boxes || n_boxes == first_boxes);
    }
    for (int64_t i = 0; i < elements; i++)
        REQUIRE(owners[i] == 1);
    free(owners);
    sw_share_free(&share);
}

/* A dimension that an int cannot count: its view is still the right bytes of the file. */
static void check_large(enum sw_part_kind kind, int64_t length)
{
    const struct sw_options large = {
        .pattern = sw_pattern_find("array3d"),
        .n_size = 3,
        .size = {1, 3, INT64_C(5000000000)},
        .n_grid = 3,
        .grid = {1, 1, 4},
        .n_parts = 3,
        .parts = {{SW_PART_WHOLE, 0}, {SW_PART_WHOLE, 0}, {kind, length}},
        .steps = 1,
    };
    const struct sw_options *options = &large;
    const int n_ranks = 4;
    const int rank = 3;
    struct sw_share share;
    struct sw_mpiio_types types;
    char trouble[512];
    MPI_Count size = 0;
    MPI_Count low = 0;
    MPI_Count extent = 0;
    REQUIRE(sw_share_make(options, rank, n_ranks, &share, trouble, sizeof trouble));
    const struct sw_domain *domain = &share.domains[0];
    REQUIRE(domain->n_boxes == 1);
    REQUIRE(sw_mpiio_types_make(&share, domain, &types) == MPI_SUCCESS);
    MPI_Type_size_x(types.view, &size);
    REQUIRE(size == domain->owned * 8);
    MPI_Type_get_extent_x(types.view, &low, &extent);
    REQUIRE(low == 0 && extent == domain->elements * 8);
    MPI_Type_get_true_extent_x(types.view, &low, &extent);
    const struct sw_run *last = &domain->runs[domain->n_runs - 1];
    REQUIRE(low == domain->runs[0].global * 8);
    REQUIRE(low + extent == (last->global + last->count) * 8);
    sw_mpiio_types_free(&types);
    sw_share_free(&share);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int n_ranks = 1; n_ranks <= 26; n_ranks++)
        for (int halo = 0; halo < 3; halo += 2) {
            struct sw_options options = {
                .n_size = 3, .size = {27, 29, 26}, .steps = 1, .halo = halo};
            options.pattern = sw_pattern_find("btio");
            check(&options, n_ranks, true);
            options.pattern = sw_pattern_find("array3d");
            check(&options, n_ranks, true);
            options.size[0] = 2; /* fewer planes than parts: some ranks own nothing */
            check(&options, n_ranks, false);
            options.pattern = sw_pattern_find("btio");
            check(&options, n_ranks, false);
            options.pattern = sw_pattern_find("flash");
            options.n_size = 4;
            options.size[0] = 11;
            options.size[3] = 3;
            check(&options, n_ranks, false);
        }
    check_large(SW_PART_BLOCK, 0);
    check_large(SW_PART_CYCLIC, 50000000);
    MPI_Finalize();
    puts("every element has one owner");
    return 0;
}
