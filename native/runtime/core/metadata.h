/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls on names, by directory. */
#ifndef STRIPEWISE_METADATA_H
#define STRIPEWISE_METADATA_H

#include "hash.h"
#include "internal.h"

/* The record of the directory of a name, made if it is not there; that of all others where it has
 * none of its own, NULL where there is no room.  `locked`: under the library's lock. */
struct sw_metadata_record *sw_metadata_of(const char *path, const struct sw_split *split,
                                          bool locked);
bool sw_metadata_is_others(const struct sw_metadata_record *record);
/* Adds a call on a name in a directory. */
void sw_metadata_add(struct sw_metadata_record *record, enum sw_action action, bool failed,
                     uint64_t ns);
void sw_metadata_forget(void); /* in a new child */

#endif
