/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Folds the pieces of a datatype like the calls of a run (fold.c), but without sequence. */
#include "capture.h"

/* Limit for one datatype, which bounds the time that setting a view may take. */
#define MOST_VISITED (UINT64_C(1) << 20)

/* Returns the offset of the piece that would be next at the known levels. */
static int64_t expected(const struct sw_piece *piece)
{
    uint64_t inner = piece->inner[0];
    uint64_t row = inner != 0 ? piece->count / inner : 0;
    uint64_t i = inner != 0 ? piece->count % inner : piece->count;
    uint64_t plane = piece->inner[1] != 0 ? row / piece->inner[1] : 0;
    uint64_t j = piece->inner[1] != 0 ? row % piece->inner[1] : row;
    return (int64_t)((uint64_t)piece->offset + i * (uint64_t)piece->stride[0] +
                     j * (uint64_t)piece->stride[1] + plane * (uint64_t)piece->stride[2]);
}

/* Returns a level that makes this piece the next one; 3 if none can. */
static int level_for(const struct sw_piece *piece)
{
    if (piece->count == 1)
        return 0;
    if (piece->inner[0] == 0)
        return 1;
    uint64_t rows = piece->count / piece->inner[0];
    bool at_row = piece->count % piece->inner[0] == 0;
    return piece->inner[1] == 0 && at_row && rows >= 2 ? 2 : SW_RUN_LEVELS;
}

static bool bend(struct sw_piece *piece, int64_t offset)
{
    int level = level_for(piece);
    if (level == SW_RUN_LEVELS)
        return false;
    if (level == 1)
        piece->inner[0] = piece->count;
    if (level == 2)
        piece->inner[1] = piece->count / piece->inner[0];
    piece->stride[level] = (int64_t)((uint64_t)offset - (uint64_t)piece->offset);
    return true;
}

/* Returns false if there is no room. */
static bool fold(struct sw_pieces *pieces, int64_t offset, uint64_t bytes)
{
    struct sw_piece *last = pieces->n_pieces != 0 ? &pieces->piece[pieces->n_pieces - 1] : NULL;
    pieces->total++;
    if (last != NULL && last->bytes == bytes &&
        ((last->count > 1 && expected(last) == offset) || bend(last, offset))) {
        last->count++;
        return true;
    }
    if (pieces->n_pieces == SW_VIEW_MOST_PIECES) {
        pieces->total--;
        return false;
    }
    pieces->piece[pieces->n_pieces++] =
        (struct sw_piece){.offset = offset, .bytes = bytes, .count = 1};
    return true;
}

void sw_pieces_end(struct sw_pieces *pieces)
{
    if (pieces->open_bytes != 0 && !fold(pieces, pieces->open_offset, pieces->open_bytes))
        pieces->truncated = true;
    pieces->open_bytes = 0;
}

int sw_pieces_add(void *context, int64_t offset, int64_t bytes)
{
    struct sw_pieces *pieces = context;
    if (bytes <= 0)
        return 0;
    if (pieces->truncated || pieces->visited++ == MOST_VISITED) {
        pieces->truncated = true;
        return 1;
    }
    if (pieces->open_bytes != 0 &&
        (uint64_t)offset == (uint64_t)pieces->open_offset + pieces->open_bytes) {
        pieces->open_bytes += (uint64_t)bytes;
        return 0;
    }
    sw_pieces_end(pieces);
    if (pieces->truncated)
        return 1;
    pieces->open_offset = offset;
    pieces->open_bytes = (uint64_t)bytes;
    return 0;
}
