/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the second file of a series on, if the ranks agree (docs/design/series.md). */
#ifndef STRIPEWISE_MPIIO_SERIES_H
#define STRIPEWISE_MPIIO_SERIES_H

#include "core/presence.h"
#include "layers/mpiio.h"

/* Just before MPI_File_open, whatever becomes of it: adds hints if all ranks of `comm` agree.
 * Collective there, if the ranks are together.  `hints` NULL: this rank only takes part.
 * The key of the series, 0: none. */
uint64_t sw_mpi_series_agree(struct sw_mpi_hints *hints, sw_handle comm, const char *path,
                             int amode);
void sw_mpi_series_opened(uint64_t key, sw_handle handle, struct sw_file *file);
void sw_mpi_series_viewed(sw_handle handle, sw_handle filetype);
/* Just before MPI_File_close. */
void sw_mpi_series_closing(sw_handle handle);

static inline uint64_t sw_mpi_series_open(struct sw_mpi_hints *hints, sw_handle comm,
                                          const char *path, int amode)
{
    return sw_presence_asked() ? sw_mpi_series_agree(hints, comm, path, amode) : 0;
}

#endif
