/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The locks of an emulated file. */
#ifndef STRIPEWISE_LOCKS_H
#define STRIPEWISE_LOCKS_H

#include "emulator.h"

struct sw_lock_use {
    uint64_t cost_ns; /* for which the lock's clock is used */
    uint64_t end_ns;  /* of that use */
};

/* Locks of one object that exclude one another. */
struct sw_lock_use sw_lock_use(const struct sw_transfer *transfer, uint32_t object, bool is_ragged,
                               uint32_t node, uint64_t asked_ns);
/* How many times as long the node's stream of the file takes, with all who write it. */
double sw_lock_contended(const struct sw_transfer *transfer, uint32_t node);
/* A write with locks that were asked for ahead: what each of its parts costs the node; false: it
 * is none. */
bool sw_lock_ahead(const struct sw_transfer *transfer, uint32_t node, uint64_t *cost_ns);
/* This process opened the file for writing. */
void sw_lock_opened(struct sw_emulator *storage, uint32_t slot);

#endif
