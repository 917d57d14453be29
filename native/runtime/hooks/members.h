/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* X(name): the members of the chain, sw_hook_NAME, in the order in which they see a request.
 * Members that judge a path come after those that change it; members that delay come last. */
#ifdef SW_EXTRA_HOOK /* of a file passed to the build: -DSW_HOOK_SOURCE=FILE */
#define SW_EXTRA_HOOKS(X) X(extra)
#else
#define SW_EXTRA_HOOKS(X)
#endif
#define SW_HOOKS(X)                                                                               \
    X(redirect)                                                                                   \
    X(guard)                                                                                      \
    X(keep)                                                                                       \
    SW_EXTRA_HOOKS(X)                                                                             \
    X(emulate)                                                                                    \
    X(hold)                                                                                       \
    X(sync)                                                                                       \
    X(null)
