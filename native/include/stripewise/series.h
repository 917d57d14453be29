/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapping by which the ranks of a run on one node know that every one of them has the library,
 * so that they can agree on settings for a series of files.  The launcher (Python,
 * src/stripewise/run/runtime/_inplace.py) makes the file in a memory file system, of zeros behind
 * the first three members, names it in SW_ENV_SERIES and reads the outcome when the run is over.
 * docs/design/series.md says what for.  All other words are changed by atomic operations alone.
 * Little-endian.
 */
#ifndef STRIPEWISE_SERIES_H
#define STRIPEWISE_SERIES_H

#include <stdint.h>

#define SW_SERIES_MAGIC "SWSERIES"
#define SW_SERIES_VERSION 1
#define SW_SERIES_SLOTS 4096 /* ranks; a larger job is left alone */

/* Made once, by the first rank that has to know, and never changed. */
enum sw_series_decision {
    SW_SERIES_UNDECIDED = 0,
    SW_SERIES_TOGETHER = 1, /* all ranks take part in agreeing, whatever happens to them */
    SW_SERIES_APART = 2,    /* nobody does */
};

/* Why opens got no settings: bits of `reasons`. */
#define SW_SERIES_DIFFER 0x1u   /* the ranks differ in what they opened, or in their hints */
#define SW_SERIES_UNFIT 0x2u    /* the table has nothing for what the first file was */
#define SW_SERIES_UNKNOWN 0x4u  /* on some rank nothing is known of a first file */
#define SW_SERIES_UNMERGED 0x8u /* some rank could not merge the hints */
#define SW_SERIES_FEW 0x10u     /* not every rank was there when the first had to know */

struct sw_series_mapping {
    char magic[8];
    uint32_t version;
    uint32_t slots;
    uint64_t job;        /* of the ranks that have marked, 0: none has */
    uint32_t world_size; /* of theirs */
    uint32_t marked;     /* ranks */
    uint32_t decision;   /* enum sw_series_decision */
    uint32_t first;      /* number, in its series, of the first file with settings; 0: none */
    uint32_t opens;      /* that ranks talked about */
    uint32_t adopted;    /* of these, with settings */
    uint32_t reasons;
    uint32_t reserved[3];
    uint32_t process[SW_SERIES_SLOTS]; /* by rank, 0: has not marked */
};

#endif
