/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 data transfers. Bytes are selected points x size of the memory type, as requested by the
 * program; the transfer list determines whether they are collective.
 *
 * HDF5 is queried after the program's call has succeeded: then it has checked every identifier, no
 * query can fail, and its error reporting need not be changed. Only the mode is chosen before, if
 * a configuration may require another one. For an asynchronous call, all queries are made before,
 * without printing errors: afterwards, a query might wait for the transfer.
 */
#include "layers/hdf5.h"
#include "layers/once.h"

#define MODE_COLLECTIVE 1 /* H5FD_MPIO_COLLECTIVE */

/* One transfer. */
struct moving {
    struct sw_call call;
    const struct sw_h5 *h5;
    struct sw_file *file;
    sw_hid program_list;
    sw_hid list; /* passed to HDF5: the program's or our copy */
    int64_t bytes;
    bool writes;
    bool collective;
    bool asked;
    struct sw_h5_part first;
    size_t count;
    /* If there are several. */
    const sw_hid *datasets, *types, *memory, *in_file;
};

/* ---- the mode ------------------------------------------------------------------------ */

/* Replaces the program's list by a copy with the wanted mode. */
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
}

static void record_mode(const struct sw_handle_entry *entry)
{
    uint64_t id = sw_file_id(entry->file);
    const char *text =
        entry->transfer == MODE_COLLECTIVE ? "transfer=collective\n" : "transfer=independent\n";
    if (sw_once(id, text))
        sw_settings_add(SW_LAYER_HDF5, id, SW_SETTINGS_APPLIED, text);
}

/* Returns the mode of a valid list, or of any list without printing errors; HDF5's default is
 * independent. */
static int mode_of(const struct sw_h5 *h5, sw_hid list, const struct sw_handle_entry *entry)
{
    int mode = 0;
    if (list <= 0 || !entry->parallel || h5->H5Pget_dxpl_mpio == NULL)
        return 0;
    return h5->H5Pget_dxpl_mpio(list, &mode) < 0 ? -1 : mode;
}

static void choose_mode(struct moving *moving)
{
    const struct sw_h5 *h5 = moving->h5;
    struct sw_handle_entry entry;
    struct sw_h5_quiet quiet;
    bool known = sw_handle_find(&sw_h5_handles, sw_h5_key(h5, moving->first.dataset), &entry);
    if ((known && (!entry.parallel || entry.transfer < 0)) || h5->H5Pset_dxpl_mpio == NULL)
        return;
    sw_h5_quiet_begin(h5, &quiet);
    sw_h5_dataset_of(h5, moving->first.dataset, &entry);
    int now = mode_of(h5, moving->program_list, &entry);
    if (entry.parallel && entry.transfer >= 0 && now >= 0 && entry.transfer != now &&
        (now == 0 || entry.transfer_force))
        change_mode(moving, entry.transfer);
    sw_h5_quiet_end(h5, &quiet);
    if (moving->list != moving->program_list)
        record_mode(&entry);
}

/* ---- what is moved ------------------------------------------------------------------- */

/* Returns the number of elements, -1 if unknown. One event cannot name several selections. */
static int64_t capture(struct moving *moving, struct sw_handle_entry *entry)
{
    if (!sw_capturing() || !moving->h5->describes)
        return -1;
    if (moving->count == 1)
        return sw_h5_capture(moving->h5, moving->first.dataset, entry, moving->first.memory,
                             moving->first.in_file, &moving->call);
    if (sw_once(SW_LAYER_HDF5, "multi"))
        sw_note("capture: calls for several datasets at once (H5Dwrite_multi, H5Dread_multi) "
                "stand in the trace with their bytes, without selections");
    return -1;
}

static int64_t bytes_of_many(const struct moving *moving)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < moving->count; i++) {
        const struct sw_h5_part part = {moving->datasets[i], moving->types[i], moving->memory[i],
                                        moving->in_file[i]};
        bytes += sw_h5_bytes(moving->h5, &part, -1);
    }
    return bytes;
}

/* An asynchronous transfer has not ended yet: HDF5 cannot say how it was carried out. */
static void count_transfer(struct moving *moving, struct sw_handle_entry *entry)
{
    bool ended = moving->call.end_ns != 0;
    struct sw_transfer transfer = {
        .writes = moving->writes,
        .bytes = (uint64_t)moving->bytes,
        .ns = ended ? moving->call.end_ns - moving->call.start_ns : 0,
        .collective = moving->collective,
    };
    if (sw_recording() && entry->file != NULL)
        sw_h5_count_transfer(moving->h5, moving->first.dataset, entry,
                             moving->count == 1 ? &moving->first : NULL, ended ? moving->list : 0,
                             &transfer);
    if (moving->count == 1 && entry->type_known && entry->conversion == SW_CONVERSION_VALUES)
        moving->call.event_flags |= SW_EVENT_CONVERTED;
    if (moving->count == 1 && entry->type_known && entry->conversion == SW_CONVERSION_MEMBERS)
        moving->call.event_flags |= SW_EVENT_MEMBERS;
}

/* The list of the first dataset decides for all, because HDF5 accepts only one. */
static void ask(struct moving *moving)
{
    const struct sw_h5 *h5 = moving->h5;
    struct sw_handle_entry entry;
    struct sw_h5_quiet quiet;
    if (!sw_handle_find(&sw_h5_handles, sw_h5_key(h5, moving->first.dataset), &entry)) {
        sw_h5_quiet_begin(h5, &quiet);
        sw_h5_dataset_of(h5, moving->first.dataset, &entry);
        sw_h5_quiet_end(h5, &quiet);
    }
    sw_inside_begin();
    moving->file = entry.file;
    moving->collective = mode_of(h5, moving->list, &entry) == MODE_COLLECTIVE;
    int64_t elements = capture(moving, &entry);
    moving->bytes =
        moving->count == 1 ? sw_h5_bytes(h5, &moving->first, elements) : bytes_of_many(moving);
    moving->asked = true;
    count_transfer(moving, &entry);
    sw_inside_end();
}

static void ask_quietly(struct moving *moving)
{
    struct sw_h5_quiet quiet;
    sw_h5_quiet_begin(moving->h5, &quiet);
    ask(moving);
    sw_h5_quiet_end(moving->h5, &quiet);
}

/* For a failed call, only the file is recorded, if that needs no query; it counts as independent.
 * */
static void settle_failed(struct moving *moving)
{
    struct sw_handle_entry entry;
    uint64_t key = sw_h5_key(moving->h5, moving->first.dataset);
    if (!moving->asked && sw_handle_find(&sw_h5_handles, key, &entry))
        moving->file = entry.file;
}

/* ---- begin and end ----------------------------------------------------------------------- */

static bool begin_one(struct moving *moving, const char *name, const struct sw_h5 *h5,
                      const struct sw_h5_part *part, sw_hid list)
{
    if (!h5->usable || !sw_enter_as(&moving->call, SW_LAYER_HDF5, name))
        return false;
    moving->h5 = h5;
    moving->file = NULL;
    moving->program_list = list;
    moving->list = list;
    moving->bytes = 0;
    moving->writes = name[3] == 'w'; /* H5Dwrite*, not H5Dread* */
    moving->collective = false;
    moving->asked = false;
    moving->first = *part;
    moving->count = 1;
    if (sw_adopt_any())
        choose_mode(moving);
    return true;
}

static bool begin_async(struct moving *moving, const char *name, const struct sw_h5 *h5,
                        const struct sw_h5_part *part, sw_hid list)
{
    if (!begin_one(moving, name, h5, part, list))
        return false;
    ask_quietly(moving);
    return true;
}

static bool begin_many(struct moving *moving, const char *name, const struct sw_h5 *h5,
                       size_t count, const sw_hid *datasets, const sw_hid *types,
                       const sw_hid *memory, const sw_hid *in_file, sw_hid list)
{
    if (count == 0 || !datasets || !types || !memory || !in_file)
        return false;
    const struct sw_h5_part first = {datasets[0], types[0], memory[0], in_file[0]};
    if (!begin_one(moving, name, h5, &first, list))
        return false;
    moving->count = count;
    moving->datasets = datasets;
    moving->types = types;
    moving->memory = memory;
    moving->in_file = in_file;
    return true;
}

static void close_list(const struct moving *moving, bool failed)
{
    const struct sw_h5 *h5 = moving->h5;
    struct sw_h5_quiet quiet;
    sw_hid errors = sw_h5_errors_save(h5, failed);
    sw_h5_quiet_begin(h5, &quiet);
    (void)h5->H5Pclose(moving->list);
    sw_h5_quiet_end(h5, &quiet);
    sw_h5_errors_restore(h5, errors);
}

static void end(struct moving *moving, enum sw_op independent, enum sw_op collective, int status)
{
    sw_call_ended(&moving->call);
    if (status < 0)
        settle_failed(moving);
    else if (!moving->asked)
        ask(moving);
    if (moving->list != moving->program_list)
        close_list(moving, status < 0);
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

SW_EXPORT int H5Dwrite(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                       const void *data);
SW_EXPORT int H5Dwrite(sw_hid dataset, sw_hid type, sw_hid memory, sw_hid in_file, sw_hid list,
                       const void *data)
{
    const struct sw_h5 *h5 = SW_H5_CALLER;
    const struct sw_h5_part part = {dataset, type, memory, in_file};
    struct moving moving;
    if (h5->H5Dwrite == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, &part, list))
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
    const struct sw_h5 *h5 = SW_H5_CALLER;
    const struct sw_h5_part part = {dataset, type, memory, in_file};
    struct moving moving;
    if (h5->H5Dread == NULL)
        return -1;
    if (!begin_one(&moving, __func__, h5, &part, list))
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
    const struct sw_h5 *h5 = SW_H5_CALLER;
    const struct sw_h5_part part = {dataset, type, memory, in_file};
    struct moving moving;
    if (h5->H5Dwrite_async == NULL)
        return -1;
    if (!begin_async(&moving, __func__, h5, &part, list))
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
    const struct sw_h5 *h5 = SW_H5_CALLER;
    const struct sw_h5_part part = {dataset, type, memory, in_file};
    struct moving moving;
    if (h5->H5Dread_async == NULL)
        return -1;
    if (!begin_async(&moving, __func__, h5, &part, list))
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
    const struct sw_h5 *h5 = SW_H5_CALLER;
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
    const struct sw_h5 *h5 = SW_H5_CALLER;
    struct moving moving;
    if (h5->H5Dread_multi == NULL)
        return -1;
    if (!begin_many(&moving, __func__, h5, count, datasets, types, memory, in_file, list))
        return h5->H5Dread_multi(count, datasets, types, memory, in_file, list, data);
    int status = h5->H5Dread_multi(count, datasets, types, memory, in_file, moving.list, data);
    end_read(&moving, status);
    return status;
}
