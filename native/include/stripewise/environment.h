/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every environment variable that crosses from the launcher (Python) into a
 * program (C).  src/stripewise/run/runtime/_environment.py names the same ones.
 */
#ifndef STRIPEWISE_ENVIRONMENT_H
#define STRIPEWISE_ENVIRONMENT_H

/* Directory for the containers; unset: nothing is recorded. */
#define SW_ENV_DIRECTORY "STRIPEWISE_DIRECTORY"
/* Identity of the run (UUID text); copied into every container. */
#define SW_ENV_RUN_ID "STRIPEWISE_RUN_ID"
/* The flat configuration itself, see flat.h; inherited with the environment, so
 * that no rank reads a file and nothing is broadcast. */
#define SW_ENV_CONFIGURATION "STRIPEWISE_CONFIGURATION"
/* Path of a flat configuration file, for one too long for the environment. */
#define SW_ENV_CONFIGURATION_FILE "STRIPEWISE_CONFIGURATION_FILE"
/* Directories with MPI plug-ins, colon separated. */
#define SW_ENV_PLUGIN_PATH "STRIPEWISE_PLUGIN_PATH"
/* "1": fsync regular files that were written, when they are closed. */
#define SW_ENV_SYNC "STRIPEWISE_SYNC"
/* Path prefixes that are never recorded / always recorded, colon separated. */
#define SW_ENV_EXCLUDE "STRIPEWISE_EXCLUDE"
#define SW_ENV_INCLUDE "STRIPEWISE_INCLUDE"
/* Colon separated directories: outside of all of them, changing a file that existed before the
 * run, and making one, fails with EROFS (a trial must not touch the user's files). */
#define SW_ENV_WRITABLE "STRIPEWISE_WRITABLE"
/* Colon separated directories directly in which files may be made all the same; unset: /tmp,
 * /var/tmp, those that TMPDIR and SLURM_TMPDIR name, and all below /run, XDG_CACHE_HOME and hidden
 * directories in HOME. */
#define SW_ENV_TEMPORARY "STRIPEWISE_TEMPORARY"
/* A file, to which is added what STRIPEWISE_WRITABLE refused, and which programs it does not reach
 * (hooks/refused.h).  Without STRIPEWISE_DIRECTORY the run begins with the birth of its directory.
 */
#define SW_ENV_REFUSED "STRIPEWISE_REFUSED"
/* A directory: files in it that the program removes get a second name in
 * .stripewise-removed there, so that they can be compared with those of other runs. */
#define SW_ENV_KEEP_REMOVED "STRIPEWISE_KEEP_REMOVED"
/* "/FROM=/TO:/FROM=/TO": what is below FROM is looked for below TO.  "/FROM/out*=/TO": files
 * directly in /FROM whose names match are made in TO. */
#define SW_ENV_REDIRECT "STRIPEWISE_REDIRECT"
/* "write=1000000:stat=50000": requests of these kinds take that many nanoseconds at least. */
#define SW_ENV_HOLD "STRIPEWISE_HOLD"
/* Mappings of up to 4 emulated storages (emulate.h), colon separated: requests end when the one
 * whose root their file is below would have finished them. */
#define SW_ENV_EMULATE "STRIPEWISE_EMULATE"
/* Mapping by which the ranks of a first run agree on settings from the second file of a series on
 * (series.h); the settings are in the configuration (flat.h). */
#define SW_ENV_SERIES "STRIPEWISE_SERIES"
/* "1": the library loads and does nothing (for measuring its cost). */
#define SW_ENV_DISABLE "STRIPEWISE_DISABLE"
/* "1": one line per trouble on stderr at exit. */
#define SW_ENV_VERBOSE "STRIPEWISE_VERBOSE"
/* Most bytes of container per process (default 64 MiB). */
#define SW_ENV_MAX_BYTES "STRIPEWISE_MAX_BYTES"
/* Most bytes of a run's container on a node, all processes together (default 1 GiB). */
#define SW_ENV_RUN_BYTES "STRIPEWISE_RUN_BYTES"
/* Record events (trace.h): "fold": equal calls at a regular stride become one record;
 * "all": every call its own.  Unset or "": counters only. */
#define SW_ENV_CAPTURE "STRIPEWISE_CAPTURE"
/* Most bytes of events per process (default 64 MiB), beside those of the counters. */
#define SW_ENV_CAPTURE_BYTES "STRIPEWISE_CAPTURE_BYTES"

#endif
