/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of formatted input and output. */
#ifndef STRIPEWISE_FORMATTED_H
#define STRIPEWISE_FORMATTED_H

#include <stdarg.h>

/* Wraps the variant with a va_list and the one with variable arguments. */
#define SW_FORMATTED(list, name, parameters, last, call)                                          \
    SW_EXPORT int list(SW_JOINED parameters, va_list arguments);                                  \
    SW_EXPORT int list(SW_JOINED parameters, va_list arguments)                                   \
    {                                                                                             \
        return call;                                                                              \
    }                                                                                             \
    SW_EXPORT int name(SW_JOINED parameters, ...);                                                \
    SW_EXPORT int name(SW_JOINED parameters, ...)                                                 \
    {                                                                                             \
        va_list arguments;                                                                        \
        va_start(arguments, last);                                                                \
        int result = call;                                                                        \
        va_end(arguments);                                                                        \
        return result;                                                                            \
    }
#define SW_JOINED(...) __VA_ARGS__

#endif
