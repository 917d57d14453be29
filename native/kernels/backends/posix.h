/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the posix back end: 0, or -1 after sw_fail*(). */
#ifndef STRIPEWISE_KERNEL_POSIX_H
#define STRIPEWISE_KERNEL_POSIX_H

#include "../kernel.h"

/* Write or read all bytes, in as many calls as it takes. */
int sw_posix_move(struct sw_session *session, int fd, char *memory, int64_t bytes, int64_t offset);
/* All variables of a step through rank 0 (posix_serial.c); `fd` counts there alone. */
int sw_serial_move(struct sw_session *session, int fd, int64_t step, char *buffer);

#endif
