/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* quiet FILE: linked with MPI, and never starts it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int initialized = 1;
    MPI_Initialized(&initialized);
    FILE *file = fopen(argv[argc - 1], "w");
    fprintf(file, "initialized %d\n", initialized);
    fclose(file);
    return initialized;
}
