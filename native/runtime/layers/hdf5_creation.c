/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Dataset creation properties. */
#include <string.h>

#include "layers/hdf5.h"

#define MAX_RANK 32 /* H5S_MAX_RANK */
#define LAYOUT_CONTIGUOUS 1
#define LAYOUT_CHUNKED 2
#define UNLIMITED UINT64_MAX

static enum sw_h5_outcome outcome(int status)
{
    return status < 0 ? SW_H5_REFUSED : SW_H5_APPLIED;
}

static enum sw_h5_outcome refuse(struct sw_h5_creation *creation, const char *why)
{
    creation->why = why;
    return SW_H5_REFUSED;
}

/* Returns NULL if a dataset of this extent can have these chunks, otherwise why not. */
static const char *check_chunk(const struct sw_h5_creation *creation, const uint64_t *chunk,
                               size_t rank)
{
    const struct sw_h5 *h5 = creation->h5;
    uint64_t dimensions[MAX_RANK];
    uint64_t maxima[MAX_RANK];
    uint64_t elements = 1;
    if (rank == 0 || h5->H5Sget_simple_extent_ndims(creation->space) != (int)rank)
        return "the dataset has another number of dimensions";
    if (h5->H5Sget_simple_extent_dims(creation->space, dimensions, maxima) < 0)
        return "the extent is not simple";
    for (size_t i = 0; i < rank; i++) {
        if (chunk[i] == 0 || chunk[i] > UINT32_MAX / elements)
            return "a chunk must hold 1 to 2**32 - 1 elements";
        elements *= chunk[i];
        if (maxima[i] != UNLIMITED && chunk[i] > maxima[i])
            return "a chunk is larger than the dataset may become";
        if (maxima[i] == dimensions[i] && chunk[i] > dimensions[i])
            return "a chunk is larger than the dataset";
    }
    return NULL;
}

static enum sw_h5_outcome set_chunk(struct sw_h5_creation *creation, const char *value,
                                    bool override)
{
    const struct sw_h5 *h5 = creation->h5;
    uint64_t chunk[MAX_RANK];
    if (!h5->H5Pget_layout || !h5->H5Pset_chunk || !h5->H5Pget_external_count)
        return SW_H5_REFUSED;
    int layout = h5->H5Pget_layout(creation->list);
    if (layout == LAYOUT_CHUNKED && !override)
        return SW_H5_KEPT;
    if (layout != LAYOUT_CHUNKED && layout != LAYOUT_CONTIGUOUS)
        return refuse(creation, "the program chose a compact or virtual layout");
    if (h5->H5Pget_external_count(creation->list) != 0)
        return refuse(creation, "the data is in external files");
    size_t rank = sw_h5_numbers(value, chunk, MAX_RANK);
    const char *problem = check_chunk(creation, chunk, rank);
    if (problem != NULL)
        return refuse(creation, problem);
    return outcome(h5->H5Pset_chunk(creation->list, (int)rank, chunk));
}

/* Names of H5D_fill_time_t and H5D_alloc_time_t, by value. */
static const char *const fill_times[] = {"alloc", "never", "ifset", NULL};
static const char *const alloc_times[] = {"default", "early", "late", "incr", NULL};

static enum sw_h5_outcome set_fill_time(struct sw_h5_creation *creation, const char *value,
                                        bool override)
{
    const struct sw_h5 *h5 = creation->h5;
    int wanted = sw_h5_choice(value, fill_times);
    int now = 0;
    int usual = 0;
    if (!h5->H5Pget_fill_time || !h5->H5Pset_fill_time || wanted < 0)
        return refuse(creation, "the value is unknown");
    if (h5->H5Pget_fill_time(creation->list, &now) < 0 ||
        h5->H5Pget_fill_time(creation->fresh, &usual) < 0)
        return SW_H5_REFUSED;
    return !override && now != usual ? SW_H5_KEPT
                                     : outcome(h5->H5Pset_fill_time(creation->list, wanted));
}

/* HDF5's default depends on the layout: setting chunks, by the program or by us, changes it
 * (H5Pset_alloc_time, documented). */
static int usual_alloc_time(int layout)
{
    static const char *const by_layout[] = {"early", "late", "incr", "incr"};
    bool known = layout >= 0 && (size_t)layout < sizeof by_layout / sizeof by_layout[0];
    return known ? sw_h5_choice(by_layout[layout], alloc_times) : -1;
}

static enum sw_h5_outcome set_alloc_time(struct sw_h5_creation *creation, const char *value,
                                         bool override)
{
    const struct sw_h5 *h5 = creation->h5;
    int wanted = sw_h5_choice(value, alloc_times);
    int now = 0;
    if (!h5->H5Pget_alloc_time || !h5->H5Pset_alloc_time || !h5->H5Pget_layout || wanted < 0)
        return refuse(creation, "the value is unknown");
    if (h5->H5Pget_alloc_time(creation->list, &now) < 0)
        return SW_H5_REFUSED;
    if (!override && now != usual_alloc_time(h5->H5Pget_layout(creation->list)))
        return SW_H5_KEPT;
    return outcome(h5->H5Pset_alloc_time(creation->list, wanted));
}

enum sw_h5_outcome sw_h5_set_creation(struct sw_h5_creation *creation,
                                      const struct sw_setting *setting)
{
    const char *value = setting->value;
    bool override = setting->override != 0;
    creation->why = NULL;
    if (strcmp(setting->key, "chunk") == 0)
        return set_chunk(creation, value, override);
    if (strcmp(setting->key, "fill_time") == 0)
        return set_fill_time(creation, value, override);
    if (strcmp(setting->key, "alloc_time") == 0)
        return set_alloc_time(creation, value, override);
    return SW_H5_OTHER;
}
