/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* --help, made from the tables. */
#include "kernel.h"

#include <stdio.h>

void sw_help_print(void)
{
    printf("Usage: mpiexec -n RANKS stripewise-kernel [OPTION]...\n"
           "\n"
           "Write and read arrays the way that simulation programs do, and tell what it took:\n"
           "per step and phase the least, median and greatest time over the ranks.\n"
           "\nPatterns (--pattern), with what --size takes:\n");
    for (size_t i = 0; sw_patterns[i] != NULL; i++)
        printf("  %-8s %s\n           --size %s\n", sw_patterns[i]->name, sw_patterns[i]->summary,
               sw_patterns[i]->size_help);
    printf("\nBack ends (--backend):\n");
    for (size_t i = 0; sw_backends[i] != NULL; i++)
        printf("  %-8s %s\n", sw_backends[i]->name, sw_backends[i]->summary);
    sw_command_print(sw_option_rows, 22);
    printf(
        "\nExit code: 0 all went well; 1 a call failed or an element is wrong; 2 the request is\n"
        "impossible.\n"
        "\nExamples:\n"
        "  mpiexec -n 4 stripewise-kernel --pattern array3d --backend mpiio --mode collective "
        "--size 256,256,256 --verify\n"
        "  mpiexec -n 4 stripewise-kernel --pattern btio --backend mpiio --size 64,64,64 "
        "--hint romio_ds_write=disable\n"
        "  mpiexec -n 2 stripewise-kernel --pattern flash --backend hdf5 --steps 3 "
        "--compute 0.5 --json out.json\n"
        "  mpiexec -n 2 stripewise-kernel --backend posix --layout per-process "
        "--op write-read --fsync\n"
        "  mpiexec -n 4 stripewise-kernel --backend adios2 --engine BP5 --parameter "
        "NumAggregators=1 --open-once --steps 4\n");
}
