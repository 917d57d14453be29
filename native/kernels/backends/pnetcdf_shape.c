/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pnetcdf_shape.h"

#include "slabs.h"

#include <limits.h>
#include <stdlib.h>

static bool allocate_shape(struct sw_pnetcdf_shape *shape)
{
    size_t n = (size_t)shape->n_slabs + 1;
    size_t dims = (size_t)shape->dims;
    shape->starts = calloc(n * dims, sizeof *shape->starts);
    shape->counts = calloc(n * dims, sizeof *shape->counts);
    shape->strides = calloc(n * dims, sizeof *shape->strides);
    shape->start_rows = calloc(n, sizeof *shape->start_rows);
    shape->count_rows = calloc(n, sizeof *shape->count_rows);
    shape->memory = calloc(n, sizeof(MPI_Datatype));
    return shape->starts != NULL && shape->counts != NULL && shape->strides != NULL &&
           shape->start_rows != NULL && shape->count_rows != NULL && shape->memory != NULL;
}

MPI_Datatype sw_pnetcdf_element(enum sw_type type)
{
    return type == SW_TYPE_INT64 ? MPI_LONG_LONG_INT : sw_type_mpi(type);
}

/* A slab's elements from the start of the variable's buffer. */
static int memory_type(const struct sw_share *share, const struct sw_slab *slab,
                       MPI_Datatype *type)
{
    int sizes[SW_MAX_DIMS];
    int lengths[SW_MAX_DIMS];
    int offsets[SW_MAX_DIMS];
    int one = 1;
    MPI_Aint place = (MPI_Aint)(slab->memory * share->element_bytes);
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    for (int d = 0; d < slab->n_dims; d++) {
        sizes[d] = (int)slab->allocated[d];
        lengths[d] = (int)slab->count[d];
        offsets[d] = (int)slab->offset[d];
    }
    int code = MPI_Type_create_subarray(slab->n_dims, sizes, lengths, offsets, MPI_ORDER_C,
                                        sw_pnetcdf_element(share->type), &inner);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_hindexed(1, &one, &place, inner, type);
    MPI_Type_free(&inner);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

/* All slabs as one type, in place of theirs. */
static int join_types(struct sw_pnetcdf_shape *shape)
{
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    MPI_Aint *places = calloc((size_t)shape->n_types, sizeof *places);
    int *ones = calloc((size_t)shape->n_types, sizeof *ones);
    int code = MPI_ERR_NO_MEM;
    for (int i = 0; ones != NULL && i < shape->n_types; i++)
        ones[i] = 1;
    if (places != NULL && ones != NULL)
        code = MPI_Type_create_struct(shape->n_types, ones, places, shape->memory, &joined);
    free(places);
    free(ones);
    if (code != MPI_SUCCESS)
        return code;
    for (int i = 0; i < shape->n_types; i++)
        MPI_Type_free(&shape->memory[i]);
    shape->n_types = 1;
    shape->memory[0] = joined;
    return MPI_Type_commit(&shape->memory[0]);
}

static int fill_shape(const struct sw_share *share, const struct sw_domain *domain,
                      struct sw_pnetcdf_shape *shape)
{
    struct sw_slabs slabs = {.domain = domain, .strides = shape->strided};
    struct sw_slab slab;
    int code = MPI_SUCCESS;
    shape->start_rows[0] = shape->starts; /* all zeros for a rank without slabs */
    shape->count_rows[0] = shape->counts;
    for (int i = 0; sw_slabs_next(&slabs, &slab); i++) {
        size_t row = (size_t)i * (size_t)shape->dims;
        shape->start_rows[i] = shape->starts + row;
        shape->count_rows[i] = shape->counts + row;
        shape->counts[row] = 1;
        shape->strides[row] = 1;
        for (int d = 0; d < slab.n_dims; d++) {
            shape->starts[row + (size_t)d + 1] = slab.start[d];
            shape->counts[row + (size_t)d + 1] = slab.count[d];
            shape->strides[row + (size_t)d + 1] = slab.stride[d];
        }
        code = memory_type(share, &slab, &shape->memory[i]);
        if (code != MPI_SUCCESS)
            return code;
        shape->n_types++;
    }
    return !shape->strided && shape->n_types > 1 ? join_types(shape) : MPI_SUCCESS;
}

/* Whether any rank has strides, and the most calls of any: all ranks must do alike. */
void sw_pnetcdf_shape_make(struct sw_session *session, const struct sw_domain *domain,
                           struct sw_pnetcdf_shape *shape)
{
    int64_t strided = sw_slabs_strided(domain);
    MPI_Allreduce(MPI_IN_PLACE, &strided, 1, MPI_INT64_T, MPI_MAX, session->comm);
    int64_t own = sw_slabs_count(domain, strided != 0);
    int64_t most = own;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, session->comm);
    shape->strided = strided != 0;
    shape->calls = shape->strided ? most : 1;
    shape->several = !shape->strided && most > 1;
    shape->dims = domain->n_dims + 1;
    shape->n_slabs = own < INT_MAX ? (int)own : 0;
    if (own >= INT_MAX || !allocate_shape(shape)) {
        sw_fail(session, "malloc", "out of memory for the description of %lld blocks",
                (long long)own);
        return;
    }
    int code = fill_shape(session->share, domain, shape);
    if (code != MPI_SUCCESS)
        sw_fail_mpi(session, "MPI_Type_create_subarray", code);
}

void sw_pnetcdf_shape_free(struct sw_pnetcdf_shape *shape)
{
    for (int i = 0; i < shape->n_types; i++)
        MPI_Type_free(&shape->memory[i]);
    free(shape->starts);
    free(shape->counts);
    free(shape->strides);
    free(shape->start_rows);
    free(shape->count_rows);
    free(shape->memory);
}
