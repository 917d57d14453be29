/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Derives what one rank owns from a pattern's table and the options. */
#include "kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sw_type_name(enum sw_type type)
{
    static const char *const names[SW_TYPE_COUNT] = {
        [SW_TYPE_INT64] = "int64",
        [SW_TYPE_DOUBLE] = "double",
        [SW_TYPE_FLOAT] = "float",
    };
    return names[type];
}

int64_t sw_type_bytes(enum sw_type type)
{
    return type == SW_TYPE_FLOAT ? 4 : 8;
}

MPI_Datatype sw_type_mpi(enum sw_type type)
{
    if (type == SW_TYPE_INT64)
        return MPI_INT64_T;
    return type == SW_TYPE_DOUBLE ? MPI_DOUBLE : MPI_FLOAT;
}

/* ---- the global side: the same on every rank ------------------------------------------ */

static bool check_grid(const struct sw_options *options, int n_ranks, struct sw_share *share,
                       char *trouble, size_t bytes)
{
    int64_t product = 1;
    char grid[96] = "";
    int uncut = -1;
    for (int d = 0; d < share->n_dims; d++) {
        size_t used = strlen(grid);
        snprintf(grid + used, sizeof grid - used, "%s%lld", d > 0 ? "," : "",
                 (long long)share->grid[d]);
        if (__builtin_mul_overflow(product, share->grid[d], &product))
            product = -1;
        if (share->parts[d].kind == SW_PART_WHOLE && share->grid[d] != 1)
            uncut = d;
    }
    if (product == n_ranks && uncut < 0)
        return true;
    if (product == n_ranks)
        snprintf(trouble, bytes,
                 "--grid %s: the distribution does not cut dimension %d (*); "
                 "give 1 there, or another --distribution",
                 grid, uncut + 1);
    else if (options->n_grid > 0)
        snprintf(trouble, bytes,
                 "--grid %s is not for %d rank(s); give %d number(s) whose product is %d", grid,
                 n_ranks, share->n_dims, n_ranks);
    else
        snprintf(trouble, bytes,
                 "--distribution gives everything to one of %d ranks; "
                 "use BLOCK or CYCLIC in a dimension",
                 n_ranks);
    return false;
}

/* Determines the parts per dimension: as requested, or balanced over the divided dimensions. */
static bool choose_grid(const struct sw_options *options, int n_ranks, struct sw_share *share,
                        char *trouble, size_t bytes)
{
    int grid[SW_MAX_DIMS];
    int n_cut = 0;
    for (int d = 0; d < share->n_dims; d++) {
        bool cut = share->parts[d].kind != SW_PART_WHOLE;
        grid[d] = cut ? 0 : 1;
        n_cut += cut;
    }
    if (options->n_grid == 0 && n_cut > 0)
        MPI_Dims_create(n_ranks, share->n_dims, grid);
    for (int d = 0; d < share->n_dims; d++)
        share->grid[d] = options->n_grid > 0 ? options->grid[d] : grid[d];
    return check_grid(options, n_ranks, share, trouble, bytes);
}

/* BLOCK(n) has room for at most n elements in each part. */
static bool check_room(const struct sw_share *share, char *trouble, size_t bytes)
{
    for (int d = 0; d < share->n_dims; d++) {
        const struct sw_part *part = &share->parts[d];
        int64_t extent = share->extent[d];
        int64_t parts = share->grid[d];
        if (part->kind != SW_PART_FIXED_BLOCK || part->length * parts >= extent)
            continue;
        snprintf(trouble, bytes,
                 "--distribution: BLOCK(%lld) has room for %lld of the %lld elements of "
                 "dimension %d; give BLOCK(%lld) or more, or another --grid",
                 (long long)part->length, (long long)(part->length * parts), (long long)extent,
                 d + 1, (long long)((extent + parts - 1) / parts));
        return false;
    }
    return true;
}

/* Returns the maximum number of elements of dimension d that a rank owns: part 0 has them. */
static int64_t longest_part(const struct sw_share *share, int d)
{
    struct sw_piece pieces[2];
    int64_t longest = 0;
    int n = sw_part_pieces(share->parts[d], share->extent[d], share->grid[d], 0, pieces);
    for (int p = 0; p < n; p++)
        longest += pieces[p].count * pieces[p].block;
    return longest;
}

/* Checks that all offsets and values fit 63 bits, and all extents in memory an int (MPI's
 * subarrays). */
static bool fits(const struct sw_options *options, const struct sw_share *share)
{
    int64_t all = 0;
    for (int d = 0; d < share->n_dims; d++)
        if (longest_part(share, d) > INT_MAX - 2 * options->halo)
            return false;
    return share->step_elements > 0 &&
           !__builtin_mul_overflow(share->step_elements, options->steps, &all) &&
           all <= INT64_MAX / share->element_bytes / 2;
}

/* Gets the maximum number of pieces, and of plain blocks, of a part in dimension d. */
static void most_pieces(const struct sw_share *share, int d, int64_t *boxes, int64_t *blocks)
{
    *boxes = 0;
    *blocks = 0;
    for (int64_t index = 0; index < share->grid[d]; index++) {
        struct sw_piece pieces[2];
        int n = sw_part_pieces(share->parts[d], share->extent[d], share->grid[d], index, pieces);
        int64_t count = 0;
        for (int p = 0; p < n; p++)
            count += pieces[p].count;
        *boxes = n > *boxes ? n : *boxes;
        *blocks = count > *blocks ? count : *blocks;
    }
}

/* Makes the global shape of the variables with these dimensions of the pattern. */
static bool make_shape(const struct sw_options *options, struct sw_share *share, unsigned mask,
                       struct sw_domain *domain)
{
    *domain = (struct sw_domain){.mask = mask, .elements = 1, .most_boxes = 1, .most_blocks = 1};
    for (int d = 0; d < share->n_dims; d++) {
        int64_t boxes = 0;
        int64_t blocks = 0;
        if ((mask >> d & 1U) == 0)
            continue;
        most_pieces(share, d, &boxes, &blocks);
        domain->most_boxes *= boxes;
        domain->most_blocks *= blocks;
        domain->extent[domain->n_dims++] = share->extent[d];
    }
    if (options->pattern->components > 0)
        domain->extent[domain->n_dims++] = options->pattern->components;
    for (int d = 0; d < domain->n_dims; d++)
        if (__builtin_mul_overflow(domain->elements, domain->extent[d], &domain->elements))
            return false;
    return true;
}

static int shape_of(const struct sw_options *options, struct sw_share *share, unsigned mask)
{
    if (mask == 0)
        mask = (1U << share->n_dims) - 1;
    for (int s = 0; s < share->n_domains; s++)
        if (share->domains[s].mask == mask)
            return s;
    return make_shape(options, share, mask, &share->domains[share->n_domains]) ? share->n_domains++
                                                                               : -1;
}

/* Places variables one after the other in a step of the file. Returns false if that exceeds 63
 * bits. */
static bool make_variables(const struct sw_options *options, struct sw_share *share)
{
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_pattern *pattern = options->pattern;
        bool partial = v >= pattern->n_variables - pattern->n_partial;
        int shape = shape_of(options, share, partial ? pattern->partial_dims : 0);
        if (shape < 0)
            return false;
        share->variables[v] = (struct sw_variable){
            .name = pattern->variables[v],
            .shape = shape,
            .domain = &share->domains[shape],
            .region = share->step_elements,
        };
        if (__builtin_add_overflow(share->step_elements, share->domains[shape].elements,
                                   &share->step_elements))
            return false;
    }
    for (int v = 0; v < share->n_variables; v++)
        share->variables[v].region *= share->element_bytes;
    share->step_bytes = share->step_elements * share->element_bytes;
    return true;
}

static void choose_parts(const struct sw_options *options, int n_ranks, struct sw_share *share)
{
    const struct sw_pattern *pattern = options->pattern;
    share->n_dims = pattern->n_dims;
    for (int d = 0; d < share->n_dims; d++)
        share->parts[d] =
            options->n_parts > 0 ? options->parts[d] : pattern->default_distribution[d];
    if (pattern->grid != NULL)
        pattern->grid(n_ranks, share->grid);
}

/* ---- the rank's side ------------------------------------------------------------------- */

/* Gets the position of a rank in the grid, in C order as in MPI_Cart_create. */
static void place_of(const struct sw_share *share, int rank, int64_t *place)
{
    int64_t rest = rank;
    for (int d = share->n_dims - 1; d >= 0; d--) {
        place[d] = rest % share->grid[d];
        rest /= share->grid[d];
    }
}

/* Makes all combinations of the pieces of each dimension. For a shape that lacks a dimension, only
 * the ranks at its start own anything. */
static bool make_boxes(const struct sw_options *options, int rank, const struct sw_share *share,
                       struct sw_domain *domain)
{
    struct sw_piece pieces[SW_MAX_DIMS][2];
    int n_pieces[SW_MAX_DIMS];
    int64_t halo[SW_MAX_DIMS] = {0};
    int64_t place[SW_MAX_DIMS];
    int n = 0;
    int combinations = 1;
    place_of(share, rank, place);
    for (int d = 0; d < share->n_dims; d++) {
        if ((domain->mask >> d & 1U) == 0) {
            combinations = place[d] == 0 ? combinations : 0;
            continue;
        }
        halo[n] = (options->pattern->halo_dims >> d & 1U) != 0 ? options->halo : 0;
        n_pieces[n] =
            sw_part_pieces(share->parts[d], share->extent[d], share->grid[d], place[d], pieces[n]);
        combinations *= n_pieces[n++];
    }
    for (int c = 0; c < combinations; c++) {
        struct sw_piece chosen[SW_MAX_DIMS];
        int rest = c;
        for (int d = n - 1; d >= 0; d--) {
            chosen[d] = pieces[d][rest % n_pieces[d]];
            rest /= n_pieces[d];
        }
        if (!sw_domain_add(domain, chosen, halo))
            return false;
    }
    return true;
}

static bool make_domain(const struct sw_options *options, int rank, int n_ranks,
                        const struct sw_share *share, struct sw_domain *domain)
{
    bool good = options->pattern->boxes != NULL
                    ? options->pattern->boxes(options, rank, n_ranks, share, domain)
                    : make_boxes(options, rank, share, domain);
    return good && sw_domain_finish(domain);
}

/* Places variables one after the other in memory. */
static bool place_variables(struct sw_share *share)
{
    for (int v = 0; v < share->n_variables; v++) {
        struct sw_variable *variable = &share->variables[v];
        int64_t allocated = 0;
        variable->memory = share->memory_bytes;
        variable->packed = share->owned_bytes;
        share->owned_bytes += variable->domain->owned * share->element_bytes;
        if (__builtin_mul_overflow(variable->domain->allocated, share->element_bytes,
                                   &allocated) ||
            __builtin_add_overflow(share->memory_bytes, allocated, &share->memory_bytes))
            return false;
    }
    return true;
}

/* ---- both ------------------------------------------------------------------------------ */

static bool make_global(const struct sw_options *options, int n_ranks, struct sw_share *share,
                        char *trouble, size_t bytes)
{
    choose_parts(options, n_ranks, share);
    if (options->pattern->grid == NULL && !choose_grid(options, n_ranks, share, trouble, bytes))
        return false;
    bool good = true;
    for (int d = 0; d < share->n_dims; d++) {
        if (options->n_size > 0)
            share->extent[d] = options->size[d];
        else
            good = !__builtin_mul_overflow(options->local[d], share->grid[d], &share->extent[d]) &&
                   good;
    }
    if (good && !check_room(share, trouble, bytes))
        return false;
    if (good && make_variables(options, share) && fits(options, share))
        return true;
    snprintf(trouble, bytes,
             "the arrays are too large (a rank's part of a dimension above %d, or more than 2^62 "
             "bytes in all); give a smaller --size, --local, --halo or --steps",
             INT_MAX);
    return false;
}

bool sw_share_make(const struct sw_options *options, int rank, int n_ranks, struct sw_share *share,
                   char *trouble, size_t bytes)
{
    int n = options->pattern->n_variables;
    *share = (struct sw_share){
        .type = options->type,
        .element_bytes = sw_type_bytes(options->type),
        .n_variables = n,
        .variables = calloc((size_t)n, sizeof(struct sw_variable)),
        .domains = calloc((size_t)n, sizeof(struct sw_domain)),
    };
    bool good = share->variables != NULL && share->domains != NULL;
    if (good && !make_global(options, n_ranks, share, trouble, bytes)) {
        sw_share_free(share);
        return false;
    }
    if (good && rank < 0)
        return true; /* only shapes were requested */
    for (int s = 0; s < share->n_domains && good; s++)
        good = make_domain(options, rank, n_ranks, share, &share->domains[s]);
    if (good && place_variables(share))
        return true;
    snprintf(trouble, bytes, "out of memory for the description of rank %d's share", rank);
    sw_share_free(share);
    return false;
}

void sw_share_free(struct sw_share *share)
{
    for (int s = 0; s < share->n_domains; s++)
        sw_domain_free(&share->domains[s]);
    free(share->domains);
    free(share->variables);
    share->domains = NULL;
    share->variables = NULL;
    share->n_domains = 0;
}

int64_t sw_region(const struct sw_share *share, int64_t step, int variable)
{
    return step * share->step_bytes + share->variables[variable].region;
}
