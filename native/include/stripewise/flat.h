/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flat configuration: the only format that C reads. Python compiles every other format to it
 * (src/stripewise/settings/formats/_flat.py).
 *
 *   stripewise-flat 1
 *   file     <match> <override: 0|1>
 *   mpiio    <key> <value>
 *   hdf5     <property> <value>            e.g.  hdf5 alignment 1048576,1048576
 *   pnetcdf  <key> <value>                 hints that PnetCDF itself reads
 *   adios2   <parameter> <value>           of the engine; "engine" chooses the engine
 *   dataset  <match>
 *   hdf5     <property> <value>            inside a dataset: creation and transfer properties
 *   series   <kind> <ranges>               then mpiio statements: for later files of a series
 *
 * One statement per line, with fields separated by one TAB. Inside a field, every byte below 0x21,
 * '%' and 0x7f is written as %XX. Settings belong to the preceding `file`, `hdf5` also to a
 * preceding `dataset`. All entries that match a file apply in order; later ones override earlier
 * ones key by key. A match without a slash is a glob (fnmatch, FNM_NOESCAPE off) on the basename;
 * with slashes, on as many trailing path components as it has; a ROMIO prefix ("ufs:", "lustre:")
 * of the file name is removed first.
 *
 * A `series` statement belongs to no file: its hints are for files whose predecessors (names that
 * only differ in digits) were of the given kind: write or read, collective or independent,
 * contiguous or interleaved (a call moves several pieces of the file), as in
 * write-collective-interleaved. <ranges> are six integers: minimum and maximum number of ranks, of
 * bytes moved by all of them, and of bytes in a contiguous piece of the file. See
 * docs/design/series.md. Booleans are 0 or 1; lists are comma separated decimal integers.
 */
#ifndef STRIPEWISE_FLAT_H
#define STRIPEWISE_FLAT_H

#define SW_FLAT_HEADER "stripewise-flat 1"

#endif
