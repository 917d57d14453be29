/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio_types.h"

#include <limits.h>
#include <stdlib.h>

/* Gives `*type` another lower bound and extent. */
static int resize(MPI_Datatype *type, int64_t bytes)
{
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    int code = MPI_Type_create_resized(*type, 0, (MPI_Aint)bytes, &resized);
    MPI_Type_free(type);
    *type = resized;
    return code;
}

/* Moves `*type` to an offset and extends it to the length of the whole array. */
static int displace(MPI_Datatype *type, int64_t distance_bytes, int64_t whole_bytes)
{
    MPI_Datatype displaced = MPI_DATATYPE_NULL;
    const int one = 1;
    const MPI_Aint place = (MPI_Aint)distance_bytes;
    int code = MPI_Type_create_hindexed(1, &one, &place, *type, &displaced);
    MPI_Type_free(type);
    *type = displaced;
    return code == MPI_SUCCESS ? resize(type, whole_bytes) : code;
}

/* Repeats `count` times `block` of `*type`, with `stride` of them in between; its extent is
 * `extent` of them. */
static int repeat(MPI_Datatype *type, int64_t unit_bytes, const struct sw_box *box, int d,
                  int64_t extent)
{
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    int code = MPI_Type_create_hvector((int)box->count[d], (int)box->block[d],
                                       (MPI_Aint)(box->stride[d] * unit_bytes), *type, &blocks);
    MPI_Type_free(type);
    *type = blocks;
    return code == MPI_SUCCESS ? resize(type, extent * unit_bytes) : code;
}

/* Makes a hyperslab in the file: a vector in each dimension, from the fastest one on. Its size
 * does not grow with the number of blocks, and extents may exceed an int. */
static int view_of_box(const struct sw_share *share, const struct sw_domain *domain,
                       const struct sw_box *box, MPI_Datatype *view)
{
    int64_t unit_bytes = share->element_bytes;
    int64_t distance = 0;
    int code = MPI_Type_dup(sw_type_mpi(share->type), view);
    for (int d = domain->n_dims - 1; d >= 0 && code == MPI_SUCCESS; d--) {
        distance += box->start[d] * unit_bytes;
        code = repeat(view, unit_bytes, box, d, domain->extent[d]);
        unit_bytes *= domain->extent[d];
    }
    return code == MPI_SUCCESS ? displace(view, distance, unit_bytes) : code;
}

/* Makes owned elements of a box, or of an array without gaps, as a subarray. */
static int subarray(enum sw_type type, int n_dims, const int64_t *extent, const int64_t *start,
                    const int64_t *length, MPI_Datatype *made)
{
    int extents[SW_MAX_DIMS];
    int starts[SW_MAX_DIMS];
    int lengths[SW_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) {
        extents[d] = (int)extent[d];
        starts[d] = (int)start[d];
        lengths[d] = (int)length[d];
    }
    return MPI_Type_create_subarray(n_dims, extents, lengths, starts, MPI_ORDER_C,
                                    sw_type_mpi(type), made);
}

/* Returns whether extents fit MPI's subarrays, which count in ints. */
static bool small(const struct sw_domain *domain)
{
    for (int d = 0; d < domain->n_dims; d++)
        if (domain->extent[d] > INT_MAX)
            return false;
    return true;
}

/* Makes owned elements in memory. Without gaps, a subarray is avoided: some MPIs conclude from it
 * that a type is not contiguous (MPICH with its dataloops). */
static int memory_of_box(const struct sw_share *share, const struct sw_domain *domain,
                         const struct sw_box *box, const int64_t *length, MPI_Datatype *memory)
{
    int64_t elements = 1;
    bool gaps = false;
    for (int d = 0; d < domain->n_dims; d++) {
        elements *= length[d];
        gaps = gaps || length[d] != box->allocated[d];
    }
    if (gaps || elements > INT_MAX)
        return subarray(share->type, domain->n_dims, box->allocated, box->halo, length, memory);
    return MPI_Type_contiguous((int)elements, sw_type_mpi(share->type), memory);
}

static int types_of_box(const struct sw_share *share, const struct sw_domain *domain,
                        struct sw_mpiio_types *types)
{
    const struct sw_box *box = &domain->boxes[0];
    int64_t length[SW_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++)
        length[d] = sw_box_length(box, d);
    int code = memory_of_box(share, domain, box, length, &types->memory);
    if (code != MPI_SUCCESS)
        return code;
    if (sw_box_plain(domain, box) && small(domain))
        return subarray(share->type, domain->n_dims, domain->extent, box->start, length,
                        &types->view);
    return view_of_box(share, domain, box, &types->view);
}

/* Makes several boxes from their runs. A view must ascend, and rows of different boxes may
 * alternate in the file, so that a list of boxes does not work. */
static int types_of_runs(const struct sw_share *share, const struct sw_domain *domain,
                         struct sw_mpiio_types *types)
{
    size_t n = domain->n_runs;
    for (size_t r = 0; r < n; r++)
        if (domain->runs[r].count > INT_MAX)
            return MPI_ERR_COUNT;
    MPI_Datatype element = sw_type_mpi(share->type);
    int *counts = malloc(n * sizeof *counts);
    MPI_Aint *places = malloc(n * sizeof *places);
    int code = MPI_ERR_NO_MEM;
    if (counts != NULL && places != NULL && n > 0 && n <= INT_MAX) {
        for (size_t r = 0; r < n; r++) {
            counts[r] = (int)domain->runs[r].count;
            places[r] = (MPI_Aint)(domain->runs[r].memory * share->element_bytes);
        }
        code = MPI_Type_create_hindexed((int)n, counts, places, element, &types->memory);
        for (size_t r = 0; r < n; r++)
            places[r] = (MPI_Aint)(domain->runs[r].global * share->element_bytes);
        if (code == MPI_SUCCESS)
            code = MPI_Type_create_hindexed((int)n, counts, places, element, &types->view);
        if (code == MPI_SUCCESS)
            code = resize(&types->view, domain->elements * share->element_bytes);
    }
    free(counts);
    free(places);
    return code;
}

int sw_mpiio_types_make(const struct sw_share *share, const struct sw_domain *domain,
                        struct sw_mpiio_types *types)
{
    *types = (struct sw_mpiio_types){.memory = MPI_DATATYPE_NULL, .view = MPI_DATATYPE_NULL};
    if (domain->n_boxes == 0)
        return MPI_SUCCESS;
    int code = domain->n_boxes == 1 ? types_of_box(share, domain, types)
                                    : types_of_runs(share, domain, types);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&types->view);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&types->memory);
    types->typed = code == MPI_SUCCESS;
    return code;
}

void sw_mpiio_types_free(struct sw_mpiio_types *types)
{
    if (!types->typed)
        return;
    MPI_Type_free(&types->view);
    MPI_Type_free(&types->memory);
    types->typed = false;
}
