/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls on names, by directory. */
#ifndef STRIPEWISE_METADATA_H
#define STRIPEWISE_METADATA_H

#include "internal.h"

/* Adds a call on the absolute name `path`, which took `ns`; `locked`: under the library's lock.
 * Keeps errno. */
void sw_metadata_add(const char *path, size_t bytes, enum sw_action action, bool failed,
                     uint64_t ns, bool locked);
void sw_metadata_forget(void); /* in a new child */

#endif
