/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Values of options from text; false with one line (option, value, remedy) in `trouble`. */
#ifndef STRIPEWISE_KERNEL_VALUES_H
#define STRIPEWISE_KERNEL_VALUES_H

#include "share.h"

bool sw_take_number(const char *name, const char *text, int64_t least, int64_t most,
                    int64_t *number, char *trouble, size_t bytes);
/* A number of bytes from 1 to `most`, with a unit or without. */
bool sw_take_bytes(const char *name, const char *text, int64_t most, int64_t *number,
                   char *trouble, size_t bytes);
/* Up to SW_MAX_DIMS numbers, separated by commas. */
bool sw_take_numbers(const char *name, const char *text, int64_t *numbers, int *n_numbers,
                     char *trouble, size_t bytes);
/* One of the words (NULL at the end); *which tells which. */
bool sw_take_word(const char *name, const char *text, const char *const *words, int *which,
                  char *trouble, size_t bytes);
/* 1 to most - 1 bytes. */
bool sw_take_text(const char *name, const char *text, size_t most, const char **target,
                  char *trouble, size_t bytes);

#endif
