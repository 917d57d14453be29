/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The members of both families.  A new one: its file, its `extern` in kernel.h, its row here. */
#include "kernel.h"

#include <string.h>

const struct sw_pattern *const sw_patterns[] = {
    &sw_pattern_array3d,  &sw_pattern_flash,
    &sw_pattern_flash_io, &sw_pattern_btio,
    &sw_pattern_vpic,     &sw_pattern_vorpal,
    &sw_pattern_gcrm,     &sw_pattern_wrf,
    &sw_pattern_blocks,   NULL,
};

const struct sw_backend *const sw_backends[] = {
    &sw_backend_posix,   &sw_backend_mpiio,  &sw_backend_hdf5, &sw_backend_netcdf4,
    &sw_backend_pnetcdf, &sw_backend_adios2, &sw_backend_null, NULL,
};

const struct sw_pattern *sw_pattern_find(const char *name)
{
    for (size_t i = 0; sw_patterns[i] != NULL; i++)
        if (strcmp(sw_patterns[i]->name, name) == 0)
            return sw_patterns[i];
    return NULL;
}

const struct sw_backend *sw_backend_find(const char *name)
{
    for (size_t i = 0; sw_backends[i] != NULL; i++)
        if (strcmp(sw_backends[i]->name, name) == 0)
            return sw_backends[i];
    return NULL;
}
