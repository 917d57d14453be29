/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the plug-in (plugin.h). */
#ifndef STRIPEWISE_COMM_H
#define STRIPEWISE_COMM_H

#include "stripewise/plugin.h"

int sw_is_spawned(void);
int sw_comm_size(sw_handle comm);
int sw_comm_sum(sw_handle comm, int64_t *words, int n_words);

#endif
