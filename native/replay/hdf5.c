/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, groups, datasets, attributes, selections and data of HDF5; a buffer with holes (a halo)
 * has the same holes here.
 */
#include "replay.h"

#if defined(SW_HAVE_HDF5)

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

struct dataset {
    hid_t id;
    int64_t uses; /* 0: not open */
    hsize_t extents[SW_REPLAY_DIMS];
};

struct open_file {
    hid_t file;
    bool parallel;
    struct dataset *datasets; /* by number of the object */
    int64_t n_attributes;
};

static struct open_file *state_of(const struct sw_replay_now *now)
{
    return sw_replay_handle(now, SW_HDF5)->state;
}

/* ---- errors ------------------------------------------------------------------------------ */

static herr_t collect(unsigned n, const H5E_error2_t *error, void *data)
{
    char *text = data;
    size_t used = strlen(text);
    if (n < 4 && error->desc != NULL && used + 3 < 256)
        snprintf(text + used, 256 - used, "%s%s", used > 0 ? "; " : "", error->desc);
    return 0;
}

static void reason(char *text)
{
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, text);
    if (text[0] == '\0')
        snprintf(text, 256, "no reason given");
}

/* Returns the result, unless it is a failure, which ends the run. */
static hid_t check(const struct sw_replay_now *now, const char *call, hid_t result)
{
    char text[256] = "";
    if (result >= 0)
        return result;
    reason(text);
    sw_replay_die(now, call, "%s", text);
}

/* ---- files --------------------------------------------------------------------------------- */

static void set_property(hid_t list, const char *key, const char *value)
{
    unsigned long long one = 0, other = 0;
    int numbers = sscanf(value, "%llu,%llu", &one, &other);
    if (numbers < 1)
        return;
    if (strcmp(key, "meta_block_size") == 0)
        H5Pset_meta_block_size(list, (hsize_t)one);
    else if (strcmp(key, "small_data_block_size") == 0)
        H5Pset_small_data_block_size(list, (hsize_t)one);
    else if (strcmp(key, "sieve_buf_size") == 0)
        H5Pset_sieve_buf_size(list, (size_t)one);
    else if (strcmp(key, "alignment") == 0 && numbers == 2)
        H5Pset_alignment(list, (hsize_t)one, (hsize_t)other);
    else if (strcmp(key, "libver") == 0 && numbers == 2)
        H5Pset_libver_bounds(list, (H5F_libver_t)one, (H5F_libver_t)other);
#ifdef H5_HAVE_PARALLEL
    else if (strcmp(key, "coll_metadata_write") == 0)
        H5Pset_coll_metadata_write(list, one == 1);
    else if (strcmp(key, "all_coll_metadata_ops") == 0)
        H5Pset_all_coll_metadata_ops(list, one == 1);
#endif
}

static hid_t access_list(const struct sw_replay_run *run, const struct sw_replay_now *now)
{
    hid_t list = check(now, "H5Pcreate", H5Pcreate(H5P_FILE_ACCESS));
    for (int64_t i = 0; i < now->file->n_properties; i++)
        set_property(list, now->file->properties[2 * i], now->file->properties[2 * i + 1]);
    if (now->call->group < 0)
        return list; /* the program opened it without MPI-IO */
#ifdef H5_HAVE_PARALLEL
    MPI_Info info = sw_replay_info(now);
    check(now, "H5Pset_fapl_mpio", H5Pset_fapl_mpio(list, sw_replay_comm(run, now), info));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
#else
    (void)run;
    sw_replay_die(now, "H5Pset_fapl_mpio", "this HDF5 is not parallel");
#endif
    return list;
}

static void opened(struct sw_replay_run *run, const struct sw_replay_now *now, hid_t file)
{
    struct open_file *state = sw_replay_memory(sizeof *state);
    state->file = file;
    state->parallel = now->call->group >= 0;
    state->datasets =
        sw_replay_memory(((size_t)run->plan->n_objects + 1) * sizeof *state->datasets);
    sw_replay_push(now, SW_HDF5, state);
}

static void create_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = access_list(run, now);
    hid_t file = H5Fcreate(now->file->path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    opened(run, now, check(now, "H5Fcreate", file));
    H5Pclose(list);
}

static void open_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = access_list(run, now);
    bool writes = now->offset > 0 && (now->offset & SW_OPEN_WRITE) != 0;
    hid_t file = H5Fopen(now->file->path, writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, list);
    opened(run, now, check(now, "H5Fopen", file));
    H5Pclose(list);
}

static void close_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    for (int64_t i = 0; i < run->plan->n_objects; i++)
        if (state->datasets[i].uses > 0)
            H5Dclose(state->datasets[i].id); /* the program left that to the file's close */
    check(now, "H5Fclose", H5Fclose(state->file));
    free(state->datasets);
    free(state);
    sw_replay_pop(now, SW_HDF5);
}

static void flush_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    check(now, "H5Fflush", H5Fflush(state_of(now)->file, H5F_SCOPE_GLOBAL));
}

/* ---- datasets ------------------------------------------------------------------------------ */

/* Returns a type of the class and size, which the caller must close. */
static hid_t type_of(enum sw_replay_class type_class, int64_t bytes)
{
    static const int64_t sizes[] = {1, 2, 4, 8};
    const hid_t integers[] = {H5T_NATIVE_INT8, H5T_NATIVE_INT16, H5T_NATIVE_INT32,
                              H5T_NATIVE_INT64};
    if (type_class == SW_CLASS_FLOAT && bytes == 4)
        return H5Tcopy(H5T_NATIVE_FLOAT);
    if (type_class == SW_CLASS_FLOAT && bytes == 8)
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    for (size_t i = 0; type_class == SW_CLASS_INTEGER && i < 4; i++)
        if (sizes[i] == bytes)
            return H5Tcopy(integers[i]);
    if (type_class == SW_CLASS_STRING) {
        hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, (size_t)bytes);
        return text;
    }
    return H5Tcreate(H5T_OPAQUE, (size_t)bytes);
}

/* Returns a compound of the first members, in their order in the file or in the reverse one. */
static hid_t compound_of(const struct sw_replay_object *object, int64_t n_members, int64_t bytes,
                         bool reversed)
{
    hid_t compound = H5Tcreate(H5T_COMPOUND, (size_t)bytes);
    size_t place = 0;
    for (int64_t i = 0; i < n_members; i++) {
        int64_t member = reversed ? n_members - 1 - i : i;
        char name[32];
        hid_t type = H5Tcreate(H5T_OPAQUE, (size_t)object->members[member]);
        snprintf(name, sizeof name, "member-%lld", (long long)member);
        H5Tinsert(compound, name, place, type);
        place += (size_t)object->members[member];
        H5Tclose(type);
    }
    return compound;
}

static hid_t file_type(const struct sw_replay_object *object)
{
    if (object->n_members > 0)
        return compound_of(object, object->n_members, object->element_bytes, false);
    return type_of(object->type_class, object->element_bytes);
}

/* Returns a type of the same class and size to which values must be converted. */
static hid_t other_type(enum sw_replay_class type_class, int64_t bytes)
{
    if (type_class == SW_CLASS_INTEGER && bytes == 1)
        return H5Tcopy(H5T_NATIVE_UINT8);
    hid_t type = type_of(type_class, bytes);
    if (type_class == SW_CLASS_STRING)
        H5Tset_strpad(type, H5T_STR_SPACEPAD);
    else if (type_class == SW_CLASS_INTEGER || type_class == SW_CLASS_FLOAT)
        H5Tset_order(type, H5Tget_order(type) == H5T_ORDER_LE ? H5T_ORDER_BE : H5T_ORDER_LE);
    return type;
}

static hid_t creation_list(const struct sw_replay_object *object, const hsize_t *chunk,
                           bool filled)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool chunked = object->n_dims > 0;
    for (int d = 0; d < object->n_dims; d++)
        chunked = chunked && chunk[d] > 0;
    if (chunked)
        H5Pset_chunk(list, object->n_dims, chunk);
    else if (object->storage == SW_COMPACT)
        H5Pset_layout(list, H5D_COMPACT);
    if (filled) { /* its bytes are really allocated */
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC);
    }
    return list;
}

static hid_t make_dataset(hid_t file, const struct sw_replay_object *object, bool filled)
{
    hsize_t extents[SW_REPLAY_DIMS], maximum[SW_REPLAY_DIMS], chunk[SW_REPLAY_DIMS];
    for (int d = 0; d < object->n_dims; d++) {
        int64_t most = object->extents[object->n_dims + d];
        extents[d] = (hsize_t)object->extents[d];
        maximum[d] = most < 0 ? H5S_UNLIMITED : (hsize_t)most;
        chunk[d] = (hsize_t)object->extents[2 * object->n_dims + d];
    }
    hid_t space = object->n_dims > 0 ? H5Screate_simple(object->n_dims, extents, maximum)
                                     : H5Screate(H5S_SCALAR);
    hid_t type = file_type(object);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t creation = creation_list(object, chunk, filled);
    H5Pset_create_intermediate_group(links, 1);
    hid_t dataset = H5Dcreate2(file, object->name, type, space, links, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Pclose(links);
    H5Tclose(type);
    H5Sclose(space);
    return dataset;
}

/* NULL: the dataset is not in the trace. */
static struct dataset *dataset_of(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    if (now->object == NULL)
        return NULL;
    return &state->datasets[now->object - run->plan->objects];
}

static void used(struct dataset *dataset, hid_t id)
{
    hid_t space = H5Dget_space(id);
    H5Sget_simple_extent_dims(space, dataset->extents, NULL);
    H5Sclose(space);
    dataset->id = id;
    dataset->uses = 1;
}

static void open_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct dataset *dataset = dataset_of(run, now);
    if (dataset == NULL)
        return;
    if (dataset->uses > 0) {
        dataset->uses++;
        return;
    }
    hid_t id = H5Dopen2(state_of(now)->file, now->object->name, H5P_DEFAULT);
    used(dataset, check(now, "H5Dopen2", id));
}

static void create_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct dataset *dataset = dataset_of(run, now);
    if (dataset == NULL) {
        sw_replay_miss(run, now, "H5Dcreate2", "the trace does not tell the dataset");
        return;
    }
    bool filled = now->object->kind == 'f';
    hid_t id = make_dataset(state_of(now)->file, now->object, filled);
    used(dataset, check(now, "H5Dcreate2", id));
}

static void close_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (now->file == NULL || now->file->handle[SW_HDF5] == NULL)
        return; /* closed after its file */
    struct dataset *dataset = dataset_of(run, now);
    if (dataset != NULL && dataset->uses > 0 && --dataset->uses == 0)
        check(now, "H5Dclose", H5Dclose(dataset->id));
}

static void extend(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct dataset *dataset = dataset_of(run, now);
    if (dataset == NULL || now->shape == NULL)
        return;
    if (dataset->uses == 0)
        open_dataset(run, now);
    for (int d = 0; d < now->shape->n_dims; d++)
        if (now->shape->extents[d] > 0)
            dataset->extents[d] = (hsize_t)now->shape->extents[d];
    if (now->shape->n_dims > 0 && now->shape->extents[0] == 0 && now->offset >= 0)
        dataset->extents[0] = (hsize_t)now->offset; /* the dimension that is extended */
    check(now, "H5Dset_extent", H5Dset_extent(dataset->id, dataset->extents));
}

/* ---- data ---------------------------------------------------------------------------------- */

struct transfer {
    struct dataset *dataset;
    hid_t type;
    hid_t memory;
    hid_t space;
    hid_t list;
};

static void select_regular(hid_t space, const struct sw_replay_shape *shape, const hsize_t *start)
{
    hsize_t stride[SW_REPLAY_DIMS], count[SW_REPLAY_DIMS], block[SW_REPLAY_DIMS];
    for (int d = 0; d < shape->n_dims; d++) {
        stride[d] = (hsize_t)shape->numbers[d];
        count[d] = (hsize_t)shape->numbers[shape->n_dims + d];
        block[d] = (hsize_t)shape->numbers[2 * shape->n_dims + d];
    }
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
}

static void select_boxes(hid_t space, const struct sw_replay_shape *shape, const hsize_t *start)
{
    H5Sselect_none(space);
    for (int64_t b = 0; b < shape->n_boxes; b++) {
        const int64_t *first = shape->numbers + 2 * b * shape->n_dims;
        const int64_t *last = first + shape->n_dims;
        hsize_t from[SW_REPLAY_DIMS], count[SW_REPLAY_DIMS];
        for (int d = 0; d < shape->n_dims; d++) {
            from[d] = start[d] + (hsize_t)first[d];
            count[d] = (hsize_t)(last[d] - first[d] + 1);
        }
        H5Sselect_hyperslab(space, b == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, from, NULL, count,
                            NULL);
    }
}

/* The elements of the boxes, in C order, are the points. */
static void select_points(hid_t space, const struct sw_replay_shape *shape, const hsize_t *start)
{
    size_t n = (size_t)shape->n_dims, n_points = 0;
    size_t room = (size_t)shape->elements;
    hsize_t *points = sw_replay_memory((room * n + 1) * sizeof *points);
    for (int64_t b = 0; b < shape->n_boxes; b++) {
        const int64_t *first = shape->numbers + 2 * b * shape->n_dims;
        const int64_t *last = first + shape->n_dims;
        int64_t at[SW_REPLAY_DIMS];
        memcpy(at, first, n * sizeof *at);
        for (int d = 0; d >= 0 && n_points < room;) {
            for (size_t i = 0; i < n; i++)
                points[n_points * n + i] = start[i] + (hsize_t)at[i];
            n_points++;
            for (d = shape->n_dims - 1; d >= 0 && ++at[d] > last[d]; d--)
                at[d] = first[d];
        }
    }
    H5Sselect_elements(space, H5S_SELECT_SET, n_points, points);
    free(points);
}

/* Extends a dataset that the program has extended without a call in the trace. */
static void grow(const struct sw_replay_now *now, struct dataset *dataset)
{
    bool grows = false;
    for (int d = 0; d < now->shape->n_dims; d++)
        if ((hsize_t)now->shape->extents[d] > dataset->extents[d]) {
            dataset->extents[d] = (hsize_t)now->shape->extents[d];
            grows = true;
        }
    if (grows)
        check(now, "H5Dset_extent", H5Dset_extent(dataset->id, dataset->extents));
}

/* Returns the buffer's shape if it has holes; where they begin is unknown and irrelevant. */
static const struct sw_replay_shape *memory_shape(const struct sw_replay_run *run,
                                                  const struct sw_replay_now *now)
{
    const struct sw_replay_shape *shape = now->shape;
    if (shape == NULL || shape->memory < 0)
        return NULL;
    const struct sw_replay_shape *memory = &run->plan->shapes[shape->memory];
    return memory->kind == SW_REGULAR && memory->elements == shape->elements ? memory : NULL;
}

static hid_t memory_space(const struct sw_replay_shape *memory, int64_t n_elements)
{
    hsize_t elements = (hsize_t)(n_elements > 0 ? n_elements : 1);
    hsize_t extents[SW_REPLAY_DIMS];
    const hsize_t start[SW_REPLAY_DIMS] = {0};
    if (memory == NULL)
        return H5Screate_simple(1, &elements, NULL);
    for (int d = 0; d < memory->n_dims; d++)
        extents[d] = (hsize_t)memory->extents[d];
    hid_t space = H5Screate_simple(memory->n_dims, extents, NULL);
    select_regular(space, memory, start);
    return space;
}

static void choose(const struct sw_replay_run *run, const struct sw_replay_now *now,
                   struct transfer *transfer)
{
    const struct sw_replay_shape *shape = now->shape;
    const struct sw_replay_shape *memory = memory_shape(run, now);
    int64_t index[SW_REPLAY_DIMS];
    hsize_t start[SW_REPLAY_DIMS];
    transfer->space = H5S_ALL;
    transfer->memory = H5S_ALL;
    if (memory != NULL || (shape != NULL && shape->kind != SW_ALL))
        transfer->memory = memory_space(memory, shape->elements);
    if (shape == NULL || shape->kind == SW_ALL)
        return;
    transfer->space = H5Dget_space(transfer->dataset->id);
    sw_replay_unravel(now->offset > 0 ? now->offset : 0, shape->n_dims, shape->extents, index);
    for (int d = 0; d < shape->n_dims; d++)
        start[d] = (hsize_t)index[d];
    if (shape->kind == SW_REGULAR)
        select_regular(transfer->space, shape, start);
    else if (shape->kind == SW_BOXES)
        select_boxes(transfer->space, shape, start);
    else if (shape->kind == SW_POINTS)
        select_points(transfer->space, shape, start);
    if (shape->kind == SW_NONE || shape->elements == 0) {
        H5Sselect_none(transfer->space);
        H5Sselect_none(transfer->memory);
    }
}

static hid_t transfer_list(const struct sw_replay_now *now, bool parallel)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
#ifdef H5_HAVE_PARALLEL
    if (parallel && sw_replay_collective(now->call))
        check(now, "H5Pset_dxpl_mpio", H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE));
#else
    (void)now;
    (void)parallel;
#endif
    return list;
}

/* Returns the memory's type, of the size that the program moved for each element: with some of the
 * members, or converted, where the program's was. */
static hid_t memory_type(const struct sw_replay_now *now)
{
    const struct sw_replay_object *object = now->object;
    int64_t elements = now->shape != NULL ? now->shape->elements : 0;
    int64_t bytes = elements > 0 ? now->call->bytes / elements : object->element_bytes;
    bool converted = (now->call->flags & SW_FLAG_CONVERTED) != 0;
    bool sized = object->type_class != SW_CLASS_OTHER && object->type_class != SW_CLASS_COMPOUND;
    if (object->n_members > 0 && converted)
        return compound_of(object, object->n_members,
                           bytes > object->element_bytes ? bytes : object->element_bytes, true);
    if (object->n_members > 0 && bytes < object->element_bytes) {
        int64_t n_members = 0, room = bytes;
        while (n_members < object->n_members && object->members[n_members] <= room)
            room -= object->members[n_members++];
        return compound_of(object, n_members, bytes, false);
    }
    if (sized && bytes != object->element_bytes)
        return type_of(object->type_class, bytes);
    return converted && sized ? other_type(object->type_class, bytes) : file_type(object);
}

/* The selection may need more memory than the program's. */
static void make_room(struct sw_replay_run *run, struct transfer *transfer)
{
    hid_t space =
        transfer->space != H5S_ALL ? transfer->space : H5Dget_space(transfer->dataset->id);
    hssize_t points = transfer->memory != H5S_ALL ? H5Sget_simple_extent_npoints(transfer->memory)
                                                  : H5Sget_select_npoints(space);
    hssize_t selected = H5Sget_select_npoints(space);
    run->moved = selected > 0 ? (int64_t)((size_t)selected * H5Tget_size(transfer->type)) : 0;
    if (points > 0)
        sw_replay_room(run, (size_t)points * H5Tget_size(transfer->type));
    if (space != transfer->space)
        H5Sclose(space);
}

static bool begin(struct sw_replay_run *run, const struct sw_replay_now *now,
                  struct transfer *transfer)
{
    transfer->dataset = dataset_of(run, now);
    if (transfer->dataset == NULL) {
        sw_replay_miss(run, now, now->verb->name, "the trace does not tell the dataset");
        return false;
    }
    if (transfer->dataset->uses == 0)
        open_dataset(run, now);
    if (now->shape != NULL && now->verb->phase == SW_PHASE_WRITE)
        grow(now, transfer->dataset);
    choose(run, now, transfer);
    transfer->type = memory_type(now);
    make_room(run, transfer);
    transfer->list = transfer_list(now, state_of(now)->parallel);
    return true;
}

static void end(struct transfer *transfer)
{
    H5Pclose(transfer->list);
    H5Tclose(transfer->type);
    if (transfer->space != H5S_ALL)
        H5Sclose(transfer->space);
    if (transfer->memory != H5S_ALL)
        H5Sclose(transfer->memory);
}

static void move(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct transfer t;
    if (!begin(run, now, &t))
        return;
    if (now->verb->phase == SW_PHASE_WRITE)
        check(now, "H5Dwrite",
              H5Dwrite(t.dataset->id, t.type, t.memory, t.space, t.list, run->noise));
    else
        check(now, "H5Dread",
              H5Dread(t.dataset->id, t.type, t.memory, t.space, t.list, run->sink));
    end(&t);
}

/* ---- groups and attributes --------------------------------------------------------------------
 */

static void create_group(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const char *name = now->object != NULL ? now->object->name : "/group";
    hid_t group = H5Gcreate2(state->file, name, links, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        sw_replay_miss(run, now, "H5Gcreate2", "the group cannot be created");
    else
        H5Gclose(group);
    H5Pclose(links);
}

/* Returns the dataset if it is known and open, otherwise the file. */
static hid_t owner(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct dataset *dataset = dataset_of(run, now);
    return dataset != NULL && dataset->uses > 0 ? dataset->id : state_of(now)->file;
}

/* A trace has no names and types of attributes: bytes are written, under numbered names. */
static void write_attribute(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    char name[64];
    hsize_t bytes = now->call->bytes > 0 ? (hsize_t)now->call->bytes : 8;
    char eight[8] = {0};
    snprintf(name, sizeof name, "attribute-%lld", (long long)state->n_attributes++);
    hid_t space = H5Screate_simple(1, &bytes, NULL);
    hid_t attribute =
        H5Acreate2(owner(run, now), name, H5T_NATIVE_INT8, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, H5T_NATIVE_INT8, bytes > 8 ? run->noise : eight) < 0)
        sw_replay_miss(run, now, "H5Awrite", "the attribute cannot be written");
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
}

/* Reads one that the replay itself has written; others do not exist. */
static void read_attribute(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    char name[64];
    char eight[8];
    snprintf(name, sizeof name, "attribute-%lld", (long long)state->n_attributes - 1);
    hid_t on = owner(run, now);
    if (state->n_attributes == 0 || H5Aexists(on, name) <= 0)
        return;
    hid_t attribute = H5Aopen(on, name, H5P_DEFAULT);
    if (attribute >= 0 && H5Aget_storage_size(attribute) == 8)
        H5Aread(attribute, H5T_NATIVE_INT8, eight);
    if (attribute >= 0)
        H5Aclose(attribute);
}

const struct sw_replay_verb sw_replay_hdf5[] = {
    {"hdf5.fcreate", SW_PHASE_OPEN, create_file},
    {"hdf5.fopen", SW_PHASE_OPEN, open_file},
    {"hdf5.fclose", SW_PHASE_CLOSE, close_file},
    {"hdf5.fflush", SW_PHASE_SYNC, flush_file},
    {"hdf5.dcreate", SW_PHASE_META, create_dataset},
    {"hdf5.dopen", SW_PHASE_META, open_dataset},
    {"hdf5.dclose", SW_PHASE_META, close_dataset},
    {"hdf5.dset_extent", SW_PHASE_META, extend},
    {"hdf5.gcreate", SW_PHASE_META, create_group},
    {"hdf5.awrite", SW_PHASE_META, write_attribute},
    {"hdf5.aread", SW_PHASE_META, read_attribute},
    {"hdf5.read", SW_PHASE_READ, move},
    {"hdf5.write", SW_PHASE_WRITE, move},
    {NULL, 0, NULL},
};

/* ---- inputs -------------------------------------------------------------------------------- */

bool sw_replay_make_hdf5(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                         char *trouble, size_t room)
{
    const char *path = plan->files[input->file].path;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0;
    for (int64_t i = 0; i < input->n_objects && good; i++) {
        hid_t dataset = make_dataset(file, &plan->objects[input->objects[i]], true);
        good = dataset >= 0 && H5Dclose(dataset) >= 0;
    }
    if (file >= 0)
        good = H5Fclose(file) >= 0 && good;
    if (!good)
        snprintf(trouble, room, "cannot make the input %s with HDF5", path);
    return good;
}

#else

const struct sw_replay_verb sw_replay_hdf5[] = {{NULL, 0, NULL}};

bool sw_replay_make_hdf5(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                         char *trouble, size_t room)
{
    snprintf(trouble, room, "cannot make %s: built without HDF5", plan->files[input->file].path);
    return false;
}

#endif
