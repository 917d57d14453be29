/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines how much a transfer moves with as few queries as possible: a call of HDF5 costs some
 * 25 ns. Predefined datatypes cannot be changed or closed, so their sizes are queried once. They
 * are recognised by their identifiers: whatever lies between two of them was created with them,
 * when the library started.
 */
#include "layers/hdf5.h"
#include "layers/once.h"

#define MOST_COPIES 4
#define MOST_TYPES 256

/* Bytes of predefined datatypes by copy of HDF5; 0: not queried yet. */
static uint16_t sizes[MOST_COPIES][MOST_TYPES];

/* Returns where the size of a predefined datatype is cached, NULL if it may be one of the
 * program's. */
static uint16_t *kept(const struct sw_h5 *h5, sw_hid type)
{
    sw_hid first = INT64_MAX;
    sw_hid last = 0;
    for (size_t i = 0; i < SW_H5_PREDEFINED; i++) {
        sw_hid id = h5->predefined[i] != NULL ? *h5->predefined[i] : 0;
        first = id < first ? id : first;
        last = id > last ? id : last;
    }
    if (first <= 0 || type < first || type > last || type - first >= MOST_TYPES ||
        h5->number >= MOST_COPIES)
        return NULL;
    return &sizes[h5->number][type - first];
}

static int64_t type_bytes(const struct sw_h5 *h5, sw_hid type)
{
    uint16_t *at = kept(h5, type);
    uint16_t known = at != NULL ? __atomic_load_n(at, __ATOMIC_RELAXED) : 0;
    if (known != 0)
        return known;
    size_t bytes = h5->H5Tget_size(type);
    if (at != NULL && bytes <= UINT16_MAX)
        __atomic_store_n(at, (uint16_t)bytes, __ATOMIC_RELAXED);
    return (int64_t)bytes;
}

static int64_t all_points(const struct sw_h5 *h5, sw_hid dataset)
{
    sw_hid space = h5->H5Dget_space(dataset);
    if (space < 0)
        return 0;
    int64_t points = h5->H5Sget_simple_extent_npoints(space);
    (void)h5->H5Sclose(space);
    return points;
}

static int64_t points_of(const struct sw_h5 *h5, const struct sw_h5_part *part)
{
    if (sw_h5_is_space(part->memory))
        return h5->H5Sget_select_npoints(part->memory);
    if (sw_h5_is_space(part->in_file))
        return h5->H5Sget_select_npoints(part->in_file);
    if (part->in_file != SW_H5_SPACE_ALL) {
        if (sw_once(SW_LAYER_HDF5, "plist"))
            sw_note("HDF5: bytes of transfers whose selection is in their property list "
                    "(H5S_PLIST) are not known, and counted as none");
        return 0;
    }
    return all_points(h5, part->dataset);
}

int64_t sw_h5_bytes(const struct sw_h5 *h5, const struct sw_h5_part *part, int64_t elements)
{
    int64_t bytes;
    if (elements < 0)
        elements = points_of(h5, part);
    if (elements <= 0 || __builtin_mul_overflow(elements, type_bytes(h5, part->type), &bytes))
        return 0;
    return bytes;
}
