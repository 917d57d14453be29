/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI-IO layer reports to the emulated storage. */
#ifndef STRIPEWISE_HINTS_H
#define STRIPEWISE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

extern unsigned sw_emulators_used; /* 0: nothing is emulated */
struct sw_emulator;                /* one storage */
/* MPI_File_open of this thread begins with these "key=value\n" lines. Returns the storage of the
 * file; NULL if there is none, or it is unknown. */
struct sw_emulator *sw_emulate_open_begin(const char *path, bool creates, const char *text,
                                          bool is_openmpi);
void sw_emulate_open_end(void);
/* Returns whether this thread is within MPI_File_open of a file on an emulated storage, and its
 * node. */
bool sw_emulate_opens(uint32_t *node);
/* Sets the range of this rank's own data in the collective call that begins; 0 bytes if it is not
 * contiguous. `storage`: of the file, if known. */
void sw_emulate_share(struct sw_emulator *storage, int64_t start, int64_t bytes);

#endif
