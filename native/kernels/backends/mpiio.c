/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiio: one shared file.  Each variable is one call through a file view, its memory described
 * by a datatype (so halos are skipped without a copy); with --no-view it is one independent call
 * per contiguous piece, as BT-IO's "simple" mode does it.
 */
#include "../kernel.h"

#include <limits.h>
#include <stdlib.h>

#define PIECE_ELEMENTS (INT64_C(1) << 27) /* of one call without a view */

struct mpiio_state {
    MPI_File file;
    bool typed;          /* the types below exist; otherwise this rank owns nothing */
    MPI_Datatype memory; /* one variable in memory */
    MPI_Datatype view;   /* one variable in the file */
};

/* One box: subarrays on both sides. */
static int types_of_box(const struct sw_domain *domain, struct mpiio_state *state)
{
    const struct sw_box *box = &domain->boxes[0];
    int extent[SW_MAX_DIMS];
    int start[SW_MAX_DIMS];
    int count[SW_MAX_DIMS];
    int allocated[SW_MAX_DIMS];
    int halo[SW_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++) {
        extent[d] = (int)domain->extent[d];
        start[d] = (int)box->start[d];
        count[d] = (int)box->count[d];
        allocated[d] = (int)box->allocated[d];
        halo[d] = (int)box->halo[d];
    }
    int code = MPI_Type_create_subarray(domain->n_dims, extent, count, start, MPI_ORDER_C,
                                        MPI_INT64_T, &state->view);
    if (code != MPI_SUCCESS)
        return code;
    return MPI_Type_create_subarray(domain->n_dims, allocated, count, halo, MPI_ORDER_C,
                                    MPI_INT64_T, &state->memory);
}

/* Several boxes: their runs.  A view must ascend, and rows of different boxes may alternate in
 * the file, so a list of boxes would not do. */
static int types_of_runs(struct sw_session *session, struct mpiio_state *state)
{
    const struct sw_domain *domain = session->domain;
    size_t n = domain->n_runs;
    int *counts = malloc(n * sizeof *counts);
    MPI_Aint *places = malloc(n * sizeof *places);
    int code = MPI_ERR_NO_MEM;
    if (counts != NULL && places != NULL && n <= INT_MAX) {
        MPI_Datatype bare = MPI_DATATYPE_NULL;
        for (size_t r = 0; r < n; r++) {
            counts[r] = (int)domain->runs[r].count;
            places[r] = (MPI_Aint)(domain->runs[r].memory * SW_ELEMENT_BYTES);
        }
        code = MPI_Type_create_hindexed((int)n, counts, places, MPI_INT64_T, &state->memory);
        for (size_t r = 0; r < n; r++)
            places[r] = (MPI_Aint)(domain->runs[r].global * SW_ELEMENT_BYTES);
        if (code == MPI_SUCCESS)
            code = MPI_Type_create_hindexed((int)n, counts, places, MPI_INT64_T, &bare);
        if (code == MPI_SUCCESS) {
            code = MPI_Type_create_resized(
                bare, 0, (MPI_Aint)(domain->elements * SW_ELEMENT_BYTES), &state->view);
            MPI_Type_free(&bare);
        }
    }
    free(counts);
    free(places);
    return code;
}

static int make_types(struct sw_session *session, struct mpiio_state *state)
{
    if (session->domain->n_boxes == 0 || !session->options->view)
        return 0;
    int code = session->domain->n_boxes == 1 ? types_of_box(session->domain, state)
                                             : types_of_runs(session, state);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&state->view);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&state->memory);
    if (code != MPI_SUCCESS)
        return sw_fail_mpi(session, "MPI_Type_create", code);
    state->typed = true;
    return 0;
}

/* A file to be read must hold all steps: MPI-IO would return less without an error. */
static int check_size(struct sw_session *session, MPI_File file)
{
    MPI_Offset size = 0;
    int64_t need = sw_region(session->domain, session->options->steps, 0) * SW_ELEMENT_BYTES;
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
    MPI_Offset start = sw_region(session->domain, step, variable) * SW_ELEMENT_BYTES;
    int code =
        MPI_File_set_view(state->file, start, MPI_INT64_T,
                          state->typed ? state->view : MPI_INT64_T, "native", MPI_INFO_NULL);
    return code == MPI_SUCCESS ? 0 : sw_fail_mpi(session, "MPI_File_set_view", code);
}

/* How much a call moved, against what it should have. */
static int check_moved(struct sw_session *session, const char *call, int code,
                       const MPI_Status *status, int64_t expected)
{
    MPI_Count moved = 0;
    if (code != MPI_SUCCESS)
        return sw_fail_mpi(session, call, code);
    if (MPI_Get_elements_x(status, MPI_INT64_T, &moved) != MPI_SUCCESS || moved == expected ||
        moved == MPI_UNDEFINED)
        return 0;
    return sw_fail(session, call, "%lld of %lld elements were moved", (long long)moved,
                   (long long)expected);
}

static int write_view(struct sw_session *session, const int64_t *memory)
{
    const struct mpiio_state *state = session->state;
    int count = state->typed ? 1 : 0;
    MPI_Datatype type = state->typed ? state->memory : MPI_INT64_T;
    MPI_Status status = {0};
    if (session->options->mode == SW_MODE_COLLECTIVE) {
        int code = MPI_File_write_at_all(state->file, 0, memory, count, type, &status);
        return check_moved(session, "MPI_File_write_at_all", code, &status,
                           session->domain->owned);
    }
    if (count == 0)
        return 0;
    int code = MPI_File_write_at(state->file, 0, memory, count, type, &status);
    return check_moved(session, "MPI_File_write_at", code, &status, session->domain->owned);
}

static int read_view(struct sw_session *session, int64_t *memory)
{
    const struct mpiio_state *state = session->state;
    int count = state->typed ? 1 : 0;
    MPI_Datatype type = state->typed ? state->memory : MPI_INT64_T;
    MPI_Status status = {0};
    if (session->options->mode == SW_MODE_COLLECTIVE) {
        int code = MPI_File_read_at_all(state->file, 0, memory, count, type, &status);
        return check_moved(session, "MPI_File_read_at_all", code, &status, session->domain->owned);
    }
    if (count == 0)
        return 0;
    int code = MPI_File_read_at(state->file, 0, memory, count, type, &status);
    return check_moved(session, "MPI_File_read_at", code, &status, session->domain->owned);
}

/* One contiguous piece without a view: offsets are bytes. */
static int write_piece(struct sw_session *session, const int64_t *memory, int64_t count,
                       int64_t offset)
{
    const struct mpiio_state *state = session->state;
    for (int64_t done = 0; done < count; done += PIECE_ELEMENTS) {
        int now = (int)(count - done < PIECE_ELEMENTS ? count - done : PIECE_ELEMENTS);
        MPI_Status status = {0};
        int code = MPI_File_write_at(state->file, offset + done * SW_ELEMENT_BYTES, memory + done,
                                     now, MPI_INT64_T, &status);
        if (check_moved(session, "MPI_File_write_at", code, &status, now) != 0)
            return -1;
    }
    return 0;
}

static int read_piece(struct sw_session *session, int64_t *memory, int64_t count, int64_t offset)
{
    const struct mpiio_state *state = session->state;
    for (int64_t done = 0; done < count; done += PIECE_ELEMENTS) {
        int now = (int)(count - done < PIECE_ELEMENTS ? count - done : PIECE_ELEMENTS);
        MPI_Status status = {0};
        int code = MPI_File_read_at(state->file, offset + done * SW_ELEMENT_BYTES, memory + done,
                                    now, MPI_INT64_T, &status);
        if (check_moved(session, "MPI_File_read_at", code, &status, now) != 0)
            return -1;
    }
    return 0;
}

static int write_pieces(struct sw_session *session, int64_t region, const int64_t *memory)
{
    const struct sw_domain *domain = session->domain;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        if (write_piece(session, memory + run->memory, run->count,
                        (region + run->global) * SW_ELEMENT_BYTES) != 0)
            return -1;
    }
    return 0;
}

static int read_pieces(struct sw_session *session, int64_t region, int64_t *memory)
{
    const struct sw_domain *domain = session->domain;
    for (size_t r = 0; r < domain->n_runs; r++) {
        const struct sw_run *run = &domain->runs[r];
        if (read_piece(session, memory + run->memory, run->count,
                       (region + run->global) * SW_ELEMENT_BYTES) != 0)
            return -1;
    }
    return 0;
}

/* All variables, whatever fails: the views, and collective transfers, need every rank. */
static int write_step(struct sw_session *session, int64_t step, const int64_t *buffer)
{
    const struct sw_domain *domain = session->domain;
    for (int v = 0; v < domain->n_variables; v++) {
        const int64_t *memory = buffer + v * domain->allocated;
        if (!session->options->view)
            write_pieces(session, sw_region(domain, step, v), memory);
        else if (set_view(session, step, v) == 0)
            write_view(session, memory);
    }
    return session->failure->failed ? -1 : 0;
}

static int read_step(struct sw_session *session, int64_t step, int64_t *buffer)
{
    const struct sw_domain *domain = session->domain;
    for (int v = 0; v < domain->n_variables; v++) {
        int64_t *memory = buffer + v * domain->allocated;
        if (!session->options->view)
            read_pieces(session, sw_region(domain, step, v), memory);
        else if (set_view(session, step, v) == 0)
            read_view(session, memory);
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
    if (state->typed) {
        MPI_Type_free(&state->view);
        MPI_Type_free(&state->memory);
    }
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
    .per_process = false,
    .removes_view = true,
    .closes_after_failure = true,
    .open = open_file,
    .prepare = prepare,
    .write = write_step,
    .read = read_step,
    .sync = sync_file,
    .close = close_file,
    .library = library,
};
