/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metadata calls with an event set (HDF5 1.13 and later). Without an asynchronous connector, the
 * work is done in the call; with one, it is complete when H5ESwait returns. Querying HDF5 about an
 * object that is still being created would wait for it: what the table does not contain is
 * unknown.
 */
#include "layers/hdf5.h"

static struct sw_file *known_file(const struct sw_h5 *h5, sw_hid object)
{
    struct sw_handle_entry entry;
    sw_handle_find(&sw_h5_handles, sw_h5_key(h5, object), &entry);
    return entry.file;
}

/* A group is in the file of the location where it was created. */
static void made(const struct sw_h5 *h5, sw_hid location, sw_hid group, struct sw_call *call)
{
    struct sw_handle_entry entry = {0};
    if (group >= 0 && sw_handle_find(&sw_h5_handles, sw_h5_key(h5, location), &entry)) {
        entry.handle = sw_h5_key(h5, group);
        entry.is_file = false;
        sw_handle_put(&sw_h5_handles, &entry);
    }
    sw_h5_leave(call, entry.file, SW_OP_META, group);
}

/* clang-format off */
SW_H5_CALL(sw_hid, H5Gcreate_async, (void)0, made(h5, location, result, &call),
           (SW_H5_WHERE, sw_hid location, const char *name, sw_hid link, sw_hid creation,
            sw_hid access, sw_hid events),
           (SW_H5_HERE, location, name, link, creation, access, events))
SW_H5_CLOSE(H5Gclose_async, SW_OP_META, group, (SW_H5_WHERE, sw_hid group, sw_hid events),
            (SW_H5_HERE, group, events))

#define KNOWN(name, op, flags, parameters, arguments)                                             \
    SW_H5_META(int, name, op, flags, known_file(h5, object), parameters, arguments)
KNOWN(H5Fflush_async, SW_OP_SYNC, 0, (SW_H5_WHERE, sw_hid object, int scope, sw_hid events),
      (SW_H5_HERE, object, scope, events))
KNOWN(H5Awrite_async, SW_OP_META, SW_EVENT_ATTRIBUTE,
      (SW_H5_WHERE, sw_hid object, sw_hid type, const void *data, sw_hid events),
      (SW_H5_HERE, object, type, data, events))
KNOWN(H5Aread_async, SW_OP_META, SW_EVENT_ATTRIBUTE,
      (SW_H5_WHERE, sw_hid object, sw_hid type, void *data, sw_hid events),
      (SW_H5_HERE, object, type, data, events))
/* clang-format on */
