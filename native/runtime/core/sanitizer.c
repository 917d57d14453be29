/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program built with -fsanitize=address (GCC) refuses to start if a preloaded library comes
 * before AddressSanitizer's own. Ours is safe there: it passes every call on to the next
 * definition, which is AddressSanitizer's. The program's ASAN_OPTIONS, and options that are built
 * into the program, take precedence.
 */
#include "core.h"

SW_EXPORT const char *__asan_default_options(void);
SW_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
