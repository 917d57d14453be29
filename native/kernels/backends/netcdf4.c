/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * netcdf4: parallel NetCDF-4 (HDF5 underneath) into one shared file.  A variable each, with a
 * leading dimension `step` of fixed length; one nc_put_vars or nc_get_vars a slab.
 *
 * All steps' variables are defined when the file is created; nothing is filled beforehand.
 * NetCDF's calls know no halos (nc_put_varm would go element by element), so a share with halos
 * is copied to memory without gaps first, and that copy is part of the transfer's time.
 * The library does not tell which hints MPI-IO took.  Closing after a failed write is as with
 * HDF5: see hdf5.c.
 */
#include "../kernel.h"

#ifdef SW_HAVE_NETCDF4

#include "slabs.h"

#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_DIMS (SW_MAX_DIMS + 1) /* with `step` */

struct netcdf4_state {
    int file;
    int *variables; /* their numbers in the file */
    int64_t *calls; /* per shape: collective calls, the most over all ranks */
    char *packed;   /* room for the largest slab that has gaps in memory */
};

static int fail_netcdf(struct sw_session *session, const char *call, int code)
{
    return sw_fail(session, call, "%s", nc_strerror(code));
}

static nc_type type_of(const struct sw_share *share)
{
    static const nc_type types[SW_TYPE_COUNT] = {
        [SW_TYPE_INT64] = NC_INT64,
        [SW_TYPE_DOUBLE] = NC_DOUBLE,
        [SW_TYPE_FLOAT] = NC_FLOAT,
    };
    return types[share->type];
}

/* ---- open ------------------------------------------------------------------------------ */

/* A dimension by its name, made if it is not there: `step`, or place and length as d0_64. */
static int define_dimension(struct sw_session *session, const char *name, int64_t length)
{
    const struct netcdf4_state *state = session->state;
    int number = 0;
    if (nc_inq_dimid(state->file, name, &number) == NC_NOERR)
        return number;
    int code = nc_def_dim(state->file, name, (size_t)length, &number);
    if (code != NC_NOERR)
        fail_netcdf(session, "nc_def_dim", code);
    return number;
}

static void define_variables(struct sw_session *session)
{
    struct netcdf4_state *state = session->state;
    const struct sw_share *share = session->share;
    int code = nc_set_fill(state->file, NC_NOFILL, NULL);
    if (code != NC_NOERR)
        fail_netcdf(session, "nc_set_fill", code);
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *domain = share->variables[v].domain;
        int dims[FILE_DIMS];
        char name[64];
        dims[0] = define_dimension(session, "step", session->options->steps);
        for (int d = 0; d < domain->n_dims; d++) {
            snprintf(name, sizeof name, "d%d_%lld", d, (long long)domain->extent[d]);
            dims[d + 1] = define_dimension(session, name, domain->extent[d]);
        }
        code = nc_def_var(state->file, share->variables[v].name, type_of(share),
                          domain->n_dims + 1, dims, &state->variables[v]);
        if (code != NC_NOERR)
            fail_netcdf(session, "nc_def_var", code);
    }
    code = nc_enddef(state->file);
    if (code != NC_NOERR)
        fail_netcdf(session, "nc_enddef", code);
}

/* Another shape or type would be converted, or read in part. */
static bool is_as_asked(struct sw_session *session, int variable)
{
    const struct netcdf4_state *state = session->state;
    const struct sw_domain *domain = session->share->variables[variable].domain;
    int number = state->variables[variable];
    int dims[NC_MAX_VAR_DIMS];
    int n_dims = 0;
    nc_type type = NC_NAT;
    size_t length = 0;
    if (nc_inq_var(state->file, number, NULL, &type, &n_dims, dims, NULL) != NC_NOERR ||
        n_dims != domain->n_dims + 1 || type != type_of(session->share) ||
        nc_inq_dimlen(state->file, dims[0], &length) != NC_NOERR ||
        length < (size_t)session->options->steps)
        return false;
    for (int d = 0; d < domain->n_dims; d++)
        if (nc_inq_dimlen(state->file, dims[d + 1], &length) != NC_NOERR ||
            length != (size_t)domain->extent[d])
            return false;
    return true;
}

static void find_variables(struct sw_session *session)
{
    struct netcdf4_state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++) {
        const char *name = session->share->variables[v].name;
        int code = nc_inq_varid(state->file, name, &state->variables[v]);
        if (code != NC_NOERR)
            sw_fail(session, "nc_inq_varid", "variable %s: %s", name, nc_strerror(code));
        else if (!is_as_asked(session, v))
            sw_fail(session, "nc_inq_var",
                    "variable %s has another shape or type than --size, --steps and --type say",
                    name);
    }
}

static void choose_access(struct sw_session *session)
{
    const struct netcdf4_state *state = session->state;
    int access = session->options->mode == SW_MODE_COLLECTIVE ? NC_COLLECTIVE : NC_INDEPENDENT;
    for (int v = 0; v < session->share->n_variables; v++) {
        int code = nc_var_par_access(state->file, state->variables[v], access);
        if (code != NC_NOERR)
            fail_netcdf(session, "nc_var_par_access", code);
    }
}

/* The most calls of any rank, and room for the largest slab that has to be copied. */
static void measure_slabs(struct sw_session *session)
{
    struct netcdf4_state *state = session->state;
    const struct sw_share *share = session->share;
    int64_t most = 0;
    for (int s = 0; s < share->n_domains; s++) {
        struct sw_slabs slabs = {.domain = &share->domains[s], .strides = true};
        struct sw_slab slab;
        state->calls[s] = sw_slabs_count(slabs.domain, true);
        while (sw_slabs_next(&slabs, &slab))
            if (!sw_slab_dense(&slab) && slab.elements > most)
                most = slab.elements;
    }
    MPI_Allreduce(MPI_IN_PLACE, state->calls, share->n_domains, MPI_INT64_T, MPI_MAX,
                  session->comm);
    state->packed = malloc((size_t)(most * share->element_bytes + 1));
    if (state->packed == NULL)
        sw_fail(session, "malloc", "out of memory");
}

static void release(struct netcdf4_state *state)
{
    if (state == NULL)
        return;
    free(state->variables);
    free(state->calls);
    free(state->packed);
    free(state);
}

static struct netcdf4_state *make_state(const struct sw_share *share)
{
    struct netcdf4_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return NULL;
    state->variables = calloc((size_t)share->n_variables, sizeof *state->variables);
    state->calls = calloc((size_t)share->n_domains, sizeof *state->calls);
    if (state->variables != NULL && state->calls != NULL)
        return state;
    release(state);
    return NULL;
}

/* Every rank has to call: the number of the file, or -1. */
static int open_number(struct sw_session *session, bool create)
{
    MPI_Info info = MPI_INFO_NULL;
    int file = -1;
    int code = sw_info_make(session->options, &info);
    if (code != MPI_SUCCESS)
        sw_fail_mpi(session, "MPI_Info_set", code);
    if (create)
        code = nc_create_par(session->path, NC_NETCDF4 | NC_CLOBBER, session->comm, info, &file);
    else
        code = nc_open_par(session->path, session->writing ? NC_WRITE : NC_NOWRITE, session->comm,
                           info, &file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (code == NC_NOERR)
        return file;
    fail_netcdf(session, create ? "nc_create_par" : "nc_open_par", code);
    return -1;
}

static int open_file(struct sw_session *session, bool create)
{
    struct netcdf4_state *state = make_state(session->share);
    if (state == NULL)
        sw_fail(session, "calloc", "out of memory");
    int file = open_number(session, create);
    bool open = sw_agree(session->comm, session->failure); /* what follows is collective */
    if (file < 0 || state == NULL) {
        release(state);
        return -1;
    }
    state->file = file;
    session->state = state;
    if (!open)
        return -1;
    if (create)
        define_variables(session);
    else
        find_variables(session);
    if (!session->failure->failed)
        choose_access(session);
    measure_slabs(session);
    return session->failure->failed ? -1 : 0;
}

/* ---- transfer ----------------------------------------------------------------------------- */

/* Where a slab lies in a variable with its leading dimension `step`. */
static void place_in_file(const struct sw_slab *slab, int64_t step, size_t *start, size_t *count,
                          ptrdiff_t *stride)
{
    start[0] = slab->elements > 0 ? (size_t)step : 0;
    count[0] = slab->elements > 0 ? 1 : 0;
    stride[0] = 1;
    for (int d = 0; d < slab->n_dims; d++) {
        start[d + 1] = (size_t)slab->start[d];
        count[d + 1] = (size_t)slab->count[d];
        stride[d + 1] = slab->elements > 0 ? (ptrdiff_t)slab->stride[d] : 1;
    }
}

static void move_slab(struct sw_session *session, int64_t step, int v, const struct sw_slab *slab,
                      char *memory)
{
    const struct netcdf4_state *state = session->state;
    size_t start[FILE_DIMS];
    size_t count[FILE_DIMS];
    ptrdiff_t stride[FILE_DIMS];
    int64_t bytes = session->share->element_bytes;
    bool dense = sw_slab_dense(slab);
    char *place = dense ? memory + sw_slab_first(slab) * bytes : state->packed;
    int variable = state->variables[v];
    place_in_file(slab, step, start, count, stride);
    if (!dense && session->writing)
        sw_slab_copy(slab, bytes, memory, state->packed, SW_PACK);
    int code = session->writing ? nc_put_vars(state->file, variable, start, count, stride, place)
                                : nc_get_vars(state->file, variable, start, count, stride, place);
    if (code != NC_NOERR)
        fail_netcdf(session, session->writing ? "nc_put_vars" : "nc_get_vars", code);
    else if (!dense && !session->writing)
        sw_slab_copy(slab, bytes, memory, state->packed, SW_UNPACK);
}

/* The next slab; an empty one for a rank that has fewer than others, when all have to call. */
static bool next_slab(const struct sw_session *session, int v, int64_t call,
                      struct sw_slabs *slabs, struct sw_slab *slab)
{
    const struct netcdf4_state *state = session->state;
    const struct sw_variable *variable = &session->share->variables[v];
    if (sw_slabs_next(slabs, slab))
        return true;
    *slab = (struct sw_slab){.n_dims = variable->domain->n_dims};
    return session->options->mode == SW_MODE_COLLECTIVE && call < state->calls[variable->shape];
}

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        struct sw_slabs slabs = {.domain = variable->domain, .strides = true};
        struct sw_slab slab;
        for (int64_t call = 0; next_slab(session, v, call, &slabs, &slab); call++)
            move_slab(session, step, v, &slab, buffer + variable->memory);
    }
    return session->failure->failed ? -1 : 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static int sync_file(struct sw_session *session)
{
    const struct netcdf4_state *state = session->state;
    int code = nc_sync(state->file);
    return code == NC_NOERR ? 0 : fail_netcdf(session, "nc_sync", code);
}

static int close_file(struct sw_session *session)
{
    struct netcdf4_state *state = session->state;
    if (state == NULL)
        return 0;
    int code = nc_close(state->file);
    release(state);
    session->state = NULL;
    return code == NC_NOERR ? 0 : fail_netcdf(session, "nc_close", code);
}

/* "4.9.0 of Aug  7 2022 ..." */
static void library(char *text, size_t bytes)
{
    const char *version = nc_inq_libvers();
    int length = 0;
    while (version[length] != '\0' && version[length] != ' ')
        length++;
    snprintf(text, bytes, "NetCDF %.*s", length, version);
}

#endif

const struct sw_backend sw_backend_netcdf4 = {
    .name = "netcdf4",
    .suffix = ".nc",
    .stores = true,
    .hints = true,
    .collective = true,
    .closes_after_failure = false,
#ifdef SW_HAVE_NETCDF4
    .summary = "parallel NetCDF-4: a variable each, with a leading dimension step",
    .open = open_file,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
    .library = library,
#else
    .summary = "parallel NetCDF-4 (not in this build)",
    .missing = "this kernel was built without parallel NetCDF; install one for this MPI (Debian: "
               "libnetcdf-mpi-dev, Open MPI only) or set NETCDF_DIR, and run \"stripewise runtime "
               "build\"",
#endif
};
