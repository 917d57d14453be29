/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Creation, opening and closing of datasets and groups. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "layers/hdf5.h"

#define MAX_DATASET_RECORDS 256 /* applied settings of that many datasets are recorded */

/* Creation of a dataset. */
struct making {
    struct sw_call call;
    struct sw_h5_quiet quiet;
    const struct sw_h5 *h5;
    sw_hid program_list;
    sw_hid list; /* passed to HDF5: the program's or our copy */
    struct sw_handle_entry file;
    bool later;      /* HDF5 may still be creating it when the call returns */
    bool anonymous;  /* gets its name later (H5Olink), if at all */
    char name[1024]; /* in the file */
    char applied[2048];
};

static void full_name(struct making *making, sw_hid location, const char *name)
{
    char group[512];
    if (making->anonymous)
        return;
    if (name[0] == '/') {
        snprintf(making->name, sizeof making->name, "%s", name);
        return;
    }
    ssize_t length = making->h5->H5Iget_name(location, group, sizeof group);
    if (length <= 0 || (size_t)length >= sizeof group)
        group[0] = '\0';
    const char *separator = length == 1 && group[0] == '/' ? "" : "/";
    snprintf(making->name, sizeof making->name, "%s%s%s", group, separator, name);
}

static bool apply(struct making *making, struct sw_h5_creation *creation,
                  const struct sw_setting *settings, size_t count)
{
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        enum sw_h5_outcome outcome = sw_h5_set_creation(creation, &settings[i]);
        if (outcome == SW_H5_APPLIED)
            sw_h5_applied(making->applied, sizeof making->applied, making->name, settings[i].key,
                          settings[i].value);
        else if (outcome == SW_H5_REFUSED)
            sw_h5_refused(making->name, settings[i].key, settings[i].value, creation->why);
        changed |= outcome == SW_H5_APPLIED;
    }
    return changed;
}

static bool is_creation_property(const char *key)
{
    return strcmp(key, "chunk") == 0 || strcmp(key, "fill_time") == 0 ||
           strcmp(key, "alloc_time") == 0;
}

static void adopt(struct making *making, sw_hid location, const char *name, sw_hid space)
{
    const struct sw_h5 *h5 = making->h5;
    struct sw_setting settings[SW_MAX_SETTINGS];
    char file_name[PATH_MAX];
    size_t count = 0;
    full_name(making, location, name);
    sw_h5_file_name(h5, location, file_name, sizeof file_name);
    size_t found =
        sw_adopt_lookup(SW_SETTING_HDF5, file_name, making->name, settings, SW_MAX_SETTINGS);
    for (size_t i = 0; i < found; i++)
        if (is_creation_property(settings[i].key))
            settings[count++] = settings[i];
    if (count == 0)
        return;
    struct sw_h5_creation creation = {.h5 = h5, .space = space};
    creation.fresh = h5->H5Pcreate(*h5->class_dataset_create);
    creation.list = making->program_list > 0 ? h5->H5Pcopy(making->program_list)
                                             : h5->H5Pcreate(*h5->class_dataset_create);
    bool changed =
        creation.list > 0 && creation.fresh > 0 && apply(making, &creation, settings, count);
    if (changed)
        making->list = creation.list;
    else if (creation.list > 0)
        (void)h5->H5Pclose(creation.list);
    if (creation.fresh > 0)
        (void)h5->H5Pclose(creation.fresh);
}

/* With a list of ours, errors are not printed until retry() or end(): a creation that fails
 * because of us is repeated with the program's list, and must not have printed anything. */
static bool begin(struct making *making, const char *function, const struct sw_h5 *h5,
                  sw_hid location, const char *name, sw_hid space, sw_hid list)
{
    if (!h5->usable || !sw_enter_as(&making->call, SW_LAYER_HDF5, function))
        return false;
    making->h5 = h5;
    making->program_list = list;
    making->list = list;
    making->later = false;
    making->anonymous = name != NULL && name[0] == '\0';
    making->name[0] = '\0';
    making->applied[0] = '\0';
    sw_h5_quiet_begin(h5, &making->quiet);
    sw_h5_file_of(h5, location, &making->file);
    if (sw_adopt_any() && name != NULL)
        adopt(making, location, name, space);
    if (making->list == making->program_list)
        sw_h5_quiet_end(h5, &making->quiet);
    else
        sw_inside_end();
    return true;
}

static bool retry(struct making *making, sw_hid dataset)
{
    if (making->list == making->program_list)
        return false;
    sw_inside_begin();
    if (dataset < 0) {
        (void)making->h5->H5Pclose(making->list);
        making->list = making->program_list;
        sw_h5_refused(making->name, "dataset", "creation", "HDF5 could not create it so");
    }
    sw_h5_quiet_end(making->h5, &making->quiet);
    return dataset < 0;
}

static void record(const struct making *making)
{
    static unsigned recorded;
    if (making->applied[0] != '\0' &&
        __atomic_fetch_add(&recorded, 1, __ATOMIC_RELAXED) < MAX_DATASET_RECORDS)
        sw_settings_add(SW_LAYER_HDF5, sw_file_id(making->file.file), SW_SETTINGS_APPLIED,
                        making->applied);
}

/* Querying a dataset that is still being created, or opened, would wait for it. */
static void describe(const struct sw_h5 *h5, sw_hid dataset, bool later,
                     struct sw_handle_entry *entry, struct sw_call *call)
{
    if (!later)
        sw_h5_describe(h5, dataset, entry);
    call->object = entry->object;
}

static void end(struct making *making, sw_hid dataset)
{
    const struct sw_h5 *h5 = making->h5;
    struct sw_handle_entry entry;
    struct sw_h5_quiet quiet;
    sw_call_ended(&making->call);
    if (dataset >= 0) {
        sw_h5_quiet_begin(h5, &quiet);
        if (making->list != making->program_list) {
            (void)h5->H5Pclose(making->list);
            record(making);
        }
        if (!making->anonymous) {
            sw_h5_dataset_of(h5, dataset, &entry);
            describe(h5, dataset, making->later, &entry, &making->call);
        }
        sw_h5_quiet_end(h5, &quiet);
    }
    sw_h5_leave(&making->call, making->file.file, SW_OP_META, dataset);
}

/* ---- creation ------------------------------------------------------------------ */

#define CREATE(function, name, is_later, parameters, arguments)                                   \
    SW_EXPORT sw_hid function parameters;                                                         \
    SW_EXPORT sw_hid function parameters                                                          \
    {                                                                                             \
        const struct sw_h5 *h5 = SW_H5_CALLER;                                                    \
        struct making making;                                                                     \
        if (h5->function == NULL)                                                                 \
            return -1;                                                                            \
        if (!begin(&making, __func__, h5, location, name, space, creation))                       \
            return h5->function arguments;                                                        \
        making.later = (is_later);                                                                \
        creation = making.list;                                                                   \
        sw_hid dataset = h5->function arguments;                                                  \
        if (retry(&making, dataset)) {                                                            \
            creation = making.program_list;                                                       \
            dataset = h5->function arguments;                                                     \
        }                                                                                         \
        end(&making, dataset);                                                                    \
        return dataset;                                                                           \
    }

/* clang-format off */
CREATE(H5Dcreate1, name, false,
       (sw_hid location, const char *name, sw_hid type, sw_hid space, sw_hid creation),
       (location, name, type, space, creation))
CREATE(H5Dcreate2, name, false,
       (sw_hid location, const char *name, sw_hid type, sw_hid space, sw_hid link,
        sw_hid creation, sw_hid access),
       (location, name, type, space, link, creation, access))
CREATE(H5Dcreate_async, name, true,
       (SW_H5_WHERE, sw_hid location, const char *name, sw_hid type, sw_hid space, sw_hid link,
        sw_hid creation, sw_hid access, sw_hid events),
       (SW_H5_HERE, location, name, type, space, link, creation, access, events))
/* Only settings for all datasets of the file can apply, because there is no name to match. */
CREATE(H5Dcreate_anon, "", false,
       (sw_hid location, sw_hid type, sw_hid space, sw_hid creation, sw_hid access),
       (location, type, space, creation, access))
/* clang-format on */

/* ---- opening ------------------------------------------------------------------- */

/* After a real open: stores the dataset, and counts. */
static void opened(struct sw_call *call, const struct sw_h5 *h5, sw_hid dataset, bool later)
{
    struct sw_h5_quiet quiet;
    struct sw_handle_entry entry = {0};
    sw_call_ended(call);
    if (dataset >= 0) {
        sw_h5_quiet_begin(h5, &quiet);
        sw_h5_dataset_of(h5, dataset, &entry);
        describe(h5, dataset, later, &entry, call);
        sw_h5_quiet_end(h5, &quiet);
    }
    sw_h5_leave(call, entry.file, SW_OP_META, dataset);
}

#define OPEN(name, later, parameters, arguments)                                                  \
    SW_H5_CALL(sw_hid, name, (void)0, opened(&call, h5, result, later), parameters, arguments)

OPEN(H5Dopen1, false, (sw_hid location, const char *name), (location, name))
OPEN(H5Dopen2, false, (sw_hid location, const char *name, sw_hid access), (location, name, access))
OPEN(H5Dopen_async, true,
     (SW_H5_WHERE, sw_hid location, const char *name, sw_hid access, sw_hid events),
     (SW_H5_HERE, location, name, access, events))

/* ---- closing ------------------------------------------------------------------- */

SW_H5_CLOSE(H5Dclose, SW_OP_META, dataset, (sw_hid dataset), (dataset))
SW_H5_CLOSE(H5Dclose_async, SW_OP_META, dataset, (SW_H5_WHERE, sw_hid dataset, sw_hid events),
            (SW_H5_HERE, dataset, events))

SW_EXPORT int H5Gclose(sw_hid group);
SW_EXPORT int H5Gclose(sw_hid group)
{
    const struct sw_h5 *h5 = SW_H5_CALLER;
    struct sw_call call;
    if (h5->H5Gclose == NULL)
        return -1;
    if (!h5->usable || !sw_enter(&call, SW_LAYER_HDF5))
        return h5->H5Gclose(group);
    struct sw_file *file = sw_h5_counted_file(h5, group);
    int status = h5->H5Gclose(group);
    if (status >= 0)
        sw_handle_drop(&sw_h5_handles, sw_h5_key(h5, group));
    sw_h5_leave(&call, file, SW_OP_META, status);
    return status;
}
