/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes of an emulated machine. ROMIO places its aggregators by processor names, which it queries
 * within MPI_File_open: there, each virtual node has its own name. Elsewhere, the program gets the
 * real one.
 */
#include <stdio.h>
#include <string.h>

#include "layers/mpiio.h"

#define SHORTEST_LIMIT 128 /* MPI_MAX_PROCESSOR_NAME of MPICH; Open MPI has 256 */

typedef int name_function(char *, int *);

static int name(name_function *real, char *out, int *bytes)
{
    uint32_t node;
    int result = real(out, bytes);
    if (result != SW_MPI_SUCCESS || !sw_emulate_opens(&node) || *bytes < 0)
        return result;
    char text[16];
    int added = snprintf(text, sizeof text, "-node%u", node);
    if (*bytes + added < SHORTEST_LIMIT) {
        memcpy(out + *bytes, text, (size_t)added + 1);
        *bytes += added;
    }
    return result;
}

/* clang-format off */
SW_MPI_EXPORTED(MPI_Get_processor_name, (char *out, int *bytes), (char *, int *),
                name(real, out, bytes))
SW_MPI_EXPORTED(PMPI_Get_processor_name, (char *out, int *bytes), (char *, int *),
                name(real, out, bytes))
/* clang-format on */
