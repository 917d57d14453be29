/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5: one shared file, a group per step, a dataset per variable, one H5Dwrite or H5Dread per
 * box, or with --transfer (one dimension) per so many bytes. It is registered in every build;
 * without parallel HDF5, it reports that when it is requested.
 *
 * After a failed write (a full disk), H5Fclose of HDF5 1.10 waits for ever, one rank in the
 * barrier of the metadata cache and another in the broadcast of the truncation, and the clean-up
 * that HDF5 attaches to MPI_Finalize crashes; so such a file is not closed. If only the metadata
 * that H5Fclose itself writes does not fit on the disk, nothing can be done from outside.
 */
#include "../wall.h"

#include "../kernel.h"

#ifdef SW_HAVE_HDF5
#include <hdf5.h>
#endif

#if defined(SW_HAVE_HDF5) && defined(H5_HAVE_PARALLEL)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT ((hid_t) - 1)

struct hdf5_state {
    hid_t file;
    hid_t transfer;  /* transfer property list */
    hid_t *datasets; /* of the current step; NULL between steps */
    int64_t *calls;  /* by shape, on the rank with most calls; NULL before the first step */
};

/* Collects descriptions on the error stack, the cause first. */
static herr_t collect(unsigned n, const H5E_error2_t *error, void *data)
{
    char *text = data;
    size_t used = strlen(text);
    if (n < 4 && error->desc != NULL && used + 3 < 256)
        snprintf(text + used, 256 - used, "%s%s", used > 0 ? "; " : "", error->desc);
    return 0;
}

static int fail_hdf5(struct sw_session *session, const char *call)
{
    char text[256] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, text);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return sw_fail(session, call, "%s", text[0] != '\0' ? text : "no reason given");
}

static hid_t access_list(struct sw_session *session)
{
    MPI_Info info = MPI_INFO_NULL;
    int code = sw_info_make(session->options, &info);
    if (code != MPI_SUCCESS)
        sw_fail_mpi(session, "MPI_Info_set", code);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list >= 0 && H5Pset_fapl_mpio(list, session->comm, info) < 0)
        fail_hdf5(session, "H5Pset_fapl_mpio");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return list;
}

/* The MPI file underneath reports which hints it uses. */
static void report_hints(struct sw_session *session, hid_t file)
{
    void *handle = NULL;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle != NULL)
        sw_info_report(session, *(MPI_File *)handle);
}

static int open_file(struct sw_session *session, bool create)
{
    struct hdf5_state *state = calloc(1, sizeof *state);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = access_list(session);
    hid_t file = ABSENT;
    if (create)
        file = H5Fcreate(session->path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    else
        file = H5Fopen(session->path, session->writing ? H5F_ACC_RDWR : H5F_ACC_RDONLY, list);
    if (file < 0)
        fail_hdf5(session, create ? "H5Fcreate" : "H5Fopen");
    if (list >= 0)
        H5Pclose(list);
    if (state == NULL)
        return sw_fail(session, "calloc", "out of memory");
    if (file < 0) {
        free(state);
        return -1;
    }
    state->file = file;
    state->transfer = H5Pcreate(H5P_DATASET_XFER);
    session->state = state;
    if (state->transfer < 0 ||
        H5Pset_dxpl_mpio(state->transfer, session->options->mode == SW_MODE_COLLECTIVE
                                              ? H5FD_MPIO_COLLECTIVE
                                              : H5FD_MPIO_INDEPENDENT) < 0)
        fail_hdf5(session, "H5Pset_dxpl_mpio");
    report_hints(session, file);
    return session->failure->failed ? -1 : 0;
}

static void release_step(struct sw_session *session)
{
    struct hdf5_state *state = session->state;
    if (state->datasets == NULL)
        return;
    for (int v = 0; v < session->share->n_variables; v++)
        if (state->datasets[v] >= 0 && H5Dclose(state->datasets[v]) < 0)
            fail_hdf5(session, "H5Dclose");
    free(state->datasets);
    state->datasets = NULL;
}

static hid_t element_type(const struct sw_session *session)
{
    if (session->share->type == SW_TYPE_INT64)
        return H5T_NATIVE_INT64;
    return session->share->type == SW_TYPE_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

static hid_t file_space(const struct sw_domain *domain)
{
    hsize_t extent[SW_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++)
        extent[d] = (hsize_t)domain->extent[d];
    return H5Screate_simple(domain->n_dims, extent, NULL);
}

static void create_datasets(struct sw_session *session, hid_t group)
{
    struct hdf5_state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        hid_t space = file_space(variable->domain);
        state->datasets[v] = H5Dcreate2(group, variable->name, element_type(session), space,
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (state->datasets[v] < 0)
            fail_hdf5(session, "H5Dcreate");
        if (space >= 0)
            H5Sclose(space);
    }
}

/* A dataset of another shape would be read without an error if it is larger. */
static void check_shape(struct sw_session *session, hid_t dataset,
                        const struct sw_variable *variable)
{
    const struct sw_domain *domain = variable->domain;
    hsize_t extent[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dataset);
    bool same = space >= 0 && H5Sget_simple_extent_ndims(space) == domain->n_dims &&
                H5Sget_simple_extent_dims(space, extent, NULL) == domain->n_dims;
    for (int d = 0; d < domain->n_dims && same; d++)
        same = extent[d] == (hsize_t)domain->extent[d];
    if (space >= 0)
        H5Sclose(space);
    if (!same)
        sw_fail(session, "H5Dopen", "dataset %s has another shape than --size asks for",
                variable->name);
}

static void open_datasets(struct sw_session *session, hid_t group)
{
    struct hdf5_state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        state->datasets[v] = H5Dopen2(group, variable->name, H5P_DEFAULT);
        if (state->datasets[v] < 0)
            fail_hdf5(session, "H5Dopen");
        else
            check_shape(session, state->datasets[v], variable);
    }
}

static int prepare_datasets(struct sw_session *session, int64_t step)
{
    struct hdf5_state *state = session->state;
    int n = session->share->n_variables;
    char name[32];
    snprintf(name, sizeof name, "/step_%06lld", (long long)step);
    release_step(session);
    state->datasets = malloc((size_t)n * sizeof *state->datasets);
    if (state->datasets == NULL)
        return sw_fail(session, "malloc", "out of memory");
    for (int v = 0; v < n; v++)
        state->datasets[v] = ABSENT;
    hid_t group = session->writing
                      ? H5Gcreate2(state->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                      : H5Gopen2(state->file, name, H5P_DEFAULT);
    if (group < 0)
        return fail_hdf5(session, session->writing ? "H5Gcreate" : "H5Gopen");
    if (session->writing)
        create_datasets(session, group);
    else
        open_datasets(session, group);
    H5Gclose(group);
    return session->failure->failed ? -1 : 0;
}

struct selection {
    hid_t file;
    hid_t memory;
};

static void release(struct selection *selection)
{
    if (selection->file >= 0)
        H5Sclose(selection->file);
    if (selection->memory >= 0)
        H5Sclose(selection->memory);
}

/* Selects a box in the file, contiguous in memory. */
static bool select_hyperslab(const struct sw_domain *domain, const struct sw_box *box,
                             const struct selection *selection)
{
    hsize_t start[SW_MAX_DIMS];
    hsize_t stride[SW_MAX_DIMS];
    hsize_t count[SW_MAX_DIMS];
    hsize_t block[SW_MAX_DIMS];
    hsize_t halo[SW_MAX_DIMS];
    hsize_t length[SW_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++) {
        start[d] = (hsize_t)box->start[d];
        stride[d] = (hsize_t)box->stride[d];
        count[d] = (hsize_t)box->count[d];
        block[d] = (hsize_t)box->block[d];
        halo[d] = (hsize_t)box->halo[d];
        length[d] = (hsize_t)sw_box_length(box, d);
    }
    return H5Sselect_hyperslab(selection->file, H5S_SELECT_SET, start, stride, count, block) >=
               0 &&
           H5Sselect_hyperslab(selection->memory, H5S_SELECT_SET, halo, NULL, length, NULL) >= 0;
}

/* Selects a box twice; selects nothing if this rank has fewer boxes than others (NULL). */
static bool select_box(const struct sw_domain *domain, const struct sw_box *box,
                       struct selection *selection)
{
    hsize_t allocated[SW_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++)
        allocated[d] = box != NULL ? (hsize_t)box->allocated[d] : 1;
    selection->file = file_space(domain);
    selection->memory = H5Screate_simple(domain->n_dims, allocated, NULL);
    if (selection->file < 0 || selection->memory < 0)
        return false;
    if (box != NULL)
        return select_hyperslab(domain, box, selection);
    return H5Sselect_none(selection->file) >= 0 && H5Sselect_none(selection->memory) >= 0;
}

/* ---- division into calls ------------------------------------------------------------------- */

/* Iterates over the boxes of a domain, or with --transfer over pieces of its plain blocks. */
struct walk {
    const struct sw_domain *domain;
    int64_t most; /* elements of a piece; 0: whole boxes */
    size_t box;
    int64_t block;
    int64_t done; /* of the block */
};

static struct walk walk_of(const struct sw_session *session, const struct sw_domain *domain)
{
    return (struct walk){
        .domain = domain,
        .most = session->options->transfer_bytes / session->share->element_bytes,
    };
}

/* Cuts off the next piece of a block of one dimension. */
static void cut(struct walk *walk, struct sw_box *piece)
{
    int64_t left = piece->block[0] - walk->done;
    piece->start[0] += walk->done;
    piece->halo[0] += walk->done;
    piece->block[0] = left < walk->most ? left : walk->most;
    piece->stride[0] = piece->block[0];
    walk->done += piece->block[0];
    if (left > walk->most)
        return;
    walk->done = 0;
    walk->block++;
}

/* Gets the next piece; returns false at the end. */
static bool walk_on(struct walk *walk, struct sw_box *piece)
{
    for (; walk->box < walk->domain->n_boxes; walk->box++, walk->block = 0) {
        const struct sw_box *box = &walk->domain->boxes[walk->box];
        if (walk->most == 0) {
            *piece = *box;
            walk->box++;
            return true;
        }
        if (sw_box_blocks(walk->domain, box, walk->block, piece)) {
            cut(walk, piece);
            return true;
        }
    }
    return false;
}

/* Determines the number of collective calls, equal on all ranks. Collective, once. */
static int make_calls(struct sw_session *session)
{
    struct hdf5_state *state = session->state;
    const struct sw_share *share = session->share;
    struct sw_box piece;
    state->calls = calloc((size_t)share->n_domains, sizeof *state->calls);
    int enough = state->calls != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, session->comm);
    if (!enough)
        return sw_fail(session, "calloc", "out of memory");
    for (int s = 0; s < share->n_domains; s++) {
        struct walk walk = walk_of(session, &share->domains[s]);
        while (walk_on(&walk, &piece))
            state->calls[s]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, state->calls, share->n_domains, MPI_INT64_T, MPI_MAX,
                  session->comm);
    return 0;
}

/* Collective calls precede what may fail on some ranks. */
static int prepare(struct sw_session *session, int64_t step)
{
    const struct hdf5_state *state = session->state;
    if (session->options->transfer_bytes > 0 && state->calls == NULL)
        make_calls(session);
    return prepare_datasets(session, step);
}

/* Makes one H5Dwrite or H5Dread; `box` NULL: an empty one, for the sake of the other ranks. */
static void move_box(struct sw_session *session, int v, const struct sw_box *box, char *memory)
{
    const struct hdf5_state *state = session->state;
    const struct sw_domain *domain = session->share->variables[v].domain;
    struct selection selection = {ABSENT, ABSENT};
    if (box != NULL)
        memory += box->memory * session->share->element_bytes;
    if (!select_box(domain, box, &selection))
        fail_hdf5(session, "H5Sselect_hyperslab");
    else if (session->writing &&
             H5Dwrite(state->datasets[v], element_type(session), selection.memory, selection.file,
                      state->transfer, memory) < 0)
        fail_hdf5(session, "H5Dwrite");
    else if (!session->writing &&
             H5Dread(state->datasets[v], element_type(session), selection.memory, selection.file,
                     state->transfer, memory) < 0)
        fail_hdf5(session, "H5Dread");
    release(&selection);
}

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    (void)step;
    const struct hdf5_state *state = session->state;
    const bool counted = session->options->transfer_bytes > 0;
    const bool all = session->options->mode == SW_MODE_COLLECTIVE;
    for (int v = 0; v < session->share->n_variables; v++) {
        const struct sw_variable *variable = &session->share->variables[v];
        struct walk walk = walk_of(session, variable->domain);
        struct sw_box piece;
        int64_t calls = counted ? state->calls[variable->shape] : variable->domain->most_boxes;
        for (int64_t c = 0; c < calls; c++) {
            bool have = walk_on(&walk, &piece);
            if ((!have && !all) || (counted && !sw_wall_next(session)))
                break;
            move_box(session, v, have ? &piece : NULL, buffer + variable->memory);
            if (counted)
                sw_wall_moved(session, v, have ? sw_box_length(&piece, 0) : 0);
        }
        if (counted)
            sw_wall_section(session);
    }
    return session->failure->failed ? -1 : 0;
}

static int sync_file(struct sw_session *session)
{
    const struct hdf5_state *state = session->state;
    return H5Fflush(state->file, H5F_SCOPE_GLOBAL) < 0 ? fail_hdf5(session, "H5Fflush") : 0;
}

static int close_file(struct sw_session *session)
{
    struct hdf5_state *state = session->state;
    if (state == NULL)
        return 0;
    release_step(session);
    if (state->transfer >= 0)
        H5Pclose(state->transfer);
    if (H5Fclose(state->file) < 0)
        fail_hdf5(session, "H5Fclose");
    free(state->calls);
    free(state);
    session->state = NULL;
    return session->failure->failed ? -1 : 0;
}

static void library(char *text, size_t bytes)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(text, bytes, "HDF5 %u.%u.%u", major, minor, release);
}

#endif

const struct sw_backend sw_backend_hdf5 = {
    .name = "hdf5",
    .suffix = ".h5",
    .stores = true,
    .hints = true,
    .collective = true,
    .transfers = true,
    .most_transfer_dims = 1,
    .closes_after_failure = false,
#if defined(SW_HAVE_HDF5) && defined(H5_HAVE_PARALLEL)
    .summary = "parallel HDF5: a group a step, a dataset a variable",
    .open = open_file,
    .prepare = prepare,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
    .library = library,
#else
    .summary = "parallel HDF5 (not in this build)",
    .missing = "this kernel was built without parallel HDF5; install HDF5 for this MPI and run "
               "\"stripewise doctor build\"",
#endif
};
