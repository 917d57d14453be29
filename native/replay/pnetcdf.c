/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * PnetCDF calls. A trace names variables where they are used; all variables of a file are defined
 * before its first ncmpi_enddef.
 */
#include "replay.h"

#if defined(SW_HAVE_PNETCDF)

#include <pnetcdf.h>
#include <stdlib.h>
#include <string.h>

struct open_file {
    int id;
    bool defining;
    int *variables; /* by number of the object; -1: unknown yet */
};

static void check(const struct sw_replay_now *now, const char *call, int code)
{
    if (code != NC_NOERR)
        sw_replay_die(now, call, "%s", ncmpi_strerror(code));
}

static struct open_file *state_of(const struct sw_replay_now *now)
{
    return sw_replay_handle(now, SW_PNETCDF)->state;
}

/* ---- variables ----------------------------------------------------------------------------- */

static nc_type type_of(const struct sw_replay_object *object)
{
    int64_t bytes = object->element_bytes;
    if (object->type_class == SW_CLASS_STRING)
        return NC_CHAR;
    if (object->type_class == SW_CLASS_FLOAT)
        return bytes == 4 ? NC_FLOAT : NC_DOUBLE;
    return bytes == 8 ? NC_INT64 : bytes == 4 ? NC_INT : bytes == 2 ? NC_SHORT : NC_BYTE;
}

static int dimension(int id, int64_t length, int *found)
{
    char name[64];
    if (length < 0)
        snprintf(name, sizeof name, "record");
    else
        snprintf(name, sizeof name, "length_%lld", (long long)length);
    if (ncmpi_inq_dimid(id, name, found) == NC_NOERR)
        return NC_NOERR;
    return ncmpi_def_dim(id, name, length < 0 ? NC_UNLIMITED : length, found);
}

static int define(int id, const struct sw_replay_object *object, int *variable)
{
    int dims[SW_REPLAY_DIMS];
    for (int d = 0; d < object->n_dims; d++) {
        bool record = d == 0 && object->extents[object->n_dims] < 0;
        int code = dimension(id, record ? -1 : object->extents[d], &dims[d]);
        if (code != NC_NOERR)
            return code;
    }
    const char *name = object->name[0] == '/' ? object->name + 1 : object->name;
    return ncmpi_def_var(id, name, type_of(object), object->n_dims, dims, variable);
}

static int variable_of(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    int *variable = &state->variables[now->object - run->plan->objects];
    const char *name = now->object->name[0] == '/' ? now->object->name + 1 : now->object->name;
    if (*variable < 0)
        check(now, "ncmpi_inq_varid", ncmpi_inq_varid(state->id, name, variable));
    return *variable;
}

/* ---- files --------------------------------------------------------------------------------- */

static void opened(struct sw_replay_run *run, const struct sw_replay_now *now, int id,
                   bool defining)
{
    struct open_file *state = sw_replay_memory(sizeof *state);
    size_t n = (size_t)run->plan->n_objects;
    state->id = id;
    state->defining = defining;
    state->variables = sw_replay_memory((n + 1) * sizeof *state->variables);
    for (size_t i = 0; i < n; i++)
        state->variables[i] = -1;
    sw_replay_push(now, SW_PNETCDF, state);
}

static void create_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    int id = 0;
    MPI_Info info = sw_replay_info(now);
    check(now, "ncmpi_create",
          ncmpi_create(sw_replay_comm(run, now), now->file->path, NC_CLOBBER | NC_64BIT_DATA, info,
                       &id));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    opened(run, now, id, true);
}

static void open_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    int id = 0;
    MPI_Info info = sw_replay_info(now);
    bool writes = now->offset > 0 && (now->offset & SW_OPEN_WRITE) != 0;
    check(now, "ncmpi_open",
          ncmpi_open(sw_replay_comm(run, now), now->file->path, writes ? NC_WRITE : NC_NOWRITE,
                     info, &id));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    opened(run, now, id, false);
}

static void close_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    (void)run;
    check(now, "ncmpi_close", ncmpi_close(state->id));
    free(state->variables);
    free(state);
    sw_replay_pop(now, SW_PNETCDF);
}

static void end_definitions(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    for (int64_t i = 0; i < now->file->n_variables && state->defining; i++) {
        int64_t number = now->file->variables[i];
        const struct sw_replay_object *object = &run->plan->objects[number];
        const char *name = object->name[0] == '/' ? object->name + 1 : object->name;
        if (ncmpi_inq_varid(state->id, name, &state->variables[number]) != NC_NOERR)
            check(now, "ncmpi_def_var", define(state->id, object, &state->variables[number]));
    }
    check(now, "ncmpi_enddef", ncmpi_enddef(state->id));
    state->defining = false;
}

static void define_again(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    check(now, "ncmpi_redef", ncmpi_redef(state_of(now)->id));
    state_of(now)->defining = true;
}

static void delete_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (ncmpi_delete(now->file->path, MPI_INFO_NULL) != NC_NOERR)
        sw_replay_miss(run, now, "ncmpi_delete", "the file is not there");
}

#define SIMPLE(function, name)                                                                    \
    static void function(struct sw_replay_run *run, const struct sw_replay_now *now)              \
    {                                                                                             \
        (void)run;                                                                                \
        check(now, #name, name(state_of(now)->id));                                               \
    }
SIMPLE(begin_indep, ncmpi_begin_indep_data)
SIMPLE(end_indep, ncmpi_end_indep_data)
SIMPLE(sync_file, ncmpi_sync)
SIMPLE(flush_file, ncmpi_flush)
SIMPLE(sync_numrecs, ncmpi_sync_numrecs)

/* ---- data ------------------------------------------------------------------------------------
 */

struct slab {
    int n_dims;
    MPI_Offset start[SW_REPLAY_DIMS], count[SW_REPLAY_DIMS], stride[SW_REPLAY_DIMS];
    bool strided;
};

/* Returns the extent of a dimension; for the record dimension, derived from the call's bytes. */
static int64_t whole_extent(const struct sw_replay_now *now, int d)
{
    const struct sw_replay_object *object = now->object;
    int64_t row = object->element_bytes;
    if (object->extents[d] > 0)
        return object->extents[d];
    for (int i = 0; i < object->n_dims; i++)
        row *= i != d && object->extents[i] > 0 ? object->extents[i] : 1;
    return now->call->bytes / row;
}

/* Makes one hyperslab; returns false for blocks with gaps in between, which PnetCDF cannot move at
 * once. */
static bool slab_of(const struct sw_replay_now *now, struct slab *slab)
{
    const struct sw_replay_shape *shape = now->shape;
    int64_t start[SW_REPLAY_DIMS] = {0};
    bool whole = shape == NULL || shape->kind == SW_ALL;
    *slab = (struct slab){.n_dims = now->object->n_dims};
    if (shape != NULL && shape->n_dims == slab->n_dims)
        sw_replay_unravel(now->offset > 0 ? now->offset : 0, shape->n_dims, shape->extents, start);
    for (int d = 0; d < slab->n_dims; d++) {
        int64_t stride = whole || shape->kind != SW_REGULAR ? 1 : shape->numbers[d];
        int64_t count = whole ? whole_extent(now, d) : 0;
        int64_t block = 1;
        if (!whole && shape->kind == SW_REGULAR) {
            count = shape->numbers[slab->n_dims + d];
            block = shape->numbers[2 * slab->n_dims + d];
        }
        if (block != 1 && count > 1 && stride != block)
            return false;
        if (block != 1) {
            count *= block;
            stride = 1;
        }
        slab->start[d] = start[d];
        slab->count[d] = count;
        slab->stride[d] = count > 1 ? stride : 1;
        slab->strided = slab->strided || slab->stride[d] != 1;
    }
    return true;
}

static MPI_Datatype memory_type(const struct sw_replay_now *now, MPI_Offset *count)
{
    const struct sw_replay_object *object = now->object;
    int64_t elements = now->shape != NULL && now->shape->elements > 0
                           ? now->shape->elements
                           : now->call->bytes / object->element_bytes;
    int64_t bytes = elements > 0 ? now->call->bytes / elements : object->element_bytes;
    *count = elements;
    if (object->type_class == SW_CLASS_STRING)
        return MPI_CHAR;
    if (object->type_class == SW_CLASS_FLOAT || (bytes == 8 && object->element_bytes != 8))
        return bytes == 4 ? MPI_FLOAT : MPI_DOUBLE;
    return bytes == 8   ? MPI_LONG_LONG
           : bytes == 4 ? MPI_INT
           : bytes == 2 ? MPI_SHORT
                        : MPI_SIGNED_CHAR;
}

static bool ready(struct sw_replay_run *run, const struct sw_replay_now *now, struct slab *slab)
{
    if (now->object == NULL)
        sw_replay_die(now, now->verb->name, "the trace does not tell the variable");
    if (slab_of(now, slab))
        return true;
    (void)run;
    sw_replay_die(now, now->verb->name, "a selection of blocks with gaps is not replayed");
}

/* Defines `get_vara`, `put_vars_all` and so on, with a memory type. */
#define MOVE(direction, buffer)                                                                   \
    static void direction(struct sw_replay_run *run, const struct sw_replay_now *now)             \
    {                                                                                             \
        struct slab slab;                                                                         \
        MPI_Offset n = 0;                                                                         \
        ready(run, now, &slab);                                                                   \
        MPI_Datatype type = memory_type(now, &n);                                                 \
        int id = state_of(now)->id;                                                               \
        int variable = variable_of(run, now);                                                     \
        int code;                                                                                 \
        if (sw_replay_collective(now->call))                                                      \
            code = slab.strided                                                                   \
                       ? ncmpi_##direction##_vars_all(id, variable, slab.start, slab.count,       \
                                                      slab.stride, run->buffer, n, type)          \
                       : ncmpi_##direction##_vara_all(id, variable, slab.start, slab.count,       \
                                                      run->buffer, n, type);                      \
        else                                                                                      \
            code = slab.strided ? ncmpi_##direction##_vars(id, variable, slab.start, slab.count,  \
                                                           slab.stride, run->buffer, n, type)     \
                                : ncmpi_##direction##_vara(id, variable, slab.start, slab.count,  \
                                                           run->buffer, n, type);                 \
        check(now, "ncmpi_" #direction, code);                                                    \
    }
MOVE(put, noise)
MOVE(get, sink)

#define POST(direction, buffer)                                                                   \
    static void direction(struct sw_replay_run *run, const struct sw_replay_now *now)             \
    {                                                                                             \
        struct slab slab;                                                                         \
        MPI_Offset n = 0;                                                                         \
        int request = 0;                                                                          \
        ready(run, now, &slab);                                                                   \
        MPI_Datatype type = memory_type(now, &n);                                                 \
        check(now, "ncmpi_" #direction "_vars",                                                   \
              ncmpi_##direction##_vars(state_of(now)->id, variable_of(run, now), slab.start,      \
                                       slab.count, slab.strided ? slab.stride : NULL,             \
                                       run->buffer, n, type, &request));                          \
    }
POST(iput, noise)
POST(iget, sink)

static void wait_alone(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    check(now, "ncmpi_wait", ncmpi_wait(state_of(now)->id, NC_REQ_ALL, NULL, NULL));
}

static void wait_all(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    check(now, "ncmpi_wait_all", ncmpi_wait_all(state_of(now)->id, NC_REQ_ALL, NULL, NULL));
}

const struct sw_replay_verb sw_replay_pnetcdf[] = {
    {"pnetcdf.create", SW_PHASE_OPEN, create_file},
    {"pnetcdf.open", SW_PHASE_OPEN, open_file},
    {"pnetcdf.close", SW_PHASE_CLOSE, close_file},
    {"pnetcdf.enddef", SW_PHASE_META, end_definitions},
    {"pnetcdf.redef", SW_PHASE_META, define_again},
    {"pnetcdf.delete", SW_PHASE_META, delete_file},
    {"pnetcdf.begin_indep", SW_PHASE_META, begin_indep},
    {"pnetcdf.end_indep", SW_PHASE_META, end_indep},
    {"pnetcdf.sync", SW_PHASE_SYNC, sync_file},
    {"pnetcdf.flush", SW_PHASE_SYNC, flush_file},
    {"pnetcdf.sync_numrecs", SW_PHASE_SYNC, sync_numrecs},
    {"pnetcdf.put", SW_PHASE_WRITE, put},
    {"pnetcdf.get", SW_PHASE_READ, get},
    {"pnetcdf.iput", SW_PHASE_WRITE, iput},
    {"pnetcdf.iget", SW_PHASE_READ, iget},
    {"pnetcdf.wait", SW_PHASE_WRITE, wait_alone},
    {"pnetcdf.wait_all", SW_PHASE_WRITE, wait_all},
    {NULL, 0, NULL},
};

/* ---- inputs ------------------------------------------------------------------------------------
 */

/* Writes element by element along the first dimension, so that its bytes are really allocated. */
static int fill(int id, const struct sw_replay_object *object, int variable)
{
    MPI_Offset start[SW_REPLAY_DIMS] = {0}, count[SW_REPLAY_DIMS];
    int64_t elements = 1;
    int code = NC_NOERR;
    for (int d = 1; d < object->n_dims; d++) {
        count[d] = object->extents[d];
        elements *= object->extents[d];
    }
    count[0] = 1;
    double *zeros = sw_replay_memory((size_t)elements * sizeof *zeros);
    bool text = object->type_class == SW_CLASS_STRING;
    int64_t n = object->n_dims > 0 ? object->extents[0] : 1;
    for (int64_t i = 0; i < n && code == NC_NOERR; i++) {
        start[0] = i;
        code = ncmpi_put_vara_all(id, variable, start, count, zeros, elements,
                                  text ? MPI_CHAR : MPI_DOUBLE);
    }
    free(zeros);
    return code;
}

bool sw_replay_make_pnetcdf(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                            char *trouble, size_t room)
{
    const char *path = plan->files[input->file].path;
    int *variables = sw_replay_memory(((size_t)input->n_objects + 1) * sizeof *variables);
    int id = 0;
    int code = ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id);
    bool opened = code == NC_NOERR;
    for (int64_t i = 0; i < input->n_objects && code == NC_NOERR; i++)
        code = define(id, &plan->objects[input->objects[i]], &variables[i]);
    if (code == NC_NOERR)
        code = ncmpi_enddef(id);
    for (int64_t i = 0; i < input->n_objects && code == NC_NOERR; i++)
        code = fill(id, &plan->objects[input->objects[i]], variables[i]);
    if (opened) {
        int closed = ncmpi_close(id);
        code = code == NC_NOERR ? closed : code;
    }
    free(variables);
    if (code != NC_NOERR)
        snprintf(trouble, room, "cannot make the input %s: %s", path, ncmpi_strerror(code));
    return code == NC_NOERR;
}

#else

const struct sw_replay_verb sw_replay_pnetcdf[] = {{NULL, 0, NULL}};

bool sw_replay_make_pnetcdf(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                            char *trouble, size_t room)
{
    snprintf(trouble, room, "cannot make %s: built without PnetCDF",
             plan->files[input->file].path);
    return false;
}

#endif
