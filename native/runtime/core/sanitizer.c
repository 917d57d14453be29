/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program built with -fsanitize=address (GCC) does not start where a library that is preloaded
 * comes before AddressSanitizer's own.  Ours may: it passes every call on to the next definition,
 * which is AddressSanitizer's.  What the program's ASAN_OPTIONS say of it counts more, and so do
 * options that the program itself has built in.
 */
#include "core.h"

SW_EXPORT const char *__asan_default_options(void);
SW_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
