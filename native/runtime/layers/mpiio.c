/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO, except data calls: files, views, sizes, info, sync. */
#include <stdlib.h>
#include <string.h>

#include "layers/mpiio.h"

struct sw_handle_table sw_mpi_files;

struct sw_file *sw_mpi_file(sw_handle file)
{
    struct sw_handle_entry entry;
    sw_handle_find(&sw_mpi_files, file, &entry);
    return entry.file;
}

/* Describes where and through which view a data call moved something. */
static void describe(struct sw_call *call, const struct sw_handle_entry *entry,
                     sw_mpi_offset offset)
{
    call->shape = entry->view;
    if (entry->view_unknown) {
        call->event_flags |= SW_EVENT_NO_OFFSET;
        call->position = SW_POSITION_OF_CALL;
    } else if (offset >= 0)
        call->position = offset;
    else if (call->position == SW_POSITION_OF_CALL)
        call->event_flags |= SW_EVENT_NO_OFFSET;
    if (call->position == SW_POSITION_OF_CALL)
        call->position = 0;
}

void sw_mpi_pointer(struct sw_call *call, sw_handle file)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    if (!sw_capturing() || plugin == NULL || sw_mpi_file(file) == NULL)
        return;
    sw_inside_begin();
    int64_t position = plugin->file_position(file);
    sw_inside_end();
    if (position >= 0)
        call->position = position;
}

void sw_mpi_data_done(struct sw_call *call, sw_handle file, enum sw_op op, int result,
                      int64_t count, sw_handle datatype, sw_mpi_offset offset)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct sw_handle_entry entry;
    int64_t bytes = result == SW_MPI_SUCCESS ? 0 : -1;
    sw_call_ended(call);
    bool known = sw_handle_find(&sw_mpi_files, file, &entry);
    if (sw_capturing())
        describe(call, &entry, offset);
    if (result == SW_MPI_SUCCESS && plugin != NULL &&
        count > 0) { /* an empty one may be any word */
        sw_inside_begin();
        int64_t element = plugin->type_bytes(datatype);
        if (element <= 0 || __builtin_mul_overflow(element, count, &bytes))
            bytes = 0;
        if (bytes > 0 && call->outermost && sw_capturing())
            call->object = sw_mpi_memory(plugin, datatype, element);
        sw_inside_end();
    }
    if (known && offset >= 0 && bytes > 0 && entry.view_contiguous)
        offset = entry.view_start + offset * entry.view_unit;
    else
        offset = -1;
    sw_leave_data(call, entry.file, op, bytes, offset);
}

/* ---- open and close -------------------------------------------------------------- */

static void opened(sw_handle handle, const char *path, int amode, struct sw_file *file,
                   const struct sw_mpi_hints *hints, struct sw_emulator *storage)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct sw_handle_entry entry = {.handle = handle,
                                    .file = file,
                                    .storage = storage,
                                    .view_unit = 1,
                                    .view_contiguous = true};
    if (hints->overriding)
        entry.override_path = strdup(path);
    sw_handle_put(&sw_mpi_files, &entry);
    if (plugin != NULL)
        sw_file_flag(file, plugin->amode_flags(amode));
    sw_mpi_hints_record(hints, file, handle);
}

static void forget(sw_handle handle)
{
    struct sw_handle_entry entry;
    if (sw_handle_find(&sw_mpi_files, handle, &entry))
        free(entry.override_path);
    sw_handle_drop(&sw_mpi_files, handle);
}

typedef int open_function(sw_handle, const char *, int, sw_handle, sw_handle *);

static int open_file(open_function *real, const char *name, const void *caller, sw_handle comm,
                     const char *path, int amode, sw_handle info, sw_handle *handle)
{
    struct sw_call call;
    struct sw_mpi_hints hints;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name)) {
        sw_mpi_series_open(NULL, comm, path, amode);
        return real(comm, path, amode, info, handle);
    }
    sw_mpi_started(caller);
    call.position = sw_mpi_plugin() != NULL ? sw_mpi_plugin()->open_bits(amode) : 0;
    sw_mpi_hints_merge(&hints, SW_SETTING_MPIIO, path, info);
    uint64_t series = sw_mpi_series_open(&hints, comm, path, amode);
    struct sw_emulator *storage =
        sw_mpi_hints_tell(&hints, path, (call.position & SW_OPEN_CREATE) != 0);
    int result = real(comm, path, amode, hints.merged, handle);
    sw_emulate_open_end();
    struct sw_file *file = path != NULL ? sw_file_get(SW_LAYER_MPIIO, path) : NULL;
    if (result == SW_MPI_SUCCESS)
        opened(*handle, path, amode, file, &hints, storage);
    if (result == SW_MPI_SUCCESS)
        sw_mpi_series_opened(series, *handle, file);
    sw_mpi_hints_done(&hints);
    sw_mpi_leave(&call, file, SW_OP_OPEN, result);
    return result;
}

typedef int close_function(sw_handle *);

static int close_file(close_function *real, const char *name, sw_handle *handle)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle);
    sw_handle closing = handle != NULL ? *handle : 0;
    struct sw_file *file = sw_mpi_file(closing);
    sw_mpi_series_closing(closing);
    int result = real(handle);
    if (result == SW_MPI_SUCCESS)
        forget(closing);
    sw_mpi_leave(&call, file, SW_OP_CLOSE, result);
    return result;
}

typedef int delete_function(const char *, sw_handle);

static int delete_file(delete_function *real, const char *name, const char *path, sw_handle info)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(path, info);
    int result = real(path, info);
    struct sw_file *file = path != NULL ? sw_file_get(SW_LAYER_MPIIO, path) : NULL;
    if (result == SW_MPI_SUCCESS)
        sw_file_flag(file, SW_FILE_UNLINKED);
    sw_mpi_leave(&call, file, SW_OP_META, result);
    return result;
}

/* ---- view and info --------------------------------------------------------------- */

static void viewed(const struct sw_call *call, struct sw_handle_entry *entry, sw_mpi_offset start,
                   sw_handle etype, sw_handle filetype)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    bool noncontiguous = plugin == NULL;
    entry->view_unit = 0;
    sw_inside_begin();
    if (plugin != NULL) {
        noncontiguous = plugin->type_noncontiguous(filetype) != 0;
        entry->view_unit = plugin->type_bytes(etype);
    }
    sw_inside_end();
    entry->view_start = start;
    sw_mpi_view_piece(entry, filetype);
    entry->view_contiguous = !noncontiguous && entry->view_unit > 0 && start >= 0;
    entry->view_unknown =
        !sw_mpi_view(entry->file, start, etype, filetype, !call->outermost, &entry->view);
    sw_handle_put(&sw_mpi_files, entry);
    if (plugin != NULL && noncontiguous) {
        sw_file_flag(entry->file, SW_FILE_INTERLEAVED);
        sw_mpi_series_viewed(entry->handle, filetype);
    }
}

typedef int set_view_function(sw_handle, sw_mpi_offset, sw_handle, sw_handle, const char *,
                              sw_handle);

static int set_view(set_view_function *real, const char *name, sw_handle handle,
                    sw_mpi_offset start, sw_handle etype, sw_handle filetype,
                    const char *representation, sw_handle info)
{
    struct sw_call call;
    struct sw_mpi_hints hints;
    struct sw_handle_entry entry;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle, start, etype, filetype, representation, info);
    sw_handle_find(&sw_mpi_files, handle, &entry);
    sw_mpi_hints_remerge(&hints, entry.override_path, info);
    int result = real(handle, start, etype, filetype, representation, hints.merged);
    sw_call_ended(&call);
    if (result == SW_MPI_SUCCESS && entry.handle == handle)
        viewed(&call, &entry, start, etype, filetype);
    call.shape = entry.view;
    sw_mpi_hints_done(&hints);
    sw_mpi_leave(&call, entry.file, SW_OP_META, result);
    return result;
}

typedef int set_info_function(sw_handle, sw_handle);

static int set_info(set_info_function *real, const char *name, sw_handle handle, sw_handle info)
{
    struct sw_call call;
    struct sw_mpi_hints hints;
    struct sw_handle_entry entry;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle, info);
    sw_handle_find(&sw_mpi_files, handle, &entry);
    sw_mpi_hints_remerge(&hints, entry.override_path, info);
    int result = real(handle, hints.merged);
    if (result == SW_MPI_SUCCESS)
        sw_mpi_hints_record(&hints, entry.file, handle);
    sw_mpi_hints_done(&hints);
    sw_mpi_leave(&call, entry.file, SW_OP_META, result);
    return result;
}

/* ---- size and sync --------------------------------------------------------------- */

typedef int size_function(sw_handle, sw_mpi_offset);

static int sized(size_function *real, const char *name, sw_handle handle, sw_mpi_offset bytes)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle, bytes);
    call.position = bytes >= 0 ? bytes : SW_POSITION_OF_CALL;
    int result = real(handle, bytes);
    sw_mpi_leave(&call, sw_mpi_file(handle), SW_OP_META, result);
    return result;
}

typedef int seek_function(sw_handle, sw_mpi_offset, int);

static int sought(seek_function *real, const char *name, sw_handle handle, sw_mpi_offset offset,
                  int whence)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle, offset, whence);
    int result = real(handle, offset, whence);
    sw_mpi_leave(&call, sw_mpi_file(handle), SW_OP_META, result);
    return result;
}

typedef int query_function(sw_handle, sw_mpi_offset *);

static int queried(query_function *real, const char *name, sw_handle handle, sw_mpi_offset *answer)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle, answer);
    int result = real(handle, answer);
    sw_mpi_leave(&call, sw_mpi_file(handle), SW_OP_META, result);
    return result;
}

typedef int sync_function(sw_handle);

static int synced(sync_function *real, const char *name, sw_handle handle)
{
    struct sw_call call;
    if (!sw_enter_as(&call, SW_LAYER_MPIIO, name))
        return real(handle);
    int result = real(handle);
    sw_mpi_leave(&call, sw_mpi_file(handle), SW_OP_SYNC, result);
    return result;
}

/* ---- the names ------------------------------------------------------------------- */

#define BOTH(name, parameters, types, handed_over)                                                \
    SW_MPI_EXPORTED(MPI_File_##name, parameters, types, handed_over)                              \
    SW_MPI_EXPORTED(PMPI_File_##name, parameters, types, handed_over)

/* clang-format off */
BOTH(open,
     (sw_handle comm, const char *path, int amode, sw_handle info, sw_handle *handle),
     (sw_handle, const char *, int, sw_handle, sw_handle *),
     open_file(real, __func__, __builtin_return_address(0), comm, path, amode, info, handle))
BOTH(close, (sw_handle * handle), (sw_handle *), close_file(real, __func__, handle))
BOTH(delete, (const char *path, sw_handle info), (const char *, sw_handle),
     delete_file(real, __func__, path, info))
BOTH(set_view,
     (sw_handle handle, sw_mpi_offset start, sw_handle etype, sw_handle filetype,
      const char *representation, sw_handle info),
     (sw_handle, sw_mpi_offset, sw_handle, sw_handle, const char *, sw_handle),
     set_view(real, __func__, handle, start, etype, filetype, representation, info))
BOTH(set_info, (sw_handle handle, sw_handle info), (sw_handle, sw_handle),
     set_info(real, __func__, handle, info))
BOTH(set_size, (sw_handle handle, sw_mpi_offset bytes), (sw_handle, sw_mpi_offset),
     sized(real, __func__, handle, bytes))
BOTH(preallocate, (sw_handle handle, sw_mpi_offset bytes), (sw_handle, sw_mpi_offset),
     sized(real, __func__, handle, bytes))
BOTH(seek, (sw_handle handle, sw_mpi_offset offset, int whence), (sw_handle, sw_mpi_offset, int),
     sought(real, __func__, handle, offset, whence))
BOTH(seek_shared, (sw_handle handle, sw_mpi_offset offset, int whence),
     (sw_handle, sw_mpi_offset, int), sought(real, __func__, handle, offset, whence))
BOTH(get_position_shared, (sw_handle handle, sw_mpi_offset *answer),
     (sw_handle, sw_mpi_offset *), queried(real, __func__, handle, answer))
BOTH(get_size, (sw_handle handle, sw_mpi_offset *answer), (sw_handle, sw_mpi_offset *),
     queried(real, __func__, handle, answer))
BOTH(sync, (sw_handle handle), (sw_handle), synced(real, __func__, handle))
/* clang-format on */
