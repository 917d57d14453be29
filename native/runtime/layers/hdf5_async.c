/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metadata calls with an event set (HDF5 1.13 and later).  Without an asynchronous connector
 * the work is done in them; with one it is done by the time that H5ESwait returns.  Asking HDF5
 * of an object that is still being made would wait for it: what the table does not know, is not
 * known.
 */
#include "layers/hdf5.h"

#define CALLER sw_h5_of(__builtin_return_address(0))

static struct sw_file *known_file(const struct sw_h5 *h5, sw_hid object)
{
    struct sw_handle_entry entry;
    sw_handle_find(&sw_h5_handles, sw_h5_key(h5, object), &entry);
    return entry.file;
}

SW_EXPORT int H5Fflush_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid object, int scope, sw_hid events);
SW_EXPORT int H5Fflush_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid object, int scope, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Fflush_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Fflush_async(in_file, in_function, line, object, scope, events);
    struct sw_file *file = known_file(h5, object);
    int result = h5->H5Fflush_async(in_file, in_function, line, object, scope, events);
    sw_h5_leave(&call, file, SW_OP_SYNC, result);
    return result;
}

SW_EXPORT sw_hid H5Gcreate_async(const char *in_file, const char *in_function, unsigned line,
                                 sw_hid location, const char *name, sw_hid link, sw_hid creation,
                                 sw_hid access, sw_hid events);
SW_EXPORT sw_hid H5Gcreate_async(const char *in_file, const char *in_function, unsigned line,
                                 sw_hid location, const char *name, sw_hid link, sw_hid creation,
                                 sw_hid access, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    struct sw_handle_entry entry = {0};
    if (h5->H5Gcreate_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Gcreate_async(in_file, in_function, line, location, name, link, creation,
                                   access, events);
    sw_hid result = h5->H5Gcreate_async(in_file, in_function, line, location, name, link, creation,
                                        access, events);
    if (result >= 0 && sw_handle_find(&sw_h5_handles, sw_h5_key(h5, location), &entry)) {
        entry.handle = sw_h5_key(h5, result);
        entry.is_file = false;
        sw_handle_put(&sw_h5_handles, &entry);
    }
    sw_h5_leave(&call, entry.file, SW_OP_META, result);
    return result;
}

SW_EXPORT int H5Gclose_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid group, sw_hid events);
SW_EXPORT int H5Gclose_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid group, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Gclose_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Gclose_async(in_file, in_function, line, group, events);
    struct sw_file *file = known_file(h5, group);
    int result = h5->H5Gclose_async(in_file, in_function, line, group, events);
    if (result >= 0)
        sw_handle_drop(&sw_h5_handles, sw_h5_key(h5, group));
    sw_h5_leave(&call, file, SW_OP_META, result);
    return result;
}

SW_EXPORT int H5Awrite_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid attribute, sw_hid type, const void *data, sw_hid events);
SW_EXPORT int H5Awrite_async(const char *in_file, const char *in_function, unsigned line,
                             sw_hid attribute, sw_hid type, const void *data, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Awrite_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Awrite_async(in_file, in_function, line, attribute, type, data, events);
    call.event_flags = SW_EVENT_ATTRIBUTE;
    struct sw_file *file = known_file(h5, attribute);
    int result = h5->H5Awrite_async(in_file, in_function, line, attribute, type, data, events);
    sw_h5_leave(&call, file, SW_OP_META, result);
    return result;
}

SW_EXPORT int H5Aread_async(const char *in_file, const char *in_function, unsigned line,
                            sw_hid attribute, sw_hid type, void *data, sw_hid events);
SW_EXPORT int H5Aread_async(const char *in_file, const char *in_function, unsigned line,
                            sw_hid attribute, sw_hid type, void *data, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Aread_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Aread_async(in_file, in_function, line, attribute, type, data, events);
    call.event_flags = SW_EVENT_ATTRIBUTE;
    struct sw_file *file = known_file(h5, attribute);
    int result = h5->H5Aread_async(in_file, in_function, line, attribute, type, data, events);
    sw_h5_leave(&call, file, SW_OP_META, result);
    return result;
}
