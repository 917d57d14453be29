/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complete layer that wraps nothing: copy it to begin a new one. Its only entry point enters and
 * leaves without a real call in between, so that it measures the cost of the core itself.
 */
#include "../core/internal.h"

SW_EXPORT int64_t sw_null_operation(const char *path, int64_t bytes, int64_t offset);

/* Counts a write that does not take place. */
int64_t sw_null_operation(const char *path, int64_t bytes, int64_t offset)
{
    static struct sw_file *file;
    struct sw_call call;
    if (file == NULL)
        file = sw_file_get(SW_LAYER_PNETCDF, path);
    if (!sw_enter(&call, SW_LAYER_PNETCDF))
        return bytes;
    sw_leave_data(&call, file, SW_OP_WRITE, bytes, offset);
    return bytes;
}

static void start(void)
{
}

static void finish(enum sw_ending ending)
{
    (void)ending;
}

const struct sw_layer_table sw_layer_null = {
    .name = "null",
    .start = start,
    .finish = finish,
};
