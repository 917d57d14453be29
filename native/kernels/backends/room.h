/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef STRIPEWISE_KERNEL_ROOM_H
#define STRIPEWISE_KERNEL_ROOM_H

#include "../kernel.h"

/*
 * For libraries that a full disk makes hang or lie: false with sw_fail on all ranks where the
 * file system has less room than the whole run writes.  Collective; before the file is made.
 *
 * Source, measured: BP5 of ADIOS2 2.12 waits for ever for the rank whose write failed; PnetCDF
 * 1.12 over the OMPIO of Open MPI 4.1 reports success for what was not written.
 */
bool sw_room_check(struct sw_session *session, const char *call);
/* The directory of session->path, in SW_PATH_BYTES. */
void sw_room_directory(const struct sw_session *session, char *directory);

#endif
