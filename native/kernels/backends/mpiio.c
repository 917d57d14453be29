/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiio: one shared file. Each variable is one call through a file view, with its memory described
 * by a datatype (so that halos are skipped without a copy); with --no-view, it is one independent
 * call per contiguous piece, like BT-IO's "simple" mode. With --transfer, there are as many calls
 * of that size as needed, and in collective mode as many on all ranks.
 */
#include "../wall.h"
#include "mpiio_types.h"
#include "slabs.h"

#include <stdlib.h>

#define PIECE_ELEMENTS (INT64_C(1) << 27) /* maximum of one call without a view */

struct mpiio_state {
    MPI_File file;
    int n_shapes;
    struct sw_mpiio_types *types; /* of each shape */
    int64_t *calls;               /* --transfer: by shape, the maximum over all ranks */
    char *stage; /* --transfer: for one call whose elements are not contiguous in memory */
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

/* A file to be read must contain all steps: MPI-IO would return less without an error. */
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
    bool partial = session->options->stonewall_seconds > 0.0; /* the file may be partial too */
    if (!session->writing && !partial)
        check_size(session, file);
    make_types(session, state);
    return session->failure->failed ? -1 : 0;
}

/* Determines how many calls each shape needs. Collective. */
static int make_calls(struct sw_session *session)
{
    struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    const int64_t bytes = session->options->transfer_bytes;
    int enough = 1;
    state->calls = calloc((size_t)share->n_domains, sizeof *state->calls);
    state->stage = sw_memory(bytes);
    if (state->calls == NULL || state->stage == NULL)
        enough = 0;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, session->comm);
    if (!enough)
        return sw_fail(session, "malloc", "out of memory for the staging buffer");
    for (int s = 0; s < share->n_domains; s++)
        state->calls[s] = (share->domains[s].owned * share->element_bytes + bytes - 1) / bytes;
    MPI_Allreduce(MPI_IN_PLACE, state->calls, share->n_domains, MPI_INT64_T, MPI_MAX,
                  session->comm);
    return 0;
}

static int prepare(struct sw_session *session, int64_t step)
{
    const struct mpiio_state *state = session->state;
    (void)step;
    return session->options->transfer_bytes > 0 && state->calls == NULL ? make_calls(session) : 0;
}

/* Sets the view to one variable; on all ranks. */
static int set_view(struct sw_session *session, int64_t step, int variable)
{
    const struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    const struct sw_mpiio_types *types = &state->types[share->variables[variable].shape];
    const struct sw_domain *domain = share->variables[variable].domain;
    MPI_Datatype element = sw_type_mpi(share->type);
    MPI_Datatype filetype = types->typed ? types->view : element;
    MPI_Offset begin = sw_region(share, step, variable);
    if (session->options->pattern->plain_view && domain->n_runs == 1) {
        begin += domain->runs[0].global * share->element_bytes;
        filetype = element;
    }
    int code = MPI_File_set_view(state->file, begin, element, filetype, "native", MPI_INFO_NULL);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_set_view", code);
}

/* Checks how many elements a call has moved. */
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

/* Makes one call of this pass and mode. */
static int call(struct sw_session *session, MPI_Offset offset, char *memory, int count,
                MPI_Datatype type, int64_t expected)
{
    const struct mpiio_state *state = session->state;
    MPI_Status status = {0};
    const char *name = NULL;
    int code = MPI_SUCCESS;
    if (session->options->mode == SW_MODE_COLLECTIVE) {
        name = session->writing ? "MPI_File_write_at_all" : "MPI_File_read_at_all";
        code = session->writing
                   ? MPI_File_write_at_all(state->file, offset, memory, count, type, &status)
                   : MPI_File_read_at_all(state->file, offset, memory, count, type, &status);
    } else {
        name = session->writing ? "MPI_File_write_at" : "MPI_File_read_at";
        code = session->writing
                   ? MPI_File_write_at(state->file, offset, memory, count, type, &status)
                   : MPI_File_read_at(state->file, offset, memory, count, type, &status);
    }
    return check_moved(session, name, code, &status, expected);
}

/* Moves a variable through its view, in one call. */
static int move_view(struct sw_session *session, const struct sw_variable *variable, char *memory)
{
    const struct mpiio_state *state = session->state;
    const struct sw_mpiio_types *types = &state->types[variable->shape];
    MPI_Datatype type = types->typed ? types->memory : sw_type_mpi(session->share->type);
    if (!types->typed && session->options->mode != SW_MODE_COLLECTIVE)
        return 0;
    return call(session, 0, memory, types->typed ? 1 : 0, type, variable->domain->owned);
}

/* Makes one call of --transfer: `count` elements from element `done` of the view on. */
static int move_slice(struct sw_session *session, struct sw_slices *slices, char *memory,
                      int64_t done, int64_t count)
{
    const struct mpiio_state *state = session->state;
    char *place = count > 0 ? sw_slice_place(slices, memory, count) : state->stage;
    char *stage = place == NULL ? state->stage : NULL;
    MPI_Datatype type = sw_type_mpi(session->share->type);
    if (session->writing)
        sw_slices_copy(slices, memory, count, stage, true);
    int code = call(session, done, place != NULL ? place : stage, (int)count, type, count);
    if (!session->writing && code == 0)
        sw_slices_copy(slices, memory, count, stage, false);
    return code;
}

/* Moves a variable through its view, in calls of --transfer bytes. */
static void move_slices(struct sw_session *session, int v, char *memory)
{
    const struct mpiio_state *state = session->state;
    const struct sw_share *share = session->share;
    const struct sw_variable *variable = &share->variables[v];
    const int64_t owned = variable->domain->owned;
    const int64_t most = session->options->transfer_bytes / share->element_bytes;
    const bool all = session->options->mode == SW_MODE_COLLECTIVE;
    struct sw_slices slices = {.domain = variable->domain, .element_bytes = share->element_bytes};
    int64_t done = 0;
    for (int64_t c = 0; c < state->calls[variable->shape] && (all || done < owned); c++) {
        int64_t count = owned - done < most ? owned - done : most;
        if (!sw_wall_next(session))
            break;
        if (session->failure->failed && all)
            count = 0; /* the others wait for this rank */
        if (move_slice(session, &slices, memory, done, count) != 0 && !all)
            break;
        sw_wall_moved(session, v, count);
        done += count;
    }
}

/* Moves one contiguous piece without a view: offsets are bytes. Returns false if there are no
 * more. */
static bool move_piece(struct sw_session *session, int v, char *memory, int64_t count,
                       int64_t offset)
{
    const struct sw_share *share = session->share;
    const int64_t cut = session->options->transfer_bytes;
    const int64_t most = cut > 0 ? cut / share->element_bytes : PIECE_ELEMENTS;
    for (int64_t done = 0; done < count; done += most) {
        int64_t now = count - done < most ? count - done : most;
        int64_t before = done * share->element_bytes;
        if (cut > 0 && !sw_wall_next(session))
            return false;
        if (call(session, offset + before, memory + before, (int)now, sw_type_mpi(share->type),
                 now) != 0)
            return false;
        if (cut > 0)
            sw_wall_moved(session, v, now);
    }
    return true;
}

static void move_pieces(struct sw_session *session, int64_t step, int v, char *memory)
{
    const struct sw_share *share = session->share;
    const struct sw_domain *domain = share->variables[v].domain;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        if (!move_piece(session, v, memory + run->memory * share->element_bytes, run->count,
                        sw_region(share, step, v) + run->global * share->element_bytes))
            return;
    }
}

/* Moves all variables, even after a failure: views, and collective transfers, need every rank. */
static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    const bool cut = session->options->transfer_bytes > 0;
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        char *memory = buffer + variable->memory;
        if (!session->options->view)
            move_pieces(session, step, v, memory);
        else if (set_view(session, step, v) != 0)
            continue;
        else if (cut)
            move_slices(session, v, memory);
        else
            move_view(session, variable, memory);
        if (cut)
            sw_wall_section(session);
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
    free(state->calls);
    free(state->stage);
    free(state);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_close", code);
}

const struct sw_backend sw_backend_mpiio = {
    .name = "mpiio",
    .summary = "MPI-IO into one shared file, through file views",
    .suffix = ".dat",
    .stores = true,
    .hints = true,
    .collective = true,
    .transfers = true,
    .removes_view = true,
    .closes_after_failure = true,
    .open = open_file,
    .prepare = prepare,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
};
