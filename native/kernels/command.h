/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines of stripewise-kernel and stripewise-metadata: an option is a row of a table, from
 * which getopt's table and --help are made.
 */
#ifndef STRIPEWISE_KERNEL_COMMAND_H
#define STRIPEWISE_KERNEL_COMMAND_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_option_row;

/* Set what `value` says; false with one line (option, value, remedy) in `trouble`. */
typedef bool sw_apply(const struct sw_option_row *row, void *options, const char *value,
                      char *trouble, size_t bytes);

struct sw_option_row {
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
    sw_apply *apply;
    size_t member;            /* that is set: where it is in the program's struct sw_options */
    size_t count;             /* member for how many numbers there are (int) */
    int64_t least;            /* number */
    int64_t most;             /* number; bytes of a text, its end included */
    const char *const *words; /* NULL at the end */
};

/* The last columns of a row, for the common kinds of values. */
#define SW_MEMBER(name) .member = offsetof(struct sw_options, name)
#define SW_SETS(name) .apply = sw_apply_true, SW_MEMBER(name) /* bool */
#define SW_CLEARS(name) .apply = sw_apply_false, SW_MEMBER(name)
#define SW_NUMBER(name, from, to) /* int64_t */                                                   \
    .apply = sw_apply_number, SW_MEMBER(name), .least = (from), .most = (to)
#define SW_NUMBERS(name, n_name) /* int64_t[SW_MAX_DIMS] */                                       \
    .apply = sw_apply_numbers, SW_MEMBER(name), .count = offsetof(struct sw_options, n_name)
#define SW_WORD(name, known) .apply = sw_apply_word, SW_MEMBER(name), .words = (known) /* enum */
#define SW_EITHER(name, known, number) /* bool: whether it is the word of this number */          \
    .apply = sw_apply_either, SW_MEMBER(name), .words = (known), .least = (number)
#define SW_TEXT(name, room) .apply = sw_apply_text, SW_MEMBER(name), .most = (room)

sw_apply sw_apply_true, sw_apply_false, sw_apply_number, sw_apply_numbers, sw_apply_word,
    sw_apply_either, sw_apply_text;
/* One of the row's words; *which tells which. */
bool sw_option_word(const struct sw_option_row *row, const char *value, int *which, char *trouble,
                    size_t bytes);

/* The rows end with one whose name is NULL; the last one before it is --help, and -h. */
bool sw_command_parse(int argc, char **argv, const struct sw_option_row *rows, void *options,
                      char *trouble, size_t bytes);
/* The rows as --help shows them, with `width` columns for option and argument. */
void sw_command_print(const struct sw_option_row *rows, int width);

#endif
