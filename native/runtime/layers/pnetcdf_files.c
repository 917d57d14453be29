/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * PnetCDF files. The hints that PnetCDF itself reads (nc_*) are merged into the program's MPI_Info
 * here; those of MPI-IO are merged below, in MPI_File_open, to which PnetCDF passes its info.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/once.h"
#include "layers/pnetcdf.h"

#define ENV_HINTS "PNETCDF_HINTS"
#define NC_WRITE 0x0001
#define NC_NOCLOBBER 0x0004

static struct sw_handle_table files;
static int (*file_info)(int, sw_handle *);

/* Identifiers begin at 0, keys of entries do not. */
static uint64_t key_of(int ncid)
{
    return (uint64_t)(uint32_t)ncid + 1;
}

struct sw_file *sw_pn_file(int ncid)
{
    struct sw_handle_entry entry;
    sw_handle_find(&files, key_of(ncid), &entry);
    return entry.file;
}

/* ---- settings --------------------------------------------------------------------- */

/* Returns whether the variable, "key=value;key=value", contains the key. */
static bool names_key(const char *hints, const char *key)
{
    size_t length = strlen(key);
    while (*hints != '\0') {
        hints += strspn(hints, "; \t");
        if (strncmp(hints, key, length) == 0 && hints[length] == '=')
            return true;
        hints += strcspn(hints, ";");
    }
    return false;
}

/* PnetCDF applies the variable over any info, so that our hints would have no effect. */
static void note_overruled(const char *path)
{
    struct sw_setting settings[SW_MAX_SETTINGS];
    const char *hints = getenv(ENV_HINTS);
    char note[512];
    if (hints == NULL || !sw_adopt_any())
        return;
    size_t count = sw_adopt_lookup(SW_SETTING_PNETCDF, path, NULL, settings, SW_MAX_SETTINGS);
    for (size_t i = 0; i < count; i++) {
        snprintf(note, sizeof note, "PnetCDF %s=%s does not act: " ENV_HINTS " sets it",
                 settings[i].key, settings[i].value);
        if (names_key(hints, settings[i].key) && sw_once(SW_LAYER_PNETCDF, note))
            sw_note(note);
    }
}

/* Records the hints that PnetCDF reports as used; called where that needs no communication. */
static void record_used(int ncid, struct sw_file *file)
{
    sw_handle info = 0;
    const struct sw_plugin *plugin = sw_mpi_plugin();
    if (file_info == NULL || file == NULL || plugin == NULL || !sw_recording())
        return;
    sw_inside_begin();
    int result = file_info(ncid, &info);
    sw_inside_end();
    if (result != SW_PN_SUCCESS)
        return;
    sw_mpi_info_record(SW_LAYER_PNETCDF, file, SW_SETTINGS_REPORTED, info);
    sw_inside_begin();
    plugin->info_free(info);
    sw_inside_end();
}

/* ---- open and close ----------------------------------------------------------------- */

typedef int open_function(sw_handle, const char *, int, sw_handle, int *);

static void opened(int ncid, struct sw_file *file, int64_t bits, const char *path,
                   const struct sw_mpi_hints *hints)
{
    struct sw_handle_entry entry = {.handle = key_of(ncid), .file = file};
    sw_handle_put(&files, &entry);
    sw_pn_forget_posted(ncid);
    sw_pn_definitions_changed();
    sw_file_flag(file, SW_FILE_OPENED_READ | (bits & SW_OPEN_WRITE ? SW_FILE_OPENED_WRITE : 0));
    sw_process_flag(SW_PROCESS_PNETCDF);
    sw_mpi_hints_requested(hints, SW_LAYER_PNETCDF, file);
    note_overruled(path);
    record_used(ncid, file);
}

/* `bits`: SW_OPEN_* */
static int open_file(open_function *real, const char *name, const void *caller, sw_handle comm,
                     const char *path, int mode, sw_handle info, int *ncid, int64_t bits)
{
    struct sw_call call;
    struct sw_mpi_hints hints;
    if (path == NULL || !sw_enter_as(&call, SW_LAYER_PNETCDF, name))
        return real(comm, path, mode, info, ncid);
    call.position = bits;
    sw_mpi_started(caller);
    sw_pn_started(caller);
    if (file_info == NULL)
        file_info = (int (*)(int, sw_handle *))sw_resolve("ncmpi_inq_file_info", caller);
    sw_mpi_hints_merge(&hints, SW_SETTING_PNETCDF, path, info);
    int result = real(comm, path, mode, hints.merged, ncid);
    struct sw_file *file = sw_file_get(SW_LAYER_PNETCDF, path);
    if (result == SW_PN_SUCCESS && ncid != NULL)
        opened(*ncid, file, bits, path, &hints);
    sw_mpi_hints_done(&hints);
    sw_pn_leave(&call, file, SW_OP_OPEN, result);
    return result;
}

SW_EXPORT int ncmpi_create(sw_handle comm, const char *path, int mode, sw_handle info, int *ncid);
SW_EXPORT int ncmpi_create(sw_handle comm, const char *path, int mode, sw_handle info, int *ncid)
{
    SW_REAL(int, ncmpi_create, (sw_handle, const char *, int, sw_handle, int *));
    if (real == NULL)
        return SW_PN_FAILURE;
    return open_file(real, __func__, __builtin_return_address(0), comm, path, mode, info, ncid,
                     SW_OPEN_READ | SW_OPEN_WRITE | SW_OPEN_CREATE |
                         (mode & NC_NOCLOBBER ? SW_OPEN_EXCLUSIVE : SW_OPEN_TRUNCATE));
}

SW_EXPORT int ncmpi_open(sw_handle comm, const char *path, int mode, sw_handle info, int *ncid);
SW_EXPORT int ncmpi_open(sw_handle comm, const char *path, int mode, sw_handle info, int *ncid)
{
    SW_REAL(int, ncmpi_open, (sw_handle, const char *, int, sw_handle, int *));
    if (real == NULL)
        return SW_PN_FAILURE;
    return open_file(real, __func__, __builtin_return_address(0), comm, path, mode, info, ncid,
                     SW_OPEN_READ | (mode & NC_WRITE ? SW_OPEN_WRITE : 0));
}

/* Whatever it returns, the identifier is not valid any more. */
#define CLOSING(name)                                                                             \
    SW_EXPORT int name(int ncid);                                                                 \
    SW_EXPORT int name(int ncid)                                                                  \
    {                                                                                             \
        SW_REAL(int, name, (int));                                                                \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_PN_FAILURE;                                                                 \
        if (!sw_enter(&call, SW_LAYER_PNETCDF))                                                   \
            return real(ncid);                                                                    \
        struct sw_file *file = sw_pn_file(ncid);                                                  \
        int result = real(ncid);                                                                  \
        sw_handle_drop(&files, key_of(ncid));                                                     \
        sw_pn_definitions_changed();                                                              \
        sw_pn_leave(&call, file, SW_OP_CLOSE, result);                                            \
        return result;                                                                            \
    }

CLOSING(ncmpi_close)
CLOSING(ncmpi_abort)

SW_EXPORT int ncmpi_delete(const char *path, sw_handle info);
SW_EXPORT int ncmpi_delete(const char *path, sw_handle info)
{
    SW_REAL(int, ncmpi_delete, (const char *, sw_handle));
    struct sw_call call;
    if (real == NULL)
        return SW_PN_FAILURE;
    if (path == NULL || !sw_enter(&call, SW_LAYER_PNETCDF))
        return real(path, info);
    int result = real(path, info);
    struct sw_file *file = sw_file_get(SW_LAYER_PNETCDF, path);
    if (result == SW_PN_SUCCESS)
        sw_file_flag(file, SW_FILE_UNLINKED);
    sw_pn_leave(&call, file, SW_OP_META, result);
    return result;
}

/* ---- the end of the definitions -------------------------------------------------------- */

static int defined(int ncid, struct sw_call *call, int result)
{
    struct sw_file *file = sw_pn_file(ncid);
    sw_pn_definitions_changed();
    if (result == SW_PN_SUCCESS)
        record_used(ncid, file);
    sw_pn_leave(call, file, SW_OP_META, result);
    return result;
}

/* clang-format off */
SW_PN_EXPORTED(ncmpi_enddef, result = defined(ncid, &call, result), (int ncid), (int), (ncid))
SW_PN_EXPORTED(ncmpi__enddef, result = defined(ncid, &call, result),
               (int ncid, sw_mpi_offset header_free, sw_mpi_offset data_align,
                sw_mpi_offset data_free, sw_mpi_offset record_align),
               (int, sw_mpi_offset, sw_mpi_offset, sw_mpi_offset, sw_mpi_offset),
               (ncid, header_free, data_align, data_free, record_align))
/* clang-format on */

/* ---- everything else that may touch the file -------------------------------------------- */

#define TIMED(name, op, parameters, types, arguments)                                             \
    SW_PN_EXPORTED(name, sw_pn_leave(&call, sw_pn_file(ncid), op, result), parameters, types,     \
                   arguments)

/* clang-format off */
TIMED(ncmpi_redef, SW_OP_META, (int ncid), (int), (ncid))
TIMED(ncmpi_begin_indep_data, SW_OP_META, (int ncid), (int), (ncid))
TIMED(ncmpi_end_indep_data, SW_OP_META, (int ncid), (int), (ncid))
TIMED(ncmpi_sync, SW_OP_SYNC, (int ncid), (int), (ncid))
TIMED(ncmpi_sync_numrecs, SW_OP_SYNC, (int ncid), (int), (ncid))
TIMED(ncmpi_flush, SW_OP_SYNC, (int ncid), (int), (ncid))
TIMED(ncmpi_fill_var_rec, SW_OP_META, (int ncid, int varid, sw_mpi_offset record),
      (int, int, sw_mpi_offset), (ncid, varid, record))
/* clang-format on */
