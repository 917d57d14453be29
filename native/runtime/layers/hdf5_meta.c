/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Groups, attributes, links and extents of HDF5: the cost of a program's metadata. */
#include "layers/hdf5.h"

#define GROUP(type, name, parameters, arguments)                                                  \
    SW_H5_META(type, name, SW_OP_META, 0, sw_h5_counted_file(h5, location), parameters, arguments)
#define ATTRIBUTE(type, name, parameters, arguments)                                              \
    SW_H5_META(type, name, SW_OP_META, SW_EVENT_ATTRIBUTE, sw_h5_counted_file(h5, location),      \
               parameters, arguments)

/* For attributes, which are in the object itself, not behind a name. */
#define ATTRIBUTE_MADE(name, parameters, arguments)                                               \
    SW_H5_MAKE(name, SW_OP_META, SW_EVENT_ATTRIBUTE, sw_h5_counted_file(h5, location),            \
               parameters, arguments)

/* clang-format off */
GROUP(sw_hid, H5Gcreate1, (sw_hid location, const char *name, size_t hint),
      (location, name, hint))
GROUP(sw_hid, H5Gcreate2,
      (sw_hid location, const char *name, sw_hid link, sw_hid creation, sw_hid access),
      (location, name, link, creation, access))
GROUP(sw_hid, H5Gcreate_anon, (sw_hid location, sw_hid creation, sw_hid access),
      (location, creation, access))
GROUP(sw_hid, H5Gopen1, (sw_hid location, const char *name), (location, name))
GROUP(sw_hid, H5Gopen2, (sw_hid location, const char *name, sw_hid access),
      (location, name, access))
GROUP(sw_hid, H5Oopen, (sw_hid location, const char *name, sw_hid access),
      (location, name, access))
GROUP(int, H5Lexists, (sw_hid location, const char *name, sw_hid access),
      (location, name, access))
GROUP(int, H5Ldelete, (sw_hid location, const char *name, sw_hid access),
      (location, name, access))

ATTRIBUTE_MADE(H5Acreate1,
          (sw_hid location, const char *name, sw_hid type, sw_hid space, sw_hid creation),
          (location, name, type, space, creation))
ATTRIBUTE_MADE(H5Acreate2,
          (sw_hid location, const char *name, sw_hid type, sw_hid space, sw_hid creation,
           sw_hid access),
          (location, name, type, space, creation, access))
ATTRIBUTE(sw_hid, H5Acreate_by_name,
          (sw_hid location, const char *object, const char *name, sw_hid type, sw_hid space,
           sw_hid creation, sw_hid access, sw_hid link),
          (location, object, name, type, space, creation, access, link))
ATTRIBUTE_MADE(H5Aopen, (sw_hid location, const char *name, sw_hid access),
          (location, name, access))
ATTRIBUTE_MADE(H5Aopen_name, (sw_hid location, const char *name), (location, name))
ATTRIBUTE_MADE(H5Aopen_idx, (sw_hid location, unsigned index), (location, index))
ATTRIBUTE(sw_hid, H5Aopen_by_name,
          (sw_hid location, const char *object, const char *name, sw_hid access, sw_hid link),
          (location, object, name, access, link))
ATTRIBUTE(sw_hid, H5Aopen_by_idx,
          (sw_hid location, const char *object, int index, int order, uint64_t n, sw_hid access,
           sw_hid link),
          (location, object, index, order, n, access, link))
ATTRIBUTE(int, H5Aclose, (sw_hid location), (location))
ATTRIBUTE(int, H5Adelete, (sw_hid location, const char *name), (location, name))
ATTRIBUTE(int, H5Aexists, (sw_hid location, const char *name), (location, name))

ATTRIBUTE(int, H5Awrite, (sw_hid location, sw_hid type, const void *data), (location, type, data))
ATTRIBUTE(int, H5Aread, (sw_hid location, sw_hid type, void *data), (location, type, data))

#define FLUSH(name, parameters, arguments)                                                        \
    SW_H5_META(int, name, SW_OP_SYNC, 0, sw_h5_counted_file(h5, object), parameters, arguments)
FLUSH(H5Dflush, (sw_hid object), (object))
FLUSH(H5Fflush, (sw_hid object, int scope), (object, scope))

/* What was posted asynchronously is carried out in here. */
SW_H5_META(int, H5ESwait, SW_OP_META, SW_EVENT_WAIT, NULL,
           (sw_hid events, uint64_t timeout, size_t *in_progress, bool *failed),
           (events, timeout, in_progress, failed))
/* clang-format on */

/* ---- extents ------------------------------------------------------------------------ */

/* Finds the dataset's entry before the call; its file is counted. */
static void find(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry)
{
    struct sw_h5_quiet quiet;
    sw_h5_quiet_begin(h5, &quiet);
    sw_h5_dataset_of(h5, dataset, entry);
    sw_h5_quiet_end(h5, &quiet);
}

static void resized(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                    struct sw_call *call, int status)
{
    sw_call_ended(call);
    if (status >= 0)
        sw_h5_extents_changed();
    if (status >= 0)
        sw_h5_describe(h5, dataset, entry);
    call->object = entry->object;
    sw_h5_leave(call, entry->file, SW_OP_META, status);
}

#define RESIZE(name, parameters, arguments)                                                       \
    SW_H5_CALL(int, name, struct sw_handle_entry entry;                                           \
               find(h5, dataset, &entry), resized(h5, dataset, &entry, &call, result),            \
               parameters, arguments)

RESIZE(H5Dset_extent, (sw_hid dataset, const uint64_t *extents), (dataset, extents))
RESIZE(H5Dextend, (sw_hid dataset, const uint64_t *extents), (dataset, extents))
RESIZE(H5Drefresh, (sw_hid dataset), (dataset))
