/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * How files of a series were used: kept from close to open, without MPI.  Amounts are words that
 * ranks add up.  State is kept under a lock that is given up after a while, as in a child of a
 * process whose other thread held it; then nothing is known.
 */
#ifndef STRIPEWISE_USE_H
#define STRIPEWISE_USE_H

#include "core/core.h"

/* Files, then for writing and for reading: bytes, bytes of collective calls, pieces, calls. */
#define SW_USE_WORDS 9

struct sw_use_said {
    uint32_t number; /* of this file in its series, from 1 */
    uint64_t opens;  /* digest of all opens so far, this one included */
};

uint64_t sw_use_hash(const char *text);
uint64_t sw_use_mix(uint64_t one, uint64_t other);
/* Of the name without its digits; never 0. */
uint64_t sw_use_key(const char *path, int n_ranks, int amode);

/* A file is about to be opened.  True if one of its series has been closed; then `words` has
 * what this rank moved of those that count. */
bool sw_use_opening(uint64_t key, struct sw_use_said *said, int64_t words[SW_USE_WORDS]);
/* The sums over all ranks: once data was moved, further files of the series do not count. */
void sw_use_settle(uint64_t key, const int64_t sums[SW_USE_WORDS]);
/* False: nothing was moved. */
bool sw_use_read(const int64_t sums[SW_USE_WORDS], int n_ranks, struct sw_file_use *use);

void sw_use_opened(uint64_t key, uint64_t handle, const struct sw_file *file);
/* A few views of a file are looked at. */
bool sw_use_wants_view(uint64_t handle);
void sw_use_viewed(uint64_t handle, int64_t bytes, int64_t n_pieces);
void sw_use_closing(uint64_t handle);

#endif
