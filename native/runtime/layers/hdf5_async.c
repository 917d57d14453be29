/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metadata calls with an event set (HDF5 1.13 and later).  Without an asynchronous connector
 * the work is done in them; with one it is done by the time that H5ESwait returns.
 */
#include "layers/hdf5.h"

#define CALLER sw_h5_of(__builtin_return_address(0))

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
    struct sw_file *file = sw_h5_counted_file(h5, object);
    int result = h5->H5Fflush_async(in_file, in_function, line, object, scope, events);
    sw_leave(&call, file, SW_OP_SYNC);
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
    if (h5->H5Gcreate_async == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Gcreate_async(in_file, in_function, line, location, name, link, creation,
                                   access, events);
    struct sw_file *file = sw_h5_counted_file(h5, location);
    sw_hid result = h5->H5Gcreate_async(in_file, in_function, line, location, name, link, creation,
                                        access, events);
    sw_leave(&call, file, SW_OP_META);
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
    struct sw_file *file = sw_h5_counted_file(h5, group);
    int result = h5->H5Gclose_async(in_file, in_function, line, group, events);
    sw_leave(&call, file, SW_OP_META);
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
    struct sw_file *file = sw_h5_counted_file(h5, attribute);
    int result = h5->H5Awrite_async(in_file, in_function, line, attribute, type, data, events);
    sw_leave(&call, file, SW_OP_META);
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
    struct sw_file *file = sw_h5_counted_file(h5, attribute);
    int result = h5->H5Aread_async(in_file, in_function, line, attribute, type, data, events);
    sw_leave(&call, file, SW_OP_META);
    return result;
}
