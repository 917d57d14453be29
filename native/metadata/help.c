/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* --help, made from the tables. */
#include "metadata.h"

void sw_help_print(void)
{
    printf("Usage: mpiexec -n RANKS stripewise-metadata [OPTION]...\n"
           "\n"
           "Time operations on names, each by itself: how many a second, and how long they take.\n"
           "\nOperations (--phases), in their order; (*): by default:\n");
    for (int o = 0; o < SW_OPERATIONS; o++)
        printf("  %-17s %s%s\n", sw_operation_rows[o].name, sw_operation_rows[o].summary,
               sw_operation_rows[o].is_default              ? " (*)"
               : o == SW_CREATE_TREE || o == SW_REMOVE_TREE ? " (with --depth)"
                                                            : "");
    sw_command_print(sw_option_rows, 20);
    printf("\nAll files lie in a new directory stripewise-metadata-HEX, which is removed at the "
           "end.\n"
           "\nExit code: 0 all went well; 1 an operation failed; 2 the request is impossible; "
           "128 and\nmore: a signal ended it.\n"
           "\nExamples:\n"
           "  mpiexec -n 4 stripewise-metadata --directory /scratch/me --files 10000\n"
           "  mpiexec -n 4 stripewise-metadata --sharing own --file-bytes 3901 --fsync\n"
           "  mpiexec -n 4 stripewise-metadata --depth 3 --width 4 --spread leaves --random\n"
           "  mpiexec -n 4 stripewise-metadata --files 1000000 --stonewall 30 --json out.json\n");
}
