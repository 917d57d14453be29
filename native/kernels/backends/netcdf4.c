/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * netcdf4: parallel NetCDF-4 (over HDF5) into one shared file. There is one variable each, with a
 * leading dimension `step` of fixed length, and one nc_put_vars or nc_get_vars per slab.
 *
 * All steps' variables are defined when the file is created; nothing is filled in advance.
 * NetCDF's calls do not support halos (nc_put_varm would move single elements), so a share with
 * halos is first copied to contiguous memory, and that copy is part of the transfer's time. The
 * library does not report which hints MPI-IO uses. Closing after a failed write is as with HDF5:
 * see hdf5.c.
 */
#include "../kernel.h"

#ifdef SW_HAVE_NETCDF4

#include "slabs.h"

#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int file;
    int *variables; /* their numbers in the file */
    int64_t *calls; /* per shape: collective calls, maximum over all ranks */
    char *packed;   /* room for the largest slab that has gaps in memory */
};

#define NC(verb) nc_##verb
#define NC_NAME(verb) "nc_" #verb
#define NC_LENGTH size_t

#include "netcdf_variables.h"

/* ---- open ------------------------------------------------------------------------------ */

static void choose_access(struct sw_session *session)
{
    const struct state *state = session->state;
    int access = session->options->mode == SW_MODE_COLLECTIVE ? NC_COLLECTIVE : NC_INDEPENDENT;
    for (int v = 0; v < session->share->n_variables; v++) {
        int code = nc_var_par_access(state->file, state->variables[v], access);
        if (code != NC_NOERR)
            fail_nc(session, "nc_var_par_access", code);
    }
}

/* Determines the maximum number of calls of any rank, and the room for the largest slab that must
 * be copied. */
static void measure_slabs(struct sw_session *session)
{
    struct state *state = session->state;
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

static void release(struct state *state)
{
    if (state == NULL)
        return;
    free(state->variables);
    free(state->calls);
    free(state->packed);
    free(state);
}

static struct state *make_state(const struct sw_share *share)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return NULL;
    state->variables = calloc((size_t)share->n_variables, sizeof *state->variables);
    state->calls = calloc((size_t)share->n_domains, sizeof *state->calls);
    if (state->variables != NULL && state->calls != NULL)
        return state;
    release(state);
    return NULL;
}

/* Every rank must call this. Returns the number of the file, or -1. */
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
    fail_nc(session, create ? "nc_create_par" : "nc_open_par", code);
    return -1;
}

static int open_file(struct sw_session *session, bool create)
{
    struct state *state = make_state(session->share);
    if (state == NULL)
        sw_fail(session, "calloc", "out of memory");
    int code = NC_NOERR;
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
    if (create) {
        code = nc_set_fill(file, NC_NOFILL, NULL);
        if (code != NC_NOERR)
            fail_nc(session, "nc_set_fill", code);
        define_variables(session);
    } else {
        find_variables(session);
    }
    if (!session->failure->failed)
        choose_access(session);
    measure_slabs(session);
    return session->failure->failed ? -1 : 0;
}

/* ---- transfer ----------------------------------------------------------------------------- */

/* Gets the position of a slab in a variable with its leading dimension `step`. */
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
    const struct state *state = session->state;
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
        fail_nc(session, session->writing ? "nc_put_vars" : "nc_get_vars", code);
    else if (!dense && !session->writing)
        sw_slab_copy(slab, bytes, memory, state->packed, SW_UNPACK);
}

/* Gets the next slab; an empty one for a rank with fewer than others, if all must call. */
static bool next_slab(const struct sw_session *session, int v, int64_t call,
                      struct sw_slabs *slabs, struct sw_slab *slab)
{
    const struct state *state = session->state;
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

static int close_file(struct sw_session *session)
{
    struct state *state = session->state;
    if (state == NULL)
        return 0;
    int code = nc_close(state->file);
    release(state);
    session->state = NULL;
    return code == NC_NOERR ? 0 : fail_nc(session, "nc_close", code);
}

static void library(char *text, size_t bytes)
{
    put_version("NetCDF", text, bytes);
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
               "libnetcdf-mpi-dev, Open MPI only) or set NETCDF_DIR, and run \"stripewise doctor "
               "build\"",
#endif
};
