/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* No fault in a mapping of ours reaches the program. */
#ifndef STRIPEWISE_FAULT_H
#define STRIPEWISE_FAULT_H

#include <stddef.h>

/* Once, at load, if there is a container. */
void sw_fault_start(void);
/* Part of the container is mapped here, for good. */
void sw_fault_mapped(const void *address, size_t bytes);

#endif
