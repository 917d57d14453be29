/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of HDF5.  Bytes are selected points x size of the memory type, as the program asked;
 * collective or not is what the transfer list says.
 */
#include "layers/hdf5.h"
#include "layers/once.h"

#define SPACE_LAST_SPECIAL 2 /* H5S_ALL 0, H5S_BLOCK 1, H5S_PLIST 2 */
#define MODE_COLLECTIVE 1    /* H5FD_MPIO_COLLECTIVE */

/* One transfer. */
struct moving {
    struct sw_call call;
    const struct sw_h5 *h5;
    struct sw_file *file;
    sw_hid program_list;
    sw_hid list; /* what goes to HDF5: the program's or our copy */
    int64_t bytes;
    bool collective;
};

static int64_t points(const struct sw_h5 *h5, sw_hid dataset, sw_hid memory, sw_hid in_file)
{
    if (memory > SPACE_LAST_SPECIAL)
        return h5->H5Sget_select_npoints(memory);
    if (in_file > SPACE_LAST_SPECIAL)
        return h5->H5Sget_select_npoints(in_file);
    sw_hid space = h5->H5Dget_space(dataset);
    if (space < 0)
        return 0;
    int64_t count = h5->H5Sget_simple_extent_npoints(space);
    (void)h5->H5Sclose(space);
    return count;
}

static int64_t bytes_of(const struct sw_h5 *h5, sw_hid dataset, sw_hid type, sw_hid memory,
                        sw_hid in_file)
{
    int64_t count = points(h5, dataset, memory, in_file);
    return count > 0 ? count * (int64_t)h5->H5Tget_size(type) : 0;
}

/* Puts a copy with the wanted mode in place of the program's list. */
static void change_mode(struct moving *moving, int wanted)
{
    const struct sw_h5 *h5 = moving->h5;
    sw_hid copy = moving->program_list > 0 ? h5->H5Pcopy(moving->program_list)
                                           : h5->H5Pcreate(*h5->class_dataset_transfer);
    if (copy < 0)
        return;
    if (h5->H5Pset_dxpl_mpio(copy, wanted) < 0) {
        (void)h5->H5Pclose(copy);
        return;
    }
    moving->list = copy;
    moving->collective = wanted == MODE_COLLECTIVE;
}

static void record_mode(const struct sw_handle_entry *entry)
{
    uint64_t id = sw_file_id(entry->file);
    const char *text =
        entry->transfer == MODE_COLLECTIVE ? "transfer=collective\n" : "transfer=independent\n";
    if (sw_once(id, text))
        sw_settings_add(SW_LAYER_HDF5, id, SW_SETTINGS_APPLIED, text);
}

static void choose_mode(struct moving *moving, const struct sw_handle_entry *entry)
{
    const struct sw_h5 *h5 = moving->h5;
    int now = 0;
    if (!entry->parallel || h5->H5Pget_dxpl_mpio == NULL || h5->H5Pset_dxpl_mpio == NULL)
        return;
    if (moving->program_list > 0 && h5->H5Pget_dxpl_mpio(moving->program_list, &now) < 0)
        return;
    moving->collective = now == MODE_COLLECTIVE;
    if (entry->transfer < 0 || entry->transfer == now || (now != 0 && !entry->transfer_force))
        return;
    change_mode(moving, entry->transfer);
    if (moving->list != moving->program_list)
        record_mode(entry);
}

/* ---- one dataset ----------------------------------------------------------------- */

static bool begin(struct moving *moving, const char *name, const struct sw_h5 *h5, sw_hid list)
{
    if (!h5->usable || !sw_enter_as(&moving->call, SW_LAYER_HDF5, name))
        return false;
    moving->h5 = h5;
    moving->file = NULL;
    moving->program_list = list;
    moving->list = list;
    moving->bytes = 0;
    moving->collective = false;
    return true;
}

static bool begin_one(struct moving *moving, const char *name, const struct sw_h5 *h5,
                      sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list)
{
    struct sw_handle_entry entry;
    struct sw_h5_quiet quiet;
    if (!begin(moving, name, h5, list))
        return false;
    sw_h5_quiet_begin(h5, &quiet);
    sw_h5_dataset_of(h5, dataset, &entry);
    moving->file = entry.file;
    moving->bytes = bytes_of(h5, dataset, type, memory, in_file);
    choose_mode(moving, &entry);
    if (sw_capturing() && h5->describes)
        sw_h5_capture(h5, dataset, &entry, in_file, &moving->call);
    sw_h5_quiet_end(h5, &quiet);
    return true;
}

/* One event cannot name several selections. */
static void capture_many(struct moving *moving, size_t count, sw_hid dataset, sw_hid in_file,
                         struct sw_handle_entry *entry)
{
    if (count == 1)
        sw_h5_capture(moving->h5, dataset, entry, in_file, &moving->call);
    else if (sw_once(SW_LAYER_HDF5, "multi"))
        sw_note("capture: calls for several datasets at once (H5Dwrite_multi, H5Dread_multi) "
                "stand in the trace with their bytes, without selections");
}

/* The list of the first dataset decides for all, as HDF5 takes only one. */
static bool begin_many(struct moving *moving, const char *name, const struct sw_h5 *h5,
                       size_t count, const sw_hid *datasets, const sw_hid *types,
                       const sw_hid *memory, const sw_hid *in_file, sw_hid list)
{
    struct sw_handle_entry entry;
    struct sw_h5_quiet quiet;
    if (count == 0 || !datasets || !types || !memory || !in_file || !begin(moving, name, h5, list))
        return false;
    sw_h5_quiet_begin(h5, &quiet);
    sw_h5_dataset_of(h5, datasets[0], &entry);
    moving->file = entry.file;
    for (size_t i = 0; i < count; i++)
        moving->bytes += bytes_of(h5, datasets[i], types[i], memory[i], in_file[i]);
    choose_mode(moving, &entry);
    if (sw_capturing() && h5->describes)
        capture_many(moving, count, datasets[0], in_file[0], &entry);
    sw_h5_quiet_end(h5, &quiet);
    return true;
}

static void end(struct moving *moving, enum sw_op independent, enum sw_op collective, int status)
{
    const struct sw_h5 *h5 = moving->h5;
    if (moving->list != moving->program_list) {
        struct sw_h5_quiet quiet;
        sw_hid errors = sw_h5_errors_save(h5, status < 0);
        sw_h5_quiet_begin(h5, &quiet);
        (void)h5->H5Pclose(moving->list);
        sw_h5_quiet_end(h5, &quiet);
        sw_h5_errors_restore(h5, errors);
    }
    sw_leave_data(&moving->call, moving->file, moving->collective ? collective : independent,
                  status < 0 ? -1 : moving->bytes, -1);
}

static void end_read(struct moving *moving, int status)
{
    end(moving, SW_OP_READ, SW_OP_READ_COLLECTIVE, status);
}

static void end_write(struct moving *moving, int status)
{
    end(moving, SW_OP_WRITE, SW_OP_WRITE_COLLECTIVE, status);
}

/* ---- wrappers ------------------------------------------------------------------ */

#define CALLER sw_h5_of(__builtin_return_address(0))

SW_EXPORT int H5Dwrite(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                       const void *data);
SW_EXPORT int H5Dwrite(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                       const void *data)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dwrite == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, dataset, type, memory, in_file, list))
        return h5->H5Dwrite(dataset, type, memory, in_file, list, data);
    int status = h5->H5Dwrite(dataset, type, memory, in_file, moving.list, data);
    end_write(&moving, status);
    return status;
}

SW_EXPORT int H5Dread(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                      void *data);
SW_EXPORT int H5Dread(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                      void *data)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dread == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, dataset, type, memory, in_file, list))
        return h5->H5Dread(dataset, type, memory, in_file, list, data);
    int status = h5->H5Dread(dataset, type, memory, in_file, moving.list, data);
    end_read(&moving, status);
    return status;
}

SW_EXPORT int H5Dwrite_async(const char *source, const char *function, unsigned line,
                             sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file,
                             sw_hid list, const void *data, sw_hid events);
SW_EXPORT int H5Dwrite_async(const char *source, const char *function, unsigned line,
                             sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file,
                             sw_hid list, const void *data, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dwrite_async == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, dataset, type, memory, in_file, list))
        return h5->H5Dwrite_async(source, function, line, dataset, type, memory, in_file, list,
                                  data, events);
    int status = h5->H5Dwrite_async(source, function, line, dataset, type, memory, in_file,
                                    moving.list, data, events);
    end_write(&moving, status);
    return status;
}

SW_EXPORT int H5Dread_async(const char *source, const char *function, unsigned line,
                            sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file,
                            sw_hid list, void *data, sw_hid events);
SW_EXPORT int H5Dread_async(const char *source, const char *function, unsigned line,
                            sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file,
                            sw_hid list, void *data, sw_hid events)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dread_async == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, dataset, type, memory, in_file, list))
        return h5->H5Dread_async(source, function, line, dataset, type, memory, in_file, list,
                                 data, events);
    int status = h5->H5Dread_async(source, function, line, dataset, type, memory, in_file,
                                   moving.list, data, events);
    end_read(&moving, status);
    return status;
}

SW_EXPORT int H5Dwrite_multi(size_t count, sw_hid *datasets, sw_hid *types, sw_hid *memory,
                             sw_hid *in_file, sw_hid list, const void **data);
SW_EXPORT int H5Dwrite_multi(size_t count, sw_hid *datasets, sw_hid *types, sw_hid *memory,
                             sw_hid *in_file, sw_hid list, const void **data)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dwrite_multi == NULL)
        return -1;
    if (!begin_many(&moving, __func__, h5, count, datasets, types, memory, in_file, list))
        return h5->H5Dwrite_multi(count, datasets, types, memory, in_file, list, data);
    int status = h5->H5Dwrite_multi(count, datasets, types, memory, in_file, moving.list, data);
    end_write(&moving, status);
    return status;
}

SW_EXPORT int H5Dread_multi(size_t count, sw_hid *datasets, sw_hid *types, sw_hid *memory,
                            sw_hid *in_file, sw_hid list, void **data);
SW_EXPORT int H5Dread_multi(size_t count, sw_hid *datasets, sw_hid *types, sw_hid *memory,
                            sw_hid *in_file, sw_hid list, void **data)
{
    const struct sw_h5 *h5 = CALLER;
    struct moving moving;
    if (h5->H5Dread_multi == NULL)
        return -1;
    if (!begin_many(&moving, __func__, h5, count, datasets, types, memory, in_file, list))
        return h5->H5Dread_multi(count, datasets, types, memory, in_file, list, data);
    int status = h5->H5Dread_multi(count, datasets, types, memory, in_file, moving.list, data);
    end_read(&moving, status);
    return status;
}

/* ---- attributes: metadata, not the program's data ---------------------------------- */

SW_EXPORT int H5Awrite(sw_hid attribute, sw_hid type, const void *data);
SW_EXPORT int H5Awrite(sw_hid attribute, sw_hid type, const void *data)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Awrite == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Awrite(attribute, type, data);
    call.event_flags = SW_EVENT_ATTRIBUTE;
    struct sw_file *file = sw_h5_counted_file(h5, attribute);
    int status = h5->H5Awrite(attribute, type, data);
    sw_h5_leave(&call, file, SW_OP_META, status);
    return status;
}

SW_EXPORT int H5Aread(sw_hid attribute, sw_hid type, void *data);
SW_EXPORT int H5Aread(sw_hid attribute, sw_hid type, void *data)
{
    const struct sw_h5 *h5 = CALLER;
    struct sw_call call;
    if (h5->H5Aread == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Aread(attribute, type, data);
    call.event_flags = SW_EVENT_ATTRIBUTE;
    struct sw_file *file = sw_h5_counted_file(h5, attribute);
    int status = h5->H5Aread(attribute, type, data);
    sw_h5_leave(&call, file, SW_OP_META, status);
    return status;
}
