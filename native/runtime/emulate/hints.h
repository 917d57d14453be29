/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI-IO layer tells the emulated storage. */
#ifndef STRIPEWISE_HINTS_H
#define STRIPEWISE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

extern unsigned sw_emulators_used; /* 0: nothing is emulated */
struct sw_emulator;                /* one storage */
/* MPI_File_open of this thread begins with these "key=value\n" lines.  The storage that the file
 * will be on; NULL: none, or it is not known. */
struct sw_emulator *sw_emulate_open_begin(const char *path, bool creates, const char *text,
                                          bool is_openmpi);
void sw_emulate_open_end(void);
/* Whether this thread is within MPI_File_open of an emulated storage's file, and on which node. */
bool sw_emulate_opens(uint32_t *node);
/* Where this rank's own data of the collective call that begins lies; 0 bytes: not together.
 * `storage`: of the file, as far as it is known. */
void sw_emulate_share(struct sw_emulator *storage, int64_t start, int64_t bytes);

#endif
