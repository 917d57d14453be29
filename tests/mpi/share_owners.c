/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who owns what, asked by a test: each line of standard input is "RANKS OPTIONS", each line of
 * the answer "ok|OWNERS OF SHAPE 0|OWNERS OF SHAPE 1...", or "no|REASON".  On the way it is
 * checked that runs, boxes, plain blocks and MPI datatypes describe the same elements.
 */
#include "../../native/kernels/backends/mpiio_types.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 32

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    printf("bad|%s\n", what);
    fflush(stdout);
    exit(1);
}

/* Global index of each element in memory, -1 in halos, by way of the runs. */
static int64_t *memory_by_runs(const struct sw_domain *domain)
{
    int64_t *memory = malloc((size_t)(domain->allocated + 1) * sizeof *memory);
    int64_t end = 0;
    int64_t owned = 0;
    for (int64_t i = 0; i < domain->allocated; i++)
        memory[i] = -1;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        require(run->count > 0 && run->global >= end, "runs ascend");
        end = run->global + run->count;
        require(end <= domain->elements, "runs lie in the array");
        require(run->memory >= 0 && run->memory + run->count <= domain->allocated,
                "runs lie in memory");
        for (int64_t i = 0; i < run->count; i++)
            memory[run->memory + i] = run->global + i;
        owned += run->count;
    }
    require(owned == domain->owned, "as many as owned");
    return memory;
}

/* The same by way of the plain blocks. */
static void check_blocks(const struct sw_domain *domain, const int64_t *memory)
{
    int64_t seen = 0;
    int64_t blocks = 0;
    struct sw_box plain;
    for (size_t b = 0; b < domain->n_boxes; b++)
        for (int64_t i = 0; sw_box_blocks(domain, &domain->boxes[b], i, &plain); i++, blocks++) {
            int64_t n = 1;
            for (int d = 0; d < domain->n_dims; d++)
                n *= plain.block[d];
            require(sw_box_plain(domain, &plain), "plain blocks are plain");
            for (int64_t e = 0; e < n; e++, seen++) {
                int64_t rest = e;
                int64_t place[SW_MAX_DIMS];
                int64_t global = 0;
                int64_t within = 0;
                for (int d = domain->n_dims - 1; d >= 0; d--) {
                    place[d] = rest % plain.block[d];
                    rest /= plain.block[d];
                }
                for (int d = 0; d < domain->n_dims; d++) {
                    global = global * domain->extent[d] + plain.start[d] + place[d];
                    within = within * plain.allocated[d] + plain.halo[d] + place[d];
                }
                require(memory[plain.memory + within] == global, "blocks agree with runs");
            }
        }
    require(seen == domain->owned, "blocks have all");
    require((int64_t)domain->n_boxes <= domain->most_boxes, "most boxes");
    require(blocks <= domain->most_blocks, "most blocks");
}

/* The same by way of the datatypes: packed, both sides give the runs' elements in order. */
static void check_types(const struct sw_share *share, const struct sw_domain *domain,
                        const int64_t *memory)
{
    struct sw_mpiio_types types;
    int place = 0;
    int bytes = (int)(domain->owned * share->element_bytes);
    int64_t *whole = malloc((size_t)domain->elements * sizeof *whole);
    int64_t *view = malloc((size_t)bytes + 8);
    int64_t *local = malloc((size_t)bytes + 8);
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    require(sw_mpiio_types_make(share, domain, &types) == MPI_SUCCESS, "datatypes are made");
    require(types.typed == (domain->owned > 0), "typed");
    if (types.typed) {
        for (int64_t i = 0; i < domain->elements; i++)
            whole[i] = i;
        MPI_Pack(whole, 1, types.view, view, bytes, &place, MPI_COMM_SELF);
        require(place == bytes, "size of the view");
        place = 0;
        MPI_Pack(memory, 1, types.memory, local, bytes, &place, MPI_COMM_SELF);
        require(place == bytes, "size of the memory type");
        MPI_Type_get_extent(types.view, &low, &extent);
        require(low == 0 && extent == domain->elements * share->element_bytes,
                "extent of the view");
        int64_t *next = view;
        for (size_t r = 0; r < domain->n_runs; r++)
            for (int64_t i = 0; i < domain->runs[r].count; i++)
                require(*next++ == domain->runs[r].global + i, "view ascends along the runs");
        require(memcmp(view, local, (size_t)bytes) == 0, "view and memory agree");
    }
    sw_mpiio_types_free(&types);
    free(whole);
    free(view);
    free(local);
}

static void own(const struct sw_domain *domain, int rank, int *owners)
{
    for (size_t r = 0; r < domain->n_runs; r++)
        for (int64_t i = 0; i < domain->runs[r].count; i++) {
            int *owner = &owners[domain->runs[r].global + i];
            require(*owner == -1, "one owner");
            *owner = rank;
        }
}

static void check_rank(const struct sw_options *options, int rank, int n_ranks, int **owners)
{
    struct sw_share share;
    char trouble[512];
    require(sw_share_make(options, rank, n_ranks, &share, trouble, sizeof trouble), trouble);
    for (int s = 0; s < share.n_domains; s++) {
        const struct sw_domain *domain = &share.domains[s];
        int64_t *memory = memory_by_runs(domain);
        check_blocks(domain, memory);
        check_types(&share, domain, memory);
        own(domain, rank, owners[s]);
        free(memory);
    }
    sw_share_free(&share);
}

static void answer(const struct sw_options *options, int n_ranks)
{
    struct sw_share share;
    char trouble[512];
    int *owners[SW_MAX_DIMS] = {NULL};
    if (!sw_options_check(options, 0, n_ranks, trouble, sizeof trouble) ||
        !sw_share_make(options, -1, n_ranks, &share, trouble, sizeof trouble)) {
        printf("no|%s\n", trouble);
        return;
    }
    for (int s = 0; s < share.n_domains; s++) {
        owners[s] = malloc((size_t)share.domains[s].elements * sizeof(int));
        for (int64_t i = 0; i < share.domains[s].elements; i++)
            owners[s][i] = -1;
    }
    for (int rank = 0; rank < n_ranks; rank++)
        check_rank(options, rank, n_ranks, owners);
    printf("ok");
    for (int s = 0; s < share.n_domains; s++) {
        printf("|");
        for (int64_t i = 0; i < share.domains[s].elements; i++)
            printf("%d ", owners[s][i]);
        free(owners[s]);
    }
    printf("\n");
    sw_share_free(&share);
}

int main(int argc, char **argv)
{
    static struct sw_options options;
    char line[4096];
    char trouble[512];
    MPI_Init(&argc, &argv);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *words[MAX_WORDS] = {(char *)"kernel"};
        int n = 1;
        line[strcspn(line, "\n")] = '\0';
        int n_ranks = atoi(strtok(line, " "));
        for (char *word = strtok(NULL, " "); word != NULL && n < MAX_WORDS - 1;
             word = strtok(NULL, " "))
            words[n++] = word;
        words[n] = NULL;
        optind = 0;
        if (sw_options_parse(n, words, &options, trouble, sizeof trouble))
            answer(&options, n_ranks);
        else
            printf("no|%s\n", trouble);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
