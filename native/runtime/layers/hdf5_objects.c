/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Finds the record of the file of an HDF5 identifier. */
#include <limits.h>
#include <string.h>

#include "layers/hdf5.h"

struct sw_handle_table sw_h5_handles;

void sw_h5_file_name(const struct sw_h5 *h5, sw_hid object, char *name, size_t bytes)
{
    ssize_t length = h5->H5Fget_name(object, name, bytes);
    if (length <= 0 || (size_t)length >= bytes)
        name[0] = '\0';
}

/* For an object of a file whose opening was not seen: its name is sufficient for counting. */
static void by_name(const struct sw_h5 *h5, sw_hid object, struct sw_handle_entry *entry)
{
    char name[PATH_MAX];
    sw_h5_file_name(h5, object, name, sizeof name);
    if (name[0] != '\0')
        entry->file = sw_file_get(SW_LAYER_HDF5, name);
    entry->transfer = -1;
}

void sw_h5_file_of(const struct sw_h5 *h5, sw_hid object, struct sw_handle_entry *entry)
{
    if (sw_handle_find(&sw_h5_handles, sw_h5_key(h5, object), entry))
        return;
    sw_hid file = h5->H5Iget_file_id(object);
    if (file < 0)
        return;
    if (!sw_handle_find(&sw_h5_handles, sw_h5_key(h5, file), entry))
        by_name(h5, file, entry);
    (void)h5->H5Idec_ref(file);
}

/* Determines the transfer mode that the configuration specifies for a dataset. */
static void choose_transfer(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry)
{
    static const char *const modes[] = {"independent", "collective", NULL};
    struct sw_setting settings[SW_MAX_SETTINGS];
    char file_name[PATH_MAX];
    char name[1024];
    if (!entry->parallel || !sw_adopt_any())
        return;
    ssize_t length = h5->H5Iget_name(dataset, name, sizeof name);
    if (length <= 0 || (size_t)length >= sizeof name)
        return;
    sw_h5_file_name(h5, dataset, file_name, sizeof file_name);
    size_t count = sw_adopt_lookup(SW_SETTING_HDF5, file_name, name, settings, SW_MAX_SETTINGS);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].key, "transfer") != 0)
            continue;
        entry->transfer = (int8_t)sw_h5_choice(settings[i].value, modes);
        entry->transfer_force = settings[i].override != 0;
        if (entry->transfer < 0)
            sw_h5_refused(name, "transfer", settings[i].value, "it is neither of two modes");
    }
}

void sw_h5_dataset_of(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry)
{
    if (sw_handle_find(&sw_h5_handles, sw_h5_key(h5, dataset), entry))
        return;
    sw_h5_file_of(h5, dataset, entry);
    entry->handle = sw_h5_key(h5, dataset);
    entry->is_file = false;
    entry->transfer = -1;
    choose_transfer(h5, dataset, entry);
    sw_handle_put(&sw_h5_handles, entry);
}

/* ---- files of objects that a thread has used recently ----------------------------------- */

#define RECENT 8 /* a power of two */

/* HDF5 reuses no identifier before its files are closed. A handler may jump out of here: `changes`
 * is stored last. */
static __thread struct {
    uint64_t object;
    struct sw_file *file;
    uint32_t changes; /* the value of `changes` for which it is valid */
} recent[RECENT] __attribute__((tls_model("initial-exec")));
static uint32_t changes = 1;

void sw_h5_files_changed(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_ACQ_REL);
}

void sw_h5_made_in(const struct sw_h5 *h5, sw_hid object, struct sw_file *file)
{
    uint64_t key = sw_h5_key(h5, object);
    if (object <= 0)
        return;
    recent[key % RECENT].changes = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    recent[key % RECENT].object = key;
    recent[key % RECENT].file = file;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    recent[key % RECENT].changes = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
}

struct sw_file *sw_h5_counted_file(const struct sw_h5 *h5, sw_hid object)
{
    struct sw_h5_quiet quiet;
    struct sw_handle_entry entry;
    uint64_t key = sw_h5_key(h5, object);
    if (recent[key % RECENT].object == key &&
        recent[key % RECENT].changes == __atomic_load_n(&changes, __ATOMIC_ACQUIRE))
        return recent[key % RECENT].file;
    if (!sw_handle_find(&sw_h5_handles, key, &entry)) {
        sw_h5_quiet_begin(h5, &quiet);
        sw_h5_file_of(h5, object, &entry);
        sw_h5_quiet_end(h5, &quiet);
    }
    if (entry.file != NULL)
        sw_h5_made_in(h5, object, entry.file);
    return entry.file;
}

/* ---- closing by other means (h5py drops references) -------------------------------- */

/* Returns what a released handle was: a file, or something else. */
static enum sw_op giving_up(const struct sw_h5 *h5, sw_hid object, struct sw_handle_entry *entry)
{
    bool known = sw_handle_find(&sw_h5_handles, sw_h5_key(h5, object), entry);
    return known && entry->is_file ? SW_OP_CLOSE : SW_OP_META;
}

SW_EXPORT int H5Idec_ref(sw_hid object);
SW_EXPORT int H5Idec_ref(sw_hid object)
{
    const struct sw_h5 *h5 = sw_h5_of(__builtin_return_address(0));
    struct sw_call call;
    struct sw_handle_entry entry;
    if (h5->H5Idec_ref == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Idec_ref(object);
    enum sw_op op = giving_up(h5, object, &entry);
    int references = h5->H5Idec_ref(object);
    if (references == 0 && op == SW_OP_CLOSE)
        sw_h5_files_changed();
    if (references == 0)
        sw_handle_drop(&sw_h5_handles, sw_h5_key(h5, object));
    else
        op = SW_OP_META;
    sw_h5_leave(&call, entry.file, op, references);
    return references;
}

#define GIVE_UP(name, parameters, arguments)                                                      \
    SW_H5_CALL(int, name, struct sw_handle_entry entry;                                           \
               enum sw_op op = giving_up(h5, object, &entry),                                     \
               sw_h5_closed(h5, object, &entry, &call, op, result), parameters, arguments)

GIVE_UP(H5Oclose, (sw_hid object), (object))
GIVE_UP(H5Oclose_async, (SW_H5_WHERE, sw_hid object, sw_hid events), (SW_H5_HERE, object, events))

/* ---- closing of entries in the table ---------------------------------------------------- */

struct sw_handle_entry sw_h5_closing(const struct sw_h5 *h5, sw_hid object, struct sw_call *call)
{
    struct sw_handle_entry entry;
    sw_handle_find(&sw_h5_handles, sw_h5_key(h5, object), &entry);
    call->object = entry.object;
    return entry;
}

void sw_h5_closed(const struct sw_h5 *h5, sw_hid object, const struct sw_handle_entry *entry,
                  struct sw_call *call, enum sw_op op, int status)
{
    if (status >= 0)
        sw_handle_drop(&sw_h5_handles, sw_h5_key(h5, object));
    if (entry->is_file)
        sw_h5_files_changed();
    sw_h5_leave(call, entry->file, op, status);
}
