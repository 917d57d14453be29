/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Files, groups, datasets and attributes of HDF5. */
#include "hdf5_state.h"

#if defined(SW_HAVE_HDF5)

#include <stdlib.h>
#include <string.h>

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

hid_t sw_hdf5_check(const struct sw_replay_now *now, const char *call, hid_t result)
{
    char text[256] = "";
    if (result >= 0)
        return result;
    reason(text);
    sw_replay_die(now, call, "%s", text);
}

/* ---- files --------------------------------------------------------------------------------- */

static hid_t access_list(const struct sw_replay_run *run, const struct sw_replay_now *now)
{
    hid_t list = sw_hdf5_check(now, "H5Pcreate", H5Pcreate(H5P_FILE_ACCESS));
    if (now->call->group < 0)
        return list; /* the program opened it without MPI-IO */
#ifdef H5_HAVE_PARALLEL
    MPI_Info info = sw_replay_info(now);
    sw_hdf5_check(now, "H5Pset_fapl_mpio", H5Pset_fapl_mpio(list, sw_replay_comm(run, now), info));
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
    struct sw_hdf5_file *state = sw_replay_memory(sizeof *state);
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
    opened(run, now, sw_hdf5_check(now, "H5Fcreate", file));
    H5Pclose(list);
}

static void open_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = access_list(run, now);
    bool writes = now->offset > 0 && (now->offset & SW_OPEN_WRITE) != 0;
    hid_t file = H5Fopen(now->file->path, writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, list);
    opened(run, now, sw_hdf5_check(now, "H5Fopen", file));
    H5Pclose(list);
}

static void close_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_file *state = sw_hdf5_state(now);
    for (int64_t i = 0; i < run->plan->n_objects; i++)
        if (state->datasets[i].uses > 0)
            H5Dclose(state->datasets[i].id); /* the program let the file's close do it */
    sw_hdf5_check(now, "H5Fclose", H5Fclose(state->file));
    free(state->datasets);
    free(state);
    sw_replay_pop(now, SW_HDF5);
}

static void flush_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_hdf5_check(now, "H5Fflush", H5Fflush(sw_hdf5_state(now)->file, H5F_SCOPE_GLOBAL));
}

/* ---- datasets ------------------------------------------------------------------------------ */

hid_t sw_hdf5_type(enum sw_replay_class type_class, int64_t bytes)
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
    if (filled) { /* its bytes are really there */
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC);
    }
    return list;
}

hid_t sw_hdf5_create_dataset(hid_t file, const struct sw_replay_object *object, bool filled)
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
    hid_t type = sw_hdf5_type(object->type_class, object->element_bytes);
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

struct sw_hdf5_dataset *sw_hdf5_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_file *state = sw_hdf5_state(now);
    if (now->object == NULL)
        return NULL;
    return &state->datasets[now->object - run->plan->objects];
}

static void used(struct sw_hdf5_dataset *dataset, hid_t id)
{
    hid_t space = H5Dget_space(id);
    H5Sget_simple_extent_dims(space, dataset->extents, NULL);
    H5Sclose(space);
    dataset->id = id;
    dataset->uses = 1;
}

void sw_hdf5_open_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_dataset *dataset = sw_hdf5_dataset(run, now);
    if (dataset == NULL)
        return;
    if (dataset->uses > 0) {
        dataset->uses++;
        return;
    }
    hid_t id = H5Dopen2(sw_hdf5_state(now)->file, now->object->name, H5P_DEFAULT);
    used(dataset, sw_hdf5_check(now, "H5Dopen2", id));
}

static void create_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_dataset *dataset = sw_hdf5_dataset(run, now);
    if (dataset == NULL) {
        sw_replay_miss(run, now, "H5Dcreate2", "the trace does not tell the dataset");
        return;
    }
    bool filled = now->object->kind == 'f';
    hid_t id = sw_hdf5_create_dataset(sw_hdf5_state(now)->file, now->object, filled);
    used(dataset, sw_hdf5_check(now, "H5Dcreate2", id));
}

static void close_dataset(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (now->file == NULL || now->file->handle[SW_HDF5] == NULL)
        return; /* closed after its file */
    struct sw_hdf5_dataset *dataset = sw_hdf5_dataset(run, now);
    if (dataset != NULL && dataset->uses > 0 && --dataset->uses == 0)
        sw_hdf5_check(now, "H5Dclose", H5Dclose(dataset->id));
}

static void extend(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_dataset *dataset = sw_hdf5_dataset(run, now);
    if (dataset == NULL || now->shape == NULL)
        return;
    if (dataset->uses == 0)
        sw_hdf5_open_dataset(run, now);
    for (int d = 0; d < now->shape->n_dims; d++)
        if (now->shape->extents[d] > 0)
            dataset->extents[d] = (hsize_t)now->shape->extents[d];
    if (now->shape->n_dims > 0 && now->shape->extents[0] == 0 && now->offset >= 0)
        dataset->extents[0] = (hsize_t)now->offset; /* the dimension that grows */
    sw_hdf5_check(now, "H5Dset_extent", H5Dset_extent(dataset->id, dataset->extents));
}

/* ---- groups and attributes --------------------------------------------------------------------
 */

static void create_group(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_file *state = sw_hdf5_state(now);
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

/* Of the dataset if it is known and open, otherwise of the file. */
static hid_t owner(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_dataset *dataset = sw_hdf5_dataset(run, now);
    return dataset != NULL && dataset->uses > 0 ? dataset->id : sw_hdf5_state(now)->file;
}

/* Names and types of attributes are not in a trace: bytes, under a name that counts up. */
static void write_attribute(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_file *state = sw_hdf5_state(now);
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

/* One that the replay wrote itself; others are not there. */
static void read_attribute(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_hdf5_file *state = sw_hdf5_state(now);
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
    {"hdf5.dopen", SW_PHASE_META, sw_hdf5_open_dataset},
    {"hdf5.dclose", SW_PHASE_META, close_dataset},
    {"hdf5.dset_extent", SW_PHASE_META, extend},
    {"hdf5.gcreate", SW_PHASE_META, create_group},
    {"hdf5.awrite", SW_PHASE_META, write_attribute},
    {"hdf5.aread", SW_PHASE_META, read_attribute},
    {"hdf5.read", SW_PHASE_READ, sw_hdf5_read},
    {"hdf5.write", SW_PHASE_WRITE, sw_hdf5_write},
    {NULL, 0, NULL},
};

#else

const struct sw_replay_verb sw_replay_hdf5[] = {{NULL, 0, NULL}};

#endif
