/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI-IO layer tells the emulated storage. */
#ifndef STRIPEWISE_HINTS_H
#define STRIPEWISE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

bool sw_emulating(void);
/* MPI_File_open of this thread begins with these "key=value\n" lines. */
void sw_emulate_open_begin(const char *text, bool is_openmpi);
void sw_emulate_open_end(void);
/* Whether this thread is within MPI_File_open, and on which node; false: nothing is emulated. */
bool sw_emulate_opens(uint32_t *node);
/* Where this rank's own data of the collective call that begins lies; 0 bytes: not together. */
void sw_emulate_share(int64_t start, int64_t bytes);

#endif
