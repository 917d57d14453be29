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

/* Maps the file that SW_ENV_SERIES names.  Once, at load. */
void sw_presence_load(void);
/* This rank has the library and all that agreeing needs; after MPI_Init, unless its world was
 * spawned. */
void sw_presence_mark(int rank, int world_size);
/* A file is mapped.  A process without one never marks: its world is apart. */
bool sw_presence_asked(void);
/* All ranks of the run are together.  The same answer on all of them, whenever they ask, and
 * always the same; may take half a second, once. */
bool sw_presence_together(void);
/* The words of the outcome; NULL without a file. */
struct sw_series_mapping *sw_presence_outcome(void);

#endif
