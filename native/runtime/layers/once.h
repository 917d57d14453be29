/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Avoids repeated messages. */
#ifndef STRIPEWISE_ONCE_H
#define STRIPEWISE_ONCE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true the first time in this process for (salt, text), for the first SW_ONCE_SLOTS of
 * them; false afterwards. */
#define SW_ONCE_SLOTS 1024
bool sw_once(uint64_t salt, const char *text);

#endif
