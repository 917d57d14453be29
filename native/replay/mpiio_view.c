/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A file view from its folded pieces: vectors of vectors, so that it stays as small as they. */
#include "replay.h"

#include <limits.h>
#include <stdlib.h>

/* `bytes` in a row, of elementary types where they fit. */
static MPI_Datatype row_of(int64_t bytes, MPI_Datatype etype, int64_t etype_bytes)
{
    MPI_Datatype row;
    bool fits = bytes % etype_bytes == 0 && bytes / etype_bytes <= INT_MAX;
    if (fits)
        MPI_Type_contiguous((int)(bytes / etype_bytes), etype, &row);
    else
        MPI_Type_contiguous((int)bytes, MPI_BYTE, &row);
    return row;
}

/* `count` of a type at a distance; takes the type. */
static MPI_Datatype vector_of(MPI_Datatype type, int64_t count, int64_t distance)
{
    MPI_Datatype vector;
    if (count == 1)
        return type;
    MPI_Type_create_hvector((int)count, 1, (MPI_Aint)distance, type, &vector);
    MPI_Type_free(&type);
    return vector;
}

/* The first `count` of the pieces that an entry stands for, as one type. */
static MPI_Datatype pieces_of(const struct sw_replay_piece *piece, int64_t count,
                              MPI_Datatype etype, int64_t etype_bytes)
{
    int64_t first = piece->inner[0] > 0 && piece->inner[0] < count ? piece->inner[0] : count;
    int64_t turns = count / first;
    int64_t second = piece->inner[1] > 0 && piece->inner[1] < turns ? piece->inner[1] : turns;
    MPI_Datatype type = row_of(piece->bytes, etype, etype_bytes);
    type = vector_of(type, first, piece->stride[0]);
    type = vector_of(type, second, piece->stride[1]);
    return vector_of(type, turns / second, piece->stride[2]);
}

/* How many of `count` pieces make whole turns of all levels. */
static int64_t whole_turns(const struct sw_replay_piece *piece, int64_t count)
{
    int64_t first = piece->inner[0] > 0 ? piece->inner[0] : count;
    int64_t second = piece->inner[1] > 0 ? piece->inner[1] : 1;
    if (count >= first * second)
        return count / (first * second) * (first * second);
    return count >= first ? count / first * first : count;
}

static int64_t place_of(const struct sw_replay_piece *piece, int64_t k)
{
    int64_t first = piece->inner[0] > 0 ? piece->inner[0] : INT64_MAX;
    int64_t second = piece->inner[1] > 0 ? piece->inner[1] : INT64_MAX;
    int64_t outer = k / first;
    return k % first * piece->stride[0] + outer % second * piece->stride[1] +
           outer / second * piece->stride[2];
}

/* With those bounds; takes the type, whose pieces are as seen from the lower one.  A type resized
 * to begin elsewhere than at 0 is shifted twice by ROMIO (MPICH 4.0, Open MPI 4.1): this one is
 * resized at 0, and then put where it belongs. */
static MPI_Datatype bounded(MPI_Datatype type, int64_t lower, int64_t extent)
{
    const int once = 1;
    const MPI_Aint place = (MPI_Aint)lower;
    MPI_Datatype at_zero;
    MPI_Datatype placed;
    MPI_Type_create_resized(type, 0, (MPI_Aint)extent, &at_zero);
    MPI_Type_free(&type);
    if (lower == 0)
        return at_zero;
    MPI_Type_create_hindexed(1, &once, &place, at_zero, &placed);
    MPI_Type_free(&at_zero);
    return placed;
}

void sw_replay_view_types(const struct sw_replay_view *view, MPI_Datatype *etype,
                          MPI_Datatype *filetype)
{
    /* An entry has at most three parts: whole turns, whole rows, the rest. */
    size_t room = 3 * (size_t)view->n_pieces + 1;
    int *lengths = sw_replay_memory(room * sizeof *lengths);
    MPI_Aint *places = sw_replay_memory(room * sizeof *places);
    MPI_Datatype *types = sw_replay_memory(room * sizeof(MPI_Datatype));
    MPI_Datatype joined;
    int n = 0;
    *etype = MPI_BYTE;
    if (view->etype_bytes > 1) {
        MPI_Type_contiguous((int)view->etype_bytes, MPI_BYTE, etype);
        MPI_Type_commit(etype);
    }
    for (int64_t p = 0; p < view->n_pieces; p++) {
        const struct sw_replay_piece *piece = &view->pieces[p];
        for (int64_t done = 0; done < piece->count && (size_t)n < room;) {
            int64_t count = whole_turns(piece, piece->count - done);
            lengths[n] = 1;
            places[n] = (MPI_Aint)(piece->offset + place_of(piece, done) - view->lower);
            types[n++] = pieces_of(piece, count, *etype, view->etype_bytes);
            done += count;
        }
    }
    MPI_Type_create_struct(n, lengths, places, types, &joined);
    *filetype = bounded(joined, view->lower, view->extent);
    MPI_Type_commit(filetype);
    for (int i = 0; i < n; i++)
        MPI_Type_free(&types[i]);
    free(lengths);
    free(places);
    free(types);
}
