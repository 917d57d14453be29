/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef STRIPEWISE_REPLAY_HDF5_STATE_H
#define STRIPEWISE_REPLAY_HDF5_STATE_H

#include "replay.h"

#ifdef SW_HAVE_HDF5
#include <hdf5.h>

struct sw_hdf5_dataset {
    hid_t id;
    int64_t uses; /* 0: not open */
    hsize_t extents[SW_REPLAY_DIMS];
};

struct sw_hdf5_file {
    hid_t file;
    bool parallel;
    struct sw_hdf5_dataset *datasets; /* by number of the object */
    int64_t n_attributes;
};

static inline struct sw_hdf5_file *sw_hdf5_state(const struct sw_replay_now *now)
{
    return sw_replay_handle(now, SW_HDF5)->state;
}

/* The result, unless it is a failure: then the run ends. */
hid_t sw_hdf5_check(const struct sw_replay_now *now, const char *call, hid_t result);
/* A type of the class and size, to be closed. */
hid_t sw_hdf5_type(enum sw_replay_class type_class, int64_t bytes);
hid_t sw_hdf5_create_dataset(hid_t file, const struct sw_replay_object *object, bool filled);
/* NULL: the trace does not tell the dataset. */
struct sw_hdf5_dataset *sw_hdf5_dataset(struct sw_replay_run *run,
                                        const struct sw_replay_now *now);
void sw_hdf5_open_dataset(struct sw_replay_run *run, const struct sw_replay_now *now);
void sw_hdf5_read(struct sw_replay_run *run, const struct sw_replay_now *now);
void sw_hdf5_write(struct sw_replay_run *run, const struct sw_replay_now *now);
#endif

#endif
