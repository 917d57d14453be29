/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer of JSON that is valid for any input: numbers that are not finite become null, bytes
 * that are not UTF-8 become \udcXX (Python's surrogateescape, so that a name can be recovered).
 * `key` is NULL inside arrays.
 */
#ifndef STRIPEWISE_KERNEL_JSON_H
#define STRIPEWISE_KERNEL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sw_json {
    FILE *stream;
    int depth;
    bool empty; /* nothing has been written yet in the innermost object or array */
};

void sw_json_begin(struct sw_json *json, const char *key, char bracket);    /* '{' or '[' */
void sw_json_end(struct sw_json *json, char bracket);                       /* '}' or ']' */
void sw_json_text(struct sw_json *json, const char *key, const char *text); /* NULL: null */
/* Writes a text that ends after `bytes` or at a zero. */
void sw_json_text_n(struct sw_json *json, const char *key, const char *text, size_t bytes);
void sw_json_integer(struct sw_json *json, const char *key, int64_t number);
void sw_json_number(struct sw_json *json, const char *key, double number);
void sw_json_truth(struct sw_json *json, const char *key, bool truth);
void sw_json_null(struct sw_json *json, const char *key);
void sw_json_integers(struct sw_json *json, const char *key, const int64_t *numbers, int n);

#endif
