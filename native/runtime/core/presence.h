/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether every rank of the run is known to have the library, and so takes part when ranks agree
 * on something (series.h of the public headers; docs/design/series.md).
 */
#ifndef STRIPEWISE_PRESENCE_H
#define STRIPEWISE_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "stripewise/series.h"

/* Maps the file that SW_ENV_SERIES names. Called once, at load. */
void sw_presence_load(void);
/* Registers this rank, which has the library and everything that agreements need. Called after
 * MPI_Init, unless its world was spawned. */
void sw_presence_mark(int rank, int world_size);
/* Returns whether a file is mapped. A process without one never registers, so its ranks do not
 * agree. */
bool sw_presence_asked(void);
/* Returns whether all ranks of the run take part. The answer is the same on all of them at any
 * time; the first call may take half a second. */
bool sw_presence_together(void);
/* Returns the words of the outcome; NULL without a file. */
struct sw_series_mapping *sw_presence_outcome(void);

#endif
