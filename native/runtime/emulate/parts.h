/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* How a request is divided among the objects of a file: the stripes of one object form one part.
 * */
#ifndef STRIPEWISE_PARTS_H
#define STRIPEWISE_PARTS_H

#include "emulator.h"

/* The stripes of one request. */
struct sw_stripes {
    uint64_t size;
    uint64_t first; /* number of the stripe */
    uint64_t last;
    uint64_t offset;
    uint64_t end;
    uint32_t count; /* of the file's objects */
    uint32_t parts;
};

struct sw_part {
    uint32_t number; /* in the request */
    uint32_t object;
    uint64_t bytes;
    bool is_ragged; /* begins or ends within a page */
};

static inline struct sw_stripes sw_stripes_of(uint64_t layout, uint64_t offset, uint64_t bytes)
{
    struct sw_stripes stripes = {
        .size = sw_layout_size(layout),
        .count = sw_layout_count(layout),
        .offset = offset,
        .end = offset + bytes,
    };
    stripes.first = offset / stripes.size;
    stripes.last = (stripes.end - (bytes > 0)) / stripes.size;
    uint64_t all = stripes.last - stripes.first + 1;
    stripes.parts = all < stripes.count ? (uint32_t)all : stripes.count;
    return stripes;
}

/* Returns the bytes of stripes first + j, first + j + count, ... of the request. */
static inline struct sw_part sw_part_of(const struct sw_stripes *stripes, uint32_t j,
                                        uint64_t page)
{
    uint64_t size = stripes->size;
    uint32_t count = stripes->count;
    struct sw_part part = {
        .number = j,
        .object = (uint32_t)((stripes->first + j) % count),
        .bytes = ((stripes->last - stripes->first - j) / count + 1) * size,
    };
    if (j == 0) {
        part.bytes -= stripes->offset - stripes->first * size;
        part.is_ragged = stripes->offset % page != 0;
    }
    if ((stripes->last - stripes->first) % count == j) {
        part.bytes -= (stripes->last + 1) * size - stripes->end;
        part.is_ragged |= stripes->end % page != 0;
    }
    part.is_ragged &= part.bytes > 0;
    return part;
}

static inline uint32_t sw_object_target(const struct sw_emulator *storage, uint64_t layout,
                                        uint32_t object, uint32_t node)
{
    const struct sw_emulate_header *header = storage->header;
    if ((header->flags & SW_EMULATE_PRIVATE) != 0)
        return node % header->targets;
    return (sw_layout_first(layout) + object) % header->targets;
}

static inline uint32_t sw_part_target(const struct sw_emulator *storage, uint64_t layout,
                                      const struct sw_part *part, uint32_t node)
{
    return sw_object_target(storage, layout, part->object, node);
}

#endif
