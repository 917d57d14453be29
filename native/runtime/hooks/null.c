/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A complete member that does nothing: copy it to begin a new one. */
#include "hook.h"

static uint32_t load(void)
{
    return 0;
}

const struct sw_hook sw_hook_null = {
    .name = "null",
    .load = load,
    .before = sw_hook_before_nothing,
    .after = sw_hook_after_nothing,
};
