/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * How files of a series were used, remembered from close to open, without MPI. Amounts are words
 * that ranks can sum. The state is kept under a lock with a time limit, because in a child the
 * lock may be held by a thread of the parent; then nothing is known.
 */
#ifndef STRIPEWISE_USE_H
#define STRIPEWISE_USE_H

#include "core/core.h"

/* Number of files, then for writing and for reading: bytes, bytes of collective calls, pieces,
 * calls. */
#define SW_USE_WORDS 9

struct sw_use_said {
    uint32_t number; /* of this file in its series, from 1 */
    uint64_t opens;  /* digest of all opens so far, including this one */
};

uint64_t sw_use_hash(const char *text);
uint64_t sw_use_mix(uint64_t one, uint64_t other);
/* Returns a hash of the name without its digits; never 0. */
uint64_t sw_use_key(const char *path, int n_ranks, int amode);

/* Call before opening a file. Returns true if one of its series has been closed; then `words` has
 * what this rank moved of the files that count. */
bool sw_use_opening(uint64_t key, struct sw_use_said *said, int64_t words[SW_USE_WORDS]);
/* Stores the sums over all ranks; once data was moved, further files of the series do not count.
 * */
void sw_use_settle(uint64_t key, const int64_t sums[SW_USE_WORDS]);
/* Returns false if nothing was moved. */
bool sw_use_read(const int64_t sums[SW_USE_WORDS], int n_ranks, struct sw_file_use *use);

void sw_use_opened(uint64_t key, uint64_t handle, const struct sw_file *file);
/* Returns whether the view of this file should be examined; only a few are. */
bool sw_use_wants_view(uint64_t handle);
void sw_use_viewed(uint64_t handle, int64_t bytes, int64_t n_pieces);
void sw_use_closing(uint64_t handle);

#endif
