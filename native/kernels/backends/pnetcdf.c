/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * pnetcdf: PnetCDF into one shared file in CDF-5 format (64-bit data). There is one variable each,
 * with a leading dimension `step` of fixed length.
 *
 * Each variable takes one call: put_vara or get_vara for a single block, put_varn if any rank has
 * several, since the two cannot be combined in a collective call. Only if a rank owns single
 * elements at equal distances (CYCLIC), one put_vars per box is used instead. Memory is described
 * by MPI datatypes, so that the kernel does not copy halos. CDF-5 is big-endian: on other
 * machines, the library swaps every element, which is part of the transfer's time. Whether there
 * is room for the file is checked in advance: see sw_room_check.
 */
#include "../kernel.h"

#ifdef SW_HAVE_PNETCDF

#include "slabs.h"

#include <limits.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Data for the calls of one variable, equal for all variables of a shape. */
struct shape {
    int64_t calls;      /* maximum over all ranks */
    bool strided;       /* a call per slab, with strides; false: one call for all slabs */
    bool several;       /* some rank has more than one slab in that call */
    int n_slabs;        /* of this rank */
    int dims;           /* in the file */
    MPI_Offset *starts; /* (n_slabs + 1, dims); the last row is all zeros */
    MPI_Offset *counts;
    MPI_Offset *strides;
    MPI_Offset **start_rows; /* rows of the above, as varn wants them; at least one */
    MPI_Offset **count_rows;
    MPI_Datatype *memory; /* from the variable's buffer on: one per slab, or one for all slabs */
    int n_types;
};

struct state {
    int file;
    int *variables; /* their numbers in the file */
    struct shape *shapes;
};

#define NC(verb) ncmpi_##verb
#define NC_NAME(verb) "ncmpi_" #verb
#define NC_LENGTH MPI_Offset

#include "netcdf_variables.h"

/* ---- a rank's part of a shape ----------------------------------------------------------------
 */

static bool allocate_shape(struct shape *shape)
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

/* PnetCDF does not support MPI_INT64_T. */
static MPI_Datatype element_type(enum sw_type type)
{
    return type == SW_TYPE_INT64 ? MPI_LONG_LONG_INT : sw_type_mpi(type);
}

/* Describes a slab's elements from the start of the variable's buffer. */
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
                                        element_type(share->type), &inner);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_hindexed(1, &one, &place, inner, type);
    MPI_Type_free(&inner);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

/* Replaces the types of all slabs by a single one. */
static int join_types(struct shape *shape)
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
                      struct shape *shape)
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

/* Determines whether any rank has strides, and the maximum number of calls: all ranks must call
 * alike. Collective; calls sw_fail if it cannot be made. */
static void make_shape(struct sw_session *session, const struct sw_domain *domain,
                       struct shape *shape)
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

/* Also accepts a shape of all zeros. */
static void free_shape(struct shape *shape)
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

static void release(struct state *state, const struct sw_share *share)
{
    if (state == NULL)
        return;
    for (int s = 0; state->shapes != NULL && s < share->n_domains; s++)
        free_shape(&state->shapes[s]);
    free(state->shapes);
    free(state->variables);
    free(state);
}

/* ---- open ---------------------------------------------------------------------------------- */

/* Every rank must call this. Returns the number of the file, or -1. */
static int open_number(struct sw_session *session, bool create)
{
    MPI_Info info = MPI_INFO_NULL;
    int file = -1;
    int code = sw_info_make(session->options, &info);
    if (code != MPI_SUCCESS)
        sw_fail_mpi(session, "MPI_Info_set", code);
    if (create)
        code = ncmpi_create(session->comm, session->path, NC_CLOBBER | NC_64BIT_DATA, info, &file);
    else
        code = ncmpi_open(session->comm, session->path, session->writing ? NC_WRITE : NC_NOWRITE,
                          info, &file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (code == NC_NOERR)
        return file;
    fail_nc(session, create ? "ncmpi_create" : "ncmpi_open", code);
    return -1;
}

static void report_hints(struct sw_session *session, int file)
{
    MPI_Info info = MPI_INFO_NULL;
    if (ncmpi_inq_file_info(file, &info) != NC_NOERR || info == MPI_INFO_NULL)
        return;
    sw_info_report_hints(session, info);
    MPI_Info_free(&info);
}

static int open_file(struct sw_session *session, bool create)
{
    if (create && !sw_room_check(session, "ncmpi_create"))
        return -1;
    struct state *state = calloc(1, sizeof *state);
    const struct sw_share *share = session->share;
    if (state != NULL) {
        state->variables = calloc((size_t)share->n_variables, sizeof *state->variables);
        state->shapes = calloc((size_t)share->n_domains, sizeof *state->shapes);
    }
    if (state == NULL || state->variables == NULL || state->shapes == NULL)
        sw_fail(session, "calloc", "out of memory");
    int file = open_number(session, create);
    bool open = sw_agree(session->comm, session->failure); /* what follows is collective */
    if (file < 0 || state == NULL || state->variables == NULL || state->shapes == NULL) {
        release(state, share);
        return -1;
    }
    state->file = file;
    session->state = state;
    if (!open)
        return -1;
    if (create)
        define_variables(session); /* by default, PnetCDF fills nothing */
    else
        find_variables(session);
    for (int d = 0; d < share->n_domains; d++)
        make_shape(session, &share->domains[d], &state->shapes[d]);
    report_hints(session, file);
    return session->failure->failed ? -1 : 0;
}

/* ---- transfer ------------------------------------------------------------------------------ */

/* The arguments of one call; empty if the rank has fewer slabs than others. */
struct call {
    int number; /* of the variable */
    int slabs;  /* number at once; 0: start, count and stride are those of a single one */
    MPI_Offset *start, *count, *stride;
    MPI_Offset **starts, **counts;
    MPI_Offset n_types;
    MPI_Datatype type;
};

static struct call call_at(const struct sw_session *session, int64_t step, int v, int64_t index)
{
    const struct state *state = session->state;
    const struct shape *shape = &state->shapes[session->share->variables[v].shape];
    bool some = index < shape->n_types;
    size_t row = some ? (size_t)index : (size_t)shape->n_slabs; /* the last one is all zeros */
    struct call call = {
        .number = state->variables[v],
        .slabs = !shape->several ? 0
                 : some          ? shape->n_slabs
                                 : 1,
        .start = shape->starts + row * (size_t)shape->dims,
        .count = shape->counts + row * (size_t)shape->dims,
        .stride = shape->strides + row * (size_t)shape->dims,
        .starts = shape->start_rows,
        .counts = shape->count_rows,
        .n_types = some ? 1 : 0,
        .type = some ? shape->memory[index] : element_type(session->share->type),
    };
    for (int i = 0; i < shape->n_slabs; i++)
        shape->starts[(size_t)i * (size_t)shape->dims] = step;
    for (int d = 0; d < shape->dims && !some; d++)
        call.stride[d] = 1;
    return call;
}

/* Makes one write or read, of the kind that all ranks agreed on. */
static void move(struct sw_session *session, bool strided, const struct call *c, char *memory)
{
    const struct state *state = session->state;
    bool all = session->options->mode == SW_MODE_COLLECTIVE;
    int code = NC_NOERR;
    if (session->writing && strided)
        code = (all ? ncmpi_put_vars_all : ncmpi_put_vars)(
            state->file, c->number, c->start, c->count, c->stride, memory, c->n_types, c->type);
    else if (session->writing && c->slabs == 0)
        code = (all ? ncmpi_put_vara_all : ncmpi_put_vara)(state->file, c->number, c->start,
                                                           c->count, memory, c->n_types, c->type);
    else if (session->writing)
        code = (all ? ncmpi_put_varn_all : ncmpi_put_varn)(
            state->file, c->number, c->slabs, c->starts, c->counts, memory, c->n_types, c->type);
    else if (strided)
        code = (all ? ncmpi_get_vars_all : ncmpi_get_vars)(
            state->file, c->number, c->start, c->count, c->stride, memory, c->n_types, c->type);
    else if (c->slabs == 0)
        code = (all ? ncmpi_get_vara_all : ncmpi_get_vara)(state->file, c->number, c->start,
                                                           c->count, memory, c->n_types, c->type);
    else
        code = (all ? ncmpi_get_varn_all : ncmpi_get_varn)(
            state->file, c->number, c->slabs, c->starts, c->counts, memory, c->n_types, c->type);
    if (code != NC_NOERR)
        fail_nc(session, session->writing ? "ncmpi_put" : "ncmpi_get", code);
}

static void move_variables(struct sw_session *session, int64_t step, char *buffer)
{
    const struct state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        const struct shape *shape = &state->shapes[variable->shape];
        bool all = session->options->mode == SW_MODE_COLLECTIVE;
        for (int64_t i = 0; i < (all ? shape->calls : shape->n_types); i++) {
            struct call call = call_at(session, step, v, i);
            move(session, shape->strided, &call, buffer + variable->memory);
        }
    }
}

/* A file is in collective mode by default; both changes are collective. */
static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct state *state = session->state;
    bool alone = session->options->mode == SW_MODE_INDEPENDENT;
    int code = alone ? ncmpi_begin_indep_data(state->file) : NC_NOERR;
    if (code != NC_NOERR)
        fail_nc(session, "ncmpi_begin_indep_data", code);
    move_variables(session, step, buffer);
    code = alone ? ncmpi_end_indep_data(state->file) : NC_NOERR;
    if (code != NC_NOERR)
        fail_nc(session, "ncmpi_end_indep_data", code);
    return session->failure->failed ? -1 : 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static int close_file(struct sw_session *session)
{
    struct state *state = session->state;
    if (state == NULL)
        return 0;
    int code = ncmpi_close(state->file);
    release(state, session->share);
    session->state = NULL;
    return code == NC_NOERR ? 0 : fail_nc(session, "ncmpi_close", code);
}

static void library(char *text, size_t bytes)
{
    put_version("PnetCDF", text, bytes);
}

#endif

const struct sw_backend sw_backend_pnetcdf = {
    .name = "pnetcdf",
    .suffix = ".nc",
    .stores = true,
    .hints = true,
    .collective = true,
#ifdef SW_HAVE_PNETCDF
    .summary = "PnetCDF (CDF-5): a variable each, with a leading dimension step",
    .closes_after_failure = true,
    .open = open_file,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
    .library = library,
#else
    .summary = "PnetCDF (not in this build)",
    .missing = "this kernel was built without PnetCDF; install it for this MPI (Debian: "
               "libpnetcdf-dev, Open MPI only) or set PNETCDF_DIR, and run \"stripewise doctor "
               "build\"",
#endif
};
