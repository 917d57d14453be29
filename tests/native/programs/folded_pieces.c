/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the pieces "OFFSET BYTES" of a script and prints the
 * entries: "offset bytes count inner0 inner1 stride0 stride1 stride2", then "total truncated".
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/pieces.c"

int main(int count, char **arguments)
{
    static struct sw_pieces pieces;
    int64_t offset;
    int64_t bytes;
    FILE *script = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (script == NULL)
        return 1;
    while (fscanf(script, "%" SCNd64 " %" SCNd64, &offset, &bytes) == 2) {
        if (sw_pieces_add(&pieces, offset, bytes) != 0)
            break;
    }
    sw_pieces_end(&pieces);
    for (uint32_t i = 0; i < pieces.n_pieces; i++) {
        const struct sw_piece *p = &pieces.piece[i];
        printf("%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64
               " %" PRId64 "\n",
               p->offset, p->bytes, p->count, p->inner[0], p->inner[1], p->stride[0], p->stride[1],
               p->stride[2]);
    }
    printf("%" PRIu64 " %d\n", pieces.total, pieces.truncated);
    return fclose(script);
}
