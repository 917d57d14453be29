/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiio: one shared file.  Each variable is one call through a file view, its memory described
 * by a datatype (so halos are skipped without a copy); with --no-view it is one independent call
 * per contiguous piece, as BT-IO's "simple" mode does it.
 */
#include "mpiio_types.h"

#include <stdlib.h>

#define PIECE_ELEMENTS (INT64_C(1) << 27) /* of one call without a view */

struct mpiio_state {
    MPI_File file;
    int n_shapes;
    struct sw_mpiio_types *types; /* of each shape */
};

static int make_types(struct sw_session *session, struct mpiio_state *state)
{
    const struct sw_share *share = session->share;
    if (!session->options->view)
        return 0;
    state->types = calloc((size_t)share->n_domains, sizeof *state->types);
    if (state->types == NULL)
        return sw_fail(session, "calloc", "out of memory");
    state->n_shapes = share->n_domains;
    for (int s = 0; s < share->n_domains; s++) {
        int code = sw_mpiio_types_make(share, &share->domains[s], &state->types[s]);
        if (code != MPI_SUCCESS)
            return sw_fail_mpi(session, "MPI_Type_create", code);
    }
    return 0;
}

/* A file to be read must hold all steps: MPI-IO would return less without an error. */
static int check_size(struct sw_session *session, MPI_File file)
{
    MPI_Offset size = 0;
    int64_t need = session->options->steps * session->share->step_bytes;
    int code = MPI_File_get_size(file, &size);
    if (code != MPI_SUCCESS)
        return sw_fail_mpi(session, "MPI_File_get_size", code);
    if (size < need)
        return sw_fail(session, "MPI_File_get_size", "the file has %lld bytes, %lld are needed",
                       (long long)size, (long long)need);
    return 0;
}

static int open_file(struct sw_session *session, bool create)
{
    struct mpiio_state *state = calloc(1, sizeof *state);
    MPI_Info info = MPI_INFO_NULL;
    MPI_File file = MPI_FILE_NULL;
    int amode =
        session->writing ? MPI_MODE_RDWR | (create ? MPI_MODE_CREATE : 0) : MPI_MODE_RDONLY;
    int code = sw_info_make(session->options, &info);
    if (code != MPI_SUCCESS)
        sw_fail_mpi(session, "MPI_Info_set", code);
    if (state == NULL)
        sw_fail(session, "calloc", "out of memory");
    code = MPI_File_open(session->comm, session->path, amode, info, &file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (code != MPI_SUCCESS) {
        free(state);
        return sw_fail_mpi(session, "MPI_File_open", code);
    }
    if (state == NULL)
        return -1;
    state->file = file;
    session->state = state;
    sw_info_report(session, file);
    if (!session->writing && check_size(session, file) != 0)
        return -1;
    return make_types(session, state);
}

static int prepare(struct sw_session *session, int64_t step)
{
    (void)session;
    (void)step;
    return 0;
}

/* Set the view on one variable; all ranks. */
static int set_view(struct sw_session *session, int64_t step, int variable)
{
    const struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    const struct sw_mpiio_types *types = &state->types[share->variables[variable].shape];
    MPI_Datatype element = sw_type_mpi(share->type);
    int code = MPI_File_set_view(state->file, sw_region(share, step, variable), element,
                                 types->typed ? types->view : element, "native", MPI_INFO_NULL);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_set_view", code);
}

/* How many elements a call moved, against what it should have. */
static int check_moved(struct sw_session *session, const char *call, int code,
                       const MPI_Status *status, int64_t expected)
{
    MPI_Count moved = 0;
    if (code != MPI_SUCCESS)
        return sw_fail_mpi(session, call, code);
    if (MPI_Get_elements_x(status, sw_type_mpi(session->share->type), &moved) != MPI_SUCCESS ||
        moved == expected || moved == MPI_UNDEFINED)
        return 0;
    return sw_fail(session, call, "%lld of %lld elements were moved", (long long)moved,
                   (long long)expected);
}

static int write_view(struct sw_session *session, const struct sw_variable *variable,
                      const char *buffer)
{
    const struct mpiio_state *state = session->state;
    const struct sw_mpiio_types *types = &state->types[variable->shape];
    const char *memory = buffer + variable->memory;
    int64_t owned = variable->domain->owned;
    int count = types->typed ? 1 : 0;
    MPI_Datatype type = types->typed ? types->memory : sw_type_mpi(session->share->type);
    MPI_Status status = {0};
    if (session->options->mode == SW_MODE_COLLECTIVE) {
        int code = MPI_File_write_at_all(state->file, 0, memory, count, type, &status);
        return check_moved(session, "MPI_File_write_at_all", code, &status, owned);
    }
    if (count == 0)
        return 0;
    int code = MPI_File_write_at(state->file, 0, memory, count, type, &status);
    return check_moved(session, "MPI_File_write_at", code, &status, owned);
}

static int read_view(struct sw_session *session, const struct sw_variable *variable, char *buffer)
{
    const struct mpiio_state *state = session->state;
    const struct sw_mpiio_types *types = &state->types[variable->shape];
    char *memory = buffer + variable->memory;
    int64_t owned = variable->domain->owned;
    int count = types->typed ? 1 : 0;
    MPI_Datatype type = types->typed ? types->memory : sw_type_mpi(session->share->type);
    MPI_Status status = {0};
    if (session->options->mode == SW_MODE_COLLECTIVE) {
        int code = MPI_File_read_at_all(state->file, 0, memory, count, type, &status);
        return check_moved(session, "MPI_File_read_at_all", code, &status, owned);
    }
    if (count == 0)
        return 0;
    int code = MPI_File_read_at(state->file, 0, memory, count, type, &status);
    return check_moved(session, "MPI_File_read_at", code, &status, owned);
}

/* One contiguous piece without a view: offsets are bytes. */
static int write_piece(struct sw_session *session, const char *memory, int64_t count,
                       int64_t offset)
{
    const struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    for (int64_t done = 0; done < count; done += PIECE_ELEMENTS) {
        int now = (int)(count - done < PIECE_ELEMENTS ? count - done : PIECE_ELEMENTS);
        int64_t before = done * share->element_bytes;
        MPI_Status status = {0};
        int code = MPI_File_write_at(state->file, offset + before, memory + before, now,
                                     sw_type_mpi(share->type), &status);
        if (check_moved(session, "MPI_File_write_at", code, &status, now) != 0)
            return -1;
    }
    return 0;
}

static int read_piece(struct sw_session *session, char *memory, int64_t count, int64_t offset)
{
    const struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    for (int64_t done = 0; done < count; done += PIECE_ELEMENTS) {
        int now = (int)(count - done < PIECE_ELEMENTS ? count - done : PIECE_ELEMENTS);
        int64_t before = done * share->element_bytes;
        MPI_Status status = {0};
        int code = MPI_File_read_at(state->file, offset + before, memory + before, now,
                                    sw_type_mpi(share->type), &status);
        if (check_moved(session, "MPI_File_read_at", code, &status, now) != 0)
            return -1;
    }
    return 0;
}

static int write_pieces(struct sw_session *session, int64_t step, int v, const char *buffer)
{
    const struct sw_share *share = session->share;
    const struct sw_domain *domain = share->variables[v].domain;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        const char *memory =
            buffer + share->variables[v].memory + run->memory * share->element_bytes;
        int64_t offset = sw_region(share, step, v) + run->global * share->element_bytes;
        if (write_piece(session, memory, run->count, offset) != 0)
            return -1;
    }
    return 0;
}

static int read_pieces(struct sw_session *session, int64_t step, int v, char *buffer)
{
    const struct sw_share *share = session->share;
    const struct sw_domain *domain = share->variables[v].domain;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        char *memory = buffer + share->variables[v].memory + run->memory * share->element_bytes;
        int64_t offset = sw_region(share, step, v) + run->global * share->element_bytes;
        if (read_piece(session, memory, run->count, offset) != 0)
            return -1;
    }
    return 0;
}

/* All variables, whatever fails: the views, and collective transfers, need every rank. */
static int write_step(struct sw_session *session, int64_t step, const char *buffer)
{
    for (int v = 0; v < session->share->n_variables; v++) {
        if (!session->options->view)
            write_pieces(session, step, v, buffer);
        else if (set_view(session, step, v) == 0)
            write_view(session, &session->share->variables[v], buffer);
    }
    return session->failure->failed ? -1 : 0;
}

static int read_step(struct sw_session *session, int64_t step, char *buffer)
{
    for (int v = 0; v < session->share->n_variables; v++) {
        if (!session->options->view)
            read_pieces(session, step, v, buffer);
        else if (set_view(session, step, v) == 0)
            read_view(session, &session->share->variables[v], buffer);
    }
    return session->failure->failed ? -1 : 0;
}

static int sync_file(struct sw_session *session)
{
    const struct mpiio_state *state = session->state;
    int code = MPI_File_sync(state->file);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_sync", code);
}

static int close_file(struct sw_session *session)
{
    struct mpiio_state *state = session->state;
    session->state = NULL;
    if (state == NULL)
        return 0;
    int code = MPI_File_close(&state->file);
    for (int shape = 0; shape < state->n_shapes; shape++)
        sw_mpiio_types_free(&state->types[shape]);
    free(state->types);
    free(state);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_close", code);
}

static void library(char *text, size_t bytes)
{
    if (bytes > 0)
        text[0] = '\0'; /* part of MPI, whose version is always reported */
}

const struct sw_backend sw_backend_mpiio = {
    .name = "mpiio",
    .summary = "MPI-IO into one shared file, through file views",
    .missing = NULL,
    .suffix = ".dat",
    .stores = true,
    .hints = true,
    .collective = true,
    .serial = false,
    .per_process = false,
    .per_node = false,
    .removes_view = true,
    .closes_after_failure = true,
    .open = open_file,
    .prepare = prepare,
    .write = write_step,
    .read = read_step,
    .sync = sync_file,
    .close = close_file,
    .remove = NULL,
    .library = library,
};
