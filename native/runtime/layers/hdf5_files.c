/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 files. The program's access list is copied and changed only if the configuration has
 * settings for the file. MPI-IO hints are not handled here: HDF5 passes its MPI_Info to
 * MPI_File_open, where they are merged.
 */
#include <string.h>

#include "layers/hdf5.h"
#include "layers/once.h"

#define ACC_WRITE (0x01u | 0x02u | 0x04u | 0x10u) /* H5F_ACC_RDWR, TRUNC, EXCL, CREAT */

#define ACC_RDWR 0x01u  /* H5F_ACC_RDWR */
#define ACC_TRUNC 0x02u /* H5F_ACC_TRUNC */

/* An open or creation. */
struct opening {
    struct sw_call call;
    const struct sw_h5 *h5;
    const char *path;
    unsigned flags;
    sw_hid program_list;
    sw_hid list; /* passed to HDF5: the program's or our copy */
    bool parallel;
    char applied[2048];
    char own[512]; /* properties that the program set */
};

static bool is_mpio(const struct sw_h5 *h5, sw_hid list)
{
    sw_hid driver = list > 0 ? h5->H5Pget_driver(list) : -1;
    sw_hid mpio = -1;
    if (h5->H5FD_mpio_init != NULL)
        mpio = h5->H5FD_mpio_init();
    else if (h5->mpio_driver != NULL)
        mpio = *h5->mpio_driver;
    return driver >= 0 && driver == mpio;
}

static sw_hid copy_list(const struct sw_h5 *h5, sw_hid list)
{
    return list > 0 ? h5->H5Pcopy(list) : h5->H5Pcreate(*h5->class_file_access);
}

/* Applies as many settings to the copy as possible; returns true if there was any. */
static bool apply(struct opening *opening, struct sw_h5_access *access,
                  const struct sw_setting *settings, size_t count)
{
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        enum sw_h5_outcome outcome = sw_h5_set_access(access, &settings[i]);
        if (outcome == SW_H5_APPLIED)
            sw_h5_applied(opening->applied, sizeof opening->applied, "", settings[i].key,
                          settings[i].value);
        else if (outcome == SW_H5_REFUSED)
            sw_h5_refused(opening->path, settings[i].key, settings[i].value, access->why);
        changed |= outcome == SW_H5_APPLIED;
    }
    return changed;
}

static bool is_access_property(const char *key)
{
    return strcmp(key, "chunk") != 0 && strcmp(key, "fill_time") != 0 &&
           strcmp(key, "alloc_time") != 0 && strcmp(key, "transfer") != 0;
}

static void adopt(struct opening *opening, sw_hid creation, bool creating)
{
    const struct sw_h5 *h5 = opening->h5;
    struct sw_setting settings[SW_MAX_SETTINGS];
    size_t found =
        sw_adopt_lookup(SW_SETTING_HDF5, opening->path, NULL, settings, SW_MAX_SETTINGS);
    size_t count = 0;
    for (size_t i = 0; i < found; i++)
        if (is_access_property(settings[i].key))
            settings[count++] = settings[i];
    if (count == 0)
        return;
    struct sw_h5_access access = {.h5 = h5,
                                  .list = copy_list(h5, opening->program_list),
                                  .fresh = h5->H5Pcreate(*h5->class_file_access),
                                  .creation = creation,
                                  .creating = creating,
                                  .parallel = opening->parallel,
                                  .flags = opening->flags};
    bool changed = access.list > 0 && access.fresh > 0 && apply(opening, &access, settings, count);
    if (changed)
        opening->list = access.list;
    else if (access.list > 0)
        (void)h5->H5Pclose(access.list);
    if (access.fresh > 0)
        (void)h5->H5Pclose(access.fresh);
}

/* A creation without TRUNC is exclusive. */
static int64_t open_bits(unsigned flags, bool creating)
{
    int64_t bits = SW_OPEN_READ;
    if (creating)
        bits |= SW_OPEN_CREATE | (flags & ACC_TRUNC ? SW_OPEN_TRUNCATE : SW_OPEN_EXCLUSIVE);
    return creating || (flags & ACC_RDWR) ? bits | SW_OPEN_WRITE : bits;
}

static bool begin(struct opening *opening, const char *function, const struct sw_h5 *h5,
                  const char *path, unsigned flags, sw_hid creation, sw_hid list, bool creating)
{
    struct sw_h5_quiet quiet;
    if (!h5->usable || path == NULL || !sw_enter_as(&opening->call, SW_LAYER_HDF5, function))
        return false;
    opening->h5 = h5;
    opening->path = path;
    opening->flags = creating ? flags | ACC_WRITE : flags;
    opening->call.position = open_bits(flags, creating);
    opening->program_list = list;
    opening->list = list;
    opening->applied[0] = opening->own[0] = '\0';
    sw_h5_quiet_begin(h5, &quiet);
    (void)h5->H5open();
    if (sw_capturing() && list > 0)
        sw_h5_own_access(h5, list, opening->own, sizeof opening->own);
    opening->parallel = is_mpio(h5, list);
    if (sw_adopt_any())
        adopt(opening, creation, creating);
    sw_h5_quiet_end(h5, &quiet);
    sw_process_flag(SW_PROCESS_HDF5 | (opening->parallel ? SW_PROCESS_HDF5_PARALLEL : 0));
    return true;
}

static void end(struct opening *opening, sw_hid handle)
{
    const struct sw_h5 *h5 = opening->h5;
    struct sw_file *file = sw_file_get(SW_LAYER_HDF5, opening->path);
    if (handle >= 0) {
        sw_h5_files_changed();
        struct sw_handle_entry entry = {.handle = sw_h5_key(h5, handle),
                                        .file = file,
                                        .is_file = true,
                                        .parallel = opening->parallel,
                                        .transfer = -1};
        sw_handle_put(&sw_h5_handles, &entry);
        sw_file_flag(file, SW_FILE_OPENED_READ |
                               (opening->flags & ACC_WRITE ? SW_FILE_OPENED_WRITE : 0));
        if (opening->applied[0] != '\0' && sw_once(sw_file_id(file), opening->applied))
            sw_settings_add(SW_LAYER_HDF5, sw_file_id(file), SW_SETTINGS_APPLIED,
                            opening->applied);
        if (opening->own[0] != '\0' && sw_once(sw_file_id(file), opening->own))
            sw_settings_add(SW_LAYER_HDF5, sw_file_id(file), SW_SETTINGS_PROGRAM, opening->own);
    }
    if (opening->list != opening->program_list) {
        struct sw_h5_quiet quiet;
        sw_hid errors = sw_h5_errors_save(h5, handle < 0);
        sw_h5_quiet_begin(h5, &quiet);
        (void)h5->H5Pclose(opening->list);
        sw_h5_quiet_end(h5, &quiet);
        sw_h5_errors_restore(h5, errors);
    }
    sw_h5_leave(&opening->call, file, SW_OP_OPEN, handle);
}

/* ---- wrappers ------------------------------------------------------------------ */

#define OPEN(name, creation, creates, parameters, arguments)                                      \
    SW_EXPORT sw_hid name parameters;                                                             \
    SW_EXPORT sw_hid name parameters                                                              \
    {                                                                                             \
        const struct sw_h5 *h5 = SW_H5_CALLER;                                                    \
        struct opening opening;                                                                   \
        if (h5->name == NULL)                                                                     \
            return -1;                                                                            \
        if (!begin(&opening, __func__, h5, path, flags, creation, access, creates))               \
            return h5->name arguments;                                                            \
        access = opening.list;                                                                    \
        sw_hid handle = h5->name arguments;                                                       \
        end(&opening, handle);                                                                    \
        return handle;                                                                            \
    }

/* clang-format off */
OPEN(H5Fcreate, creation, true,
     (const char *path, unsigned flags, sw_hid creation, sw_hid access),
     (path, flags, creation, access))
OPEN(H5Fcreate_async, creation, true,
     (SW_H5_WHERE, const char *path, unsigned flags, sw_hid creation, sw_hid access,
      sw_hid events),
     (SW_H5_HERE, path, flags, creation, access, events))
OPEN(H5Fopen, 0, false, (const char *path, unsigned flags, sw_hid access), (path, flags, access))
OPEN(H5Fopen_async, 0, false,
     (SW_H5_WHERE, const char *path, unsigned flags, sw_hid access, sw_hid events),
     (SW_H5_HERE, path, flags, access, events))
SW_H5_CLOSE(H5Fclose, SW_OP_CLOSE, file, (sw_hid file), (file))
SW_H5_CLOSE(H5Fclose_async, SW_OP_CLOSE, file, (SW_H5_WHERE, sw_hid file, sw_hid events),
            (SW_H5_HERE, file, events))
/* clang-format on */
