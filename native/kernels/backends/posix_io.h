/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the posix back end: 0, or -1 after sw_fail*(). */
#ifndef STRIPEWISE_KERNEL_POSIX_IO_H
#define STRIPEWISE_KERNEL_POSIX_IO_H

#include "../kernel.h"

/* All bytes, in as many calls as it takes. */
int sw_posix_write(struct sw_session *session, int fd, const char *memory, int64_t bytes,
                   int64_t offset);
int sw_posix_read(struct sw_session *session, int fd, char *memory, int64_t bytes, int64_t offset);

/* All variables of a step through rank 0 (posix_serial.c); `fd` counts there alone. */
int sw_serial_write(struct sw_session *session, int fd, int64_t step, const char *buffer);
int sw_serial_read(struct sw_session *session, int fd, int64_t step, char *buffer);

#endif
