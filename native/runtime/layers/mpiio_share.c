/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What a rank itself moves in a collective call, for the emulated storage, which distinguishes its
 * own requests from those that an aggregator makes for others. */
#include "layers/mpiio.h"

/* The contiguous piece so far, while the filetype is walked. */
struct piece {
    int64_t start;
    int64_t bytes;
};

static int add(void *context, int64_t offset, int64_t bytes)
{
    struct piece *piece = context;
    if (piece->bytes == 0)
        piece->start = offset;
    else if (offset != piece->start + piece->bytes)
        return 1;
    piece->bytes += bytes;
    return 0;
}

void sw_mpi_view_piece(struct sw_handle_entry *entry, sw_handle filetype)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct piece piece = {0, 0};
    int64_t lower;
    entry->piece_bytes = 0;
    if (plugin == NULL || sw_emulators_used == 0)
        return;
    sw_inside_begin();
    if (plugin->type_pieces(filetype, add, &piece) == 0 &&
        plugin->type_extent(filetype, &lower, &entry->piece_extent) == SW_MPI_SUCCESS) {
        entry->piece_start = piece.start;
        entry->piece_bytes = piece.bytes;
    }
    sw_inside_end();
}

/* Returns the offset in the file of the bytes from `position` of the view on, if they are
 * contiguous; else -1.
 */
static int64_t place_of(const struct sw_handle_entry *entry, int64_t position, int64_t bytes)
{
    if (position < 0)
        return -1;
    if (entry->view_contiguous)
        return entry->view_start + position;
    if (entry->piece_bytes <= 0)
        return -1;
    int64_t within = position % entry->piece_bytes;
    if (within + bytes > entry->piece_bytes)
        return -1;
    return entry->view_start + position / entry->piece_bytes * entry->piece_extent +
           entry->piece_start + within;
}

void sw_mpi_tell_share(sw_handle file, uint16_t flags, sw_mpi_offset offset, int64_t count,
                       sw_handle datatype)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct sw_handle_entry entry = {.storage = NULL};
    int64_t bytes = 0;
    int64_t start = -1;
    bool known = sw_handle_find(&sw_mpi_files, file, &entry);
    if (plugin != NULL && count > 0 && known && (flags & SW_EVENT_SHARED) == 0) {
        sw_inside_begin();
        int64_t element = plugin->type_bytes(datatype);
        if ((flags & SW_EVENT_POINTER) != 0)
            offset = plugin->file_position(file);
        sw_inside_end();
        if (element > 0 && offset >= 0 && !__builtin_mul_overflow(element, count, &bytes))
            start = place_of(&entry, offset * entry.view_unit, bytes);
    }
    sw_emulate_share(entry.storage, start, start >= 0 ? bytes : 0);
}
