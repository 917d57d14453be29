/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every environment variable that the launcher (Python) passes to a program (C).
 * src/stripewise/run/runtime/_environment.py has the same names.
 */
#ifndef STRIPEWISE_ENVIRONMENT_H
#define STRIPEWISE_ENVIRONMENT_H

/* Directory for the containers; if unset, nothing is recorded. */
#define SW_ENV_DIRECTORY "STRIPEWISE_DIRECTORY"
/* Identity of the run (UUID text); copied into every container. */
#define SW_ENV_RUN_ID "STRIPEWISE_RUN_ID"
/* The flat configuration itself, see flat.h. It is inherited with the environment, so that no rank
 * reads a file and nothing is broadcast. */
#define SW_ENV_CONFIGURATION "STRIPEWISE_CONFIGURATION"
/* Path of a flat configuration file, for a configuration too long for the environment. */
#define SW_ENV_CONFIGURATION_FILE "STRIPEWISE_CONFIGURATION_FILE"
/* Directories with MPI plug-ins, colon separated. */
#define SW_ENV_PLUGIN_PATH "STRIPEWISE_PLUGIN_PATH"
/* "1": fsync regular files that were written when they are closed. */
#define SW_ENV_SYNC "STRIPEWISE_SYNC"
/* "DEVICE:INODE,DEVICE:INODE": files to which standard output and standard error of the run itself
 * go, "-": none. Those of a program that are other regular files are counted. Unset: none are. */
#define SW_ENV_OUTPUTS "STRIPEWISE_OUTPUTS"
/* Path prefixes that are never recorded / always recorded, colon separated. */
#define SW_ENV_EXCLUDE "STRIPEWISE_EXCLUDE"
#define SW_ENV_INCLUDE "STRIPEWISE_INCLUDE"
/* Colon separated directories. Outside of them, changing a file that existed before the run, or
 * creating one, fails with EROFS (a trial must not change the user's files). */
#define SW_ENV_WRITABLE "STRIPEWISE_WRITABLE"
/* Colon separated directories in which files may be created nevertheless, but not below them.
 * Default: /tmp, /var/tmp, those named by TMPDIR and SLURM_TMPDIR, and everything below /run,
 * XDG_CACHE_HOME and hidden directories in HOME. */
#define SW_ENV_TEMPORARY "STRIPEWISE_TEMPORARY"
/* A file that collects what STRIPEWISE_WRITABLE refused, and which programs it does not cover
 * (hooks/refused.h). Without STRIPEWISE_DIRECTORY, the run begins with the birth of this file's
 * directory.
 */
#define SW_ENV_REFUSED "STRIPEWISE_REFUSED"
/* A directory: files in it that the program removes get a second name in its subdirectory
 * .stripewise-removed, so that they can be compared with those of other runs. */
#define SW_ENV_KEEP_REMOVED "STRIPEWISE_KEEP_REMOVED"
/* "/FROM=/TO:/FROM=/TO": paths below FROM are looked up below TO. "/FROM/out*=/TO": files directly
 * in /FROM whose names match are created in TO. */
#define SW_ENV_REDIRECT "STRIPEWISE_REDIRECT"
/* "write=1000000:stat=50000": requests of these kinds take at least that many nanoseconds. */
#define SW_ENV_HOLD "STRIPEWISE_HOLD"
/* Mappings of up to 4 emulated storages (emulate.h), colon separated: a request on a file below a
 * storage's root ends when that storage would have completed it. */
#define SW_ENV_EMULATE "STRIPEWISE_EMULATE"
/* Mapping through which the ranks of a first run agree on settings from the second file of a
 * series on (series.h); the settings are in the configuration (flat.h). */
#define SW_ENV_SERIES "STRIPEWISE_SERIES"
/* "1": the library is loaded but does nothing (to measure its cost). */
#define SW_ENV_DISABLE "STRIPEWISE_DISABLE"
/* "1": print one line per problem to standard error at exit. */
#define SW_ENV_VERBOSE "STRIPEWISE_VERBOSE"
/* Maximum size of the container per process (default 64 MiB). */
#define SW_ENV_MAX_BYTES "STRIPEWISE_MAX_BYTES"
/* Maximum size of a run's container on a node, over all processes (default 1 GiB). */
#define SW_ENV_RUN_BYTES "STRIPEWISE_RUN_BYTES"
/* Record events (trace.h). "fold": equal calls at a regular stride become one record; "all": every
 * call gets its own. Unset or "": only counters. */
#define SW_ENV_CAPTURE "STRIPEWISE_CAPTURE"
/* Maximum size of events per process (default 64 MiB), in addition to the counters. */
#define SW_ENV_CAPTURE_BYTES "STRIPEWISE_CAPTURE_BYTES"

#endif
