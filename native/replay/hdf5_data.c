/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Selections and data of HDF5; a buffer with holes (a halo) has them here too. */
#include "hdf5_state.h"

#if defined(SW_HAVE_HDF5)

#include <stdlib.h>

struct transfer {
    struct sw_hdf5_dataset *dataset;
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

static void select_points(hid_t space, const struct sw_replay_shape *shape, const hsize_t *start)
{
    size_t n = (size_t)shape->n_boxes;
    hsize_t *points = sw_replay_memory((n * (size_t)shape->n_dims + 1) * sizeof *points);
    for (size_t p = 0; p < n; p++)
        for (int d = 0; d < shape->n_dims; d++)
            points[p * (size_t)shape->n_dims + (size_t)d] =
                start[d] + (hsize_t)shape->numbers[2 * p * (size_t)shape->n_dims + (size_t)d];
    H5Sselect_elements(space, H5S_SELECT_SET, n, points);
    free(points);
}

/* The program has extended the dataset without a call that the trace knows. */
static void grow(const struct sw_replay_now *now, struct sw_hdf5_dataset *dataset)
{
    bool grows = false;
    for (int d = 0; d < now->shape->n_dims; d++)
        if ((hsize_t)now->shape->extents[d] > dataset->extents[d]) {
            dataset->extents[d] = (hsize_t)now->shape->extents[d];
            grows = true;
        }
    if (grows)
        sw_hdf5_check(now, "H5Dset_extent", H5Dset_extent(dataset->id, dataset->extents));
}

/* The buffer's shape where it has holes; where they begin is not told, and of no matter. */
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
        sw_hdf5_check(now, "H5Pset_dxpl_mpio", H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE));
#else
    (void)now;
    (void)parallel;
#endif
    return list;
}

/* The memory's type: of the size that the program moved for each element. */
static hid_t memory_type(const struct sw_replay_now *now)
{
    const struct sw_replay_object *object = now->object;
    int64_t elements = now->shape != NULL ? now->shape->elements : 0;
    int64_t bytes = elements > 0 ? now->call->bytes / elements : object->element_bytes;
    bool converted = bytes != object->element_bytes;
    bool number = object->type_class == SW_CLASS_INTEGER || object->type_class == SW_CLASS_FLOAT;
    return sw_hdf5_type(object->type_class, converted && number ? bytes : object->element_bytes);
}

/* What the selection takes in memory may be more than the program's: a compound of which it moved
 * some members is opaque here. */
static void make_room(struct sw_replay_run *run, struct transfer *transfer)
{
    hid_t space =
        transfer->space != H5S_ALL ? transfer->space : H5Dget_space(transfer->dataset->id);
    hssize_t points = transfer->memory != H5S_ALL ? H5Sget_simple_extent_npoints(transfer->memory)
                                                  : H5Sget_select_npoints(space);
    if (points > 0)
        sw_replay_room(run, (size_t)points * H5Tget_size(transfer->type));
    if (space != transfer->space)
        H5Sclose(space);
}

static bool begin(struct sw_replay_run *run, const struct sw_replay_now *now,
                  struct transfer *transfer)
{
    transfer->dataset = sw_hdf5_dataset(run, now);
    if (transfer->dataset == NULL) {
        sw_replay_miss(run, now, now->verb->name, "the trace does not tell the dataset");
        return false;
    }
    if (transfer->dataset->uses == 0)
        sw_hdf5_open_dataset(run, now);
    if (now->shape != NULL && now->verb->phase == SW_PHASE_WRITE)
        grow(now, transfer->dataset);
    choose(run, now, transfer);
    transfer->type = memory_type(now);
    make_room(run, transfer);
    transfer->list = transfer_list(now, sw_hdf5_state(now)->parallel);
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

void sw_hdf5_write(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct transfer transfer;
    if (!begin(run, now, &transfer))
        return;
    sw_hdf5_check(now, "H5Dwrite",
                  H5Dwrite(transfer.dataset->id, transfer.type, transfer.memory, transfer.space,
                           transfer.list, run->noise));
    end(&transfer);
}

void sw_hdf5_read(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct transfer transfer;
    if (!begin(run, now, &transfer))
        return;
    sw_hdf5_check(now, "H5Dread",
                  H5Dread(transfer.dataset->id, transfer.type, transfer.memory, transfer.space,
                          transfer.list, run->sink));
    end(&transfer);
}

#endif
