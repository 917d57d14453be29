/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * File views in the trace: the filetype is flattened where the view is set. Libraries above MPI-IO
 * set a new view in nearly every collective call. So that the trace grows with the structure of
 * the program, not with the length of its run, only a limited number of these views is stored;
 * beyond that, they are not flattened any more.
 */
#include <stdlib.h>

#include "layers/mpiio.h"
#include "layers/once.h"

#define MOST_INNER_VIEWS 1024
#define INNER_SLOTS 2048        /* power of two */
#define MOST_INNER_PIECES 65536 /* of buffers, too */

/* ---- views that libraries set ------------------------------------------------------------- */

static uint32_t inner_views[INNER_SLOTS]; /* by number, 0: free */
static uint32_t n_inner_views;

static bool inner_views_are_full(void)
{
    return __atomic_load_n(&n_inner_views, __ATOMIC_RELAXED) >= MOST_INNER_VIEWS;
}

static void keep_inner_view(uint32_t number)
{
    for (size_t probe = 0; number != 0 && probe < INNER_SLOTS; probe++) {
        uint32_t *slot = &inner_views[(number + probe) & (INNER_SLOTS - 1)];
        uint32_t found = 0;
        if (__atomic_load_n(slot, __ATOMIC_RELAXED) == number)
            return;
        if (__atomic_compare_exchange_n(slot, &found, number, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&n_inner_views, 1, __ATOMIC_RELAXED);
            return;
        }
        if (found == number)
            return;
    }
}

static void note_full(void)
{
    if (sw_once(SW_LAYER_MPIIO, "views"))
        sw_note("capture: libraries above MPI-IO set more than 1024 different file views: calls "
                "through further ones stand in the trace with their bytes, without places");
}

/* ---- flattening ---------------------------------------------------------------------------- */

struct bounded {
    struct sw_pieces *pieces;
    uint64_t left;
};

static int add_bounded(void *context, int64_t offset, int64_t bytes)
{
    struct bounded *bounded = context;
    if (bounded->left-- > 0)
        return sw_pieces_add(bounded->pieces, offset, bytes);
    bounded->pieces->truncated = true;
    return 1;
}

static void flatten(const struct sw_plugin *plugin, const struct sw_view *view, sw_handle filetype,
                    bool inner)
{
    struct bounded bounded = {view->pieces, inner ? MOST_INNER_PIECES : UINT64_MAX};
    if (plugin->type_pieces(filetype, add_bounded, &bounded) != 0)
        view->pieces->truncated = true;
}

/* Bytes from the start of the file: the view that a library sets at the end. */
static bool is_default(const struct sw_view *view)
{
    return view->displacement == 0 && view->etype_bytes == 1 && view->filetype_bytes == 1 &&
           view->filetype_lower == 0 && view->filetype_extent == 1;
}

static bool describe(const struct sw_plugin *plugin, struct sw_view *view, sw_handle etype,
                     sw_handle filetype)
{
    int64_t unit = plugin->type_bytes(etype);
    int64_t bytes = plugin->type_bytes(filetype);
    view->etype_bytes = unit > 0 ? (uint64_t)unit : 0;
    view->filetype_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    return bytes >= 0 && plugin->type_extent(filetype, &view->filetype_lower,
                                             &view->filetype_extent) == SW_MPI_SUCCESS;
}

static uint32_t intern(const struct sw_plugin *plugin, struct sw_view *view, sw_handle filetype,
                       bool inner)
{
    view->pieces = calloc(1, sizeof *view->pieces);
    if (view->pieces == NULL)
        return 0;
    flatten(plugin, view, filetype, inner);
    uint32_t number = sw_view_intern(view);
    free(view->pieces);
    return number;
}

bool sw_mpi_view(const struct sw_file *file, sw_mpi_offset start, sw_handle etype,
                 sw_handle filetype, bool inner, uint32_t *number)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    *number = 0;
    if (!sw_capturing() || file == NULL)
        return true;
    if (plugin == NULL)
        return false;
    struct sw_view view = {.file_id = sw_file_id(file), .displacement = start};
    sw_inside_begin();
    bool known = describe(plugin, &view, etype, filetype);
    bool is_plain = known && inner && is_default(&view);
    bool full = inner && !is_plain && inner_views_are_full();
    if (known && !is_plain && !full)
        *number = intern(plugin, &view, filetype, inner);
    sw_inside_end();
    if (full)
        note_full();
    else if (inner)
        keep_inner_view(*number);
    return is_plain || *number != 0;
}

uint32_t sw_mpi_memory(const struct sw_plugin *plugin, sw_handle datatype, int64_t element)
{
    struct sw_view view = {.file_id = 0, .etype_bytes = 1, .filetype_bytes = (uint64_t)element};
    if (plugin->type_extent(datatype, &view.filetype_lower, &view.filetype_extent) !=
            SW_MPI_SUCCESS ||
        (view.filetype_lower == 0 && view.filetype_extent == element))
        return 0;
    return intern(plugin, &view, datatype, true);
}
