/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The directory that a BP4 or BP5 output of ADIOS2 is. */
#ifndef STRIPEWISE_KERNEL_BP_DIRECTORY_H
#define STRIPEWISE_KERNEL_BP_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Remove an output: a directory that holds its index and nothing but the files of one.  Nothing is
 * removed otherwise, nor through symbolic links inside; what is not there is no error.  False with
 * errno; ENOTEMPTY: `stranger` is the name of a file that no output has; EEXIST: no index. */
bool sw_bp_remove(const char *path, char *stranger, size_t bytes);
/* Ask the system to store the data of all its files.  False with errno. */
bool sw_bp_sync(const char *path);

#endif
