/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 tells about a run. */
#ifndef STRIPEWISE_KERNEL_REPORT_H
#define STRIPEWISE_KERNEL_REPORT_H

#include "kernel.h"

#include <stdio.h>

void sw_report_table(FILE *stream, const struct sw_options *options,
                     const struct sw_result *result);
void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_result *result,
                    int argc, char **argv);

#endif
