/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup series KIND RANKS BYTES RUN: what it says for later files of a series;
 * lookup mpiio|hdf5|pnetcdf|adios2 PATH [DATASET]: what the configuration in the environment says,
 * as "key value override" lines; notes go to standard error.  Stands in for the core;
 * LOOKUP_CRAY=1 is a Cray MPICH.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

void sw_inside_begin(void)
{
}

void sw_inside_end(void)
{
}

void sw_process_flag(uint32_t flags)
{
    fprintf(stderr, "flag %#x\n", flags);
}

void sw_note(const char *text)
{
    fprintf(stderr, "note %s\n", text);
}

bool sw_mpi_applies_mpich_hints(void)
{
    return getenv("LOOKUP_CRAY") != NULL;
}

void sw_file_counted(const struct sw_file *file, struct sw_op_counters ops[SW_OP_COUNT])
{
    memcpy(ops, file, SW_OP_COUNT * sizeof *ops);
}

static size_t look_up_series(char **words, struct sw_setting *settings)
{
    struct sw_file_use use = {.writing = strncmp(words[0], "write", 5) == 0,
                              .collective = strstr(words[0], "collective") != NULL,
                              .interleaved = strstr(words[0], "interleaved") != NULL,
                              .ranks = atoll(words[1]),
                              .bytes = atoll(words[2]),
                              .run_bytes = atoll(words[3])};
    return sw_adopt_any_series() ? sw_adopt_lookup_series(&use, settings, SW_MAX_SETTINGS) : 0;
}

int main(int argc, char **argv)
{
    struct sw_setting settings[SW_MAX_SETTINGS];
    if (argc < 3)
        return 2;
    sw_adopt_load();
    enum sw_setting_group group = SW_SETTING_MPIIO;
    if (strcmp(argv[1], "hdf5") == 0)
        group = SW_SETTING_HDF5;
    else if (strcmp(argv[1], "pnetcdf") == 0)
        group = SW_SETTING_PNETCDF;
    else if (strcmp(argv[1], "adios2") == 0)
        group = SW_SETTING_ADIOS2;
    size_t count = strcmp(argv[1], "series") == 0 && argc == 6
                       ? look_up_series(argv + 2, settings)
                       : sw_adopt_lookup(group, argv[2], argc > 3 ? argv[3] : NULL, settings,
                                         SW_MAX_SETTINGS);
    for (size_t i = 0; i < count; i++)
        printf("%s %s %d\n", settings[i].key, settings[i].value, settings[i].override);
    return 0;
}
