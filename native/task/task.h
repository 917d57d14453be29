/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of stripewise-task: records that end with a zero byte, and an empty one at the end.
 *
 *   NAME=value              is set; nothing in the value is expanded
 *   NAME                    is unset
 *   @NAME=text              is set; %{VAR} in the text stands for the value that VAR had when
 *                           the task began, or nothing
 *   +LD_PRELOAD=/lib.so     comes before what is preloaded, or takes the place of a library with
 *                           the same base name
 *
 * src/stripewise/run/runtime/_environment.py writes it.
 */
#ifndef STRIPEWISE_TASK_H
#define STRIPEWISE_TASK_H

#include <stddef.h>

#define SW_TASK_BYTES (1 << 20) /* most of a file */

/* The environment that the records of a file make of `present`, in memory of its own and in that
 * of `text`.  NULL if that has succeeded, otherwise why not. */
const char *sw_task_environment(char *text, size_t bytes, char **present, char ***made);

#endif
