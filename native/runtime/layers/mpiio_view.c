/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* File views in the trace: the filetype is flattened where the view is set. */
#include <stdlib.h>

#include "layers/mpiio.h"

static uint32_t flatten(const struct sw_plugin *plugin, struct sw_view *view, sw_handle filetype)
{
    int64_t bytes = plugin->type_bytes(filetype);
    if (bytes < 0 || plugin->type_extent(filetype, &view->filetype_lower,
                                         &view->filetype_extent) != SW_MPI_SUCCESS)
        return 0;
    view->filetype_bytes = (uint64_t)bytes;
    if (plugin->type_pieces(filetype, sw_pieces_add, view->pieces) != 0)
        view->pieces->truncated = true;
    return sw_view_intern(view);
}

uint32_t sw_mpi_view(const struct sw_file *file, sw_mpi_offset start, sw_handle etype,
                     sw_handle filetype)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    if (!sw_capturing() || plugin == NULL || file == NULL)
        return 0;
    struct sw_pieces *pieces = calloc(1, sizeof *pieces);
    if (pieces == NULL)
        return 0;
    sw_inside_begin();
    int64_t unit = plugin->type_bytes(etype);
    struct sw_view view = {.file_id = sw_file_id(file),
                           .displacement = start,
                           .etype_bytes = unit > 0 ? (uint64_t)unit : 0,
                           .pieces = pieces};
    uint32_t number = flatten(plugin, &view, filetype);
    sw_inside_end();
    free(pieces);
    return number;
}
