/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI-IO layer tells the emulated storage. */
#ifndef STRIPEWISE_HINTS_H
#define STRIPEWISE_HINTS_H

#include <stdbool.h>

bool sw_emulating(void);
/* MPI_File_open of this thread begins with these "key=value\n" lines. */
void sw_emulate_open_begin(const char *text);
void sw_emulate_open_end(void);

#endif
