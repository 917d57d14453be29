/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapping through which the ranks of a run on one node know that every one of them has the
 * library, so that they can agree on settings for a series of files. The launcher (Python,
 * src/stripewise/run/runtime/_inplace.py) creates the file in a memory file system, with zeros
 * behind the first three members, names it in SW_ENV_SERIES and reads the outcome after the run.
 * docs/design/series.md describes its purpose. All other words are changed only by atomic
 * operations. Little-endian.
 */
#ifndef STRIPEWISE_SERIES_H
#define STRIPEWISE_SERIES_H

#include <stdint.h>

#define SW_SERIES_MAGIC "SWSERIES"
#define SW_SERIES_VERSION 1
#define SW_SERIES_SLOTS 4096 /* ranks; a larger job is not changed */

/* Decided once, by the first rank that needs it, and never changed. */
enum sw_series_decision {
    SW_SERIES_UNDECIDED = 0,
    SW_SERIES_TOGETHER = 1, /* all ranks take part in agreements, in any case */
    SW_SERIES_APART = 2,    /* no rank does */
};

/* Reasons why opens got no settings: bits of `reasons`. */
#define SW_SERIES_DIFFER 0x1u   /* the ranks opened different files, or with different hints */
#define SW_SERIES_UNFIT 0x2u    /* no settings in the table fit the first file */
#define SW_SERIES_UNKNOWN 0x4u  /* some rank has no data about a first file */
#define SW_SERIES_UNMERGED 0x8u /* some rank could not merge the hints */
#define SW_SERIES_FEW 0x10u     /* some rank had not registered when the first one had to know */

struct sw_series_mapping {
    char magic[8];
    uint32_t version;
    uint32_t slots;
    uint64_t job;        /* of the registered ranks; 0: none has registered */
    uint32_t world_size; /* of theirs */
    uint32_t marked;     /* number of registered ranks */
    uint32_t decision;   /* enum sw_series_decision */
    uint32_t first;      /* number, in its series, of the first file with settings; 0: none */
    uint32_t opens;      /* opens for which ranks exchanged data */
    uint32_t adopted;    /* those of them with settings */
    uint32_t reasons;
    uint32_t reserved[3];
    uint32_t process[SW_SERIES_SLOTS]; /* by rank; 0: not registered */
};

#endif
