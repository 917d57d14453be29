/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a rank that the posix back end moves together, and where they lie in its file. */
#ifndef STRIPEWISE_KERNEL_POSIX_GROUPS_H
#define STRIPEWISE_KERNEL_POSIX_GROUPS_H

#include "../kernel.h"

#define SW_STAGE_BYTES ((int64_t)4 << 20)

/* Runs that are adjacent in the file: through the stage if there are several. */
struct sw_group {
    size_t first;
    size_t end;
    int64_t count; /* elements */
};

/* The longest group from run `first` on that is adjacent in the file and fits the stage. */
struct sw_group sw_group_next(const struct sw_options *options, const struct sw_share *share,
                              const struct sw_domain *domain, size_t first);

#endif
