/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines of stripewise-kernel and stripewise-metadata: an option is a row of a table, from
 * which getopt's table and --help are generated.
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

/* Sets the member to `value`; returns false with one line (option, value, remedy) in `trouble`. */
typedef bool sw_apply(const struct sw_option_row *row, void *options, const char *value,
                      char *trouble, size_t bytes);

struct sw_option_row {
    const char *name;
    const char *argument; /* NULL: no argument */
    const char *help;
    sw_apply *apply;
    size_t member; /* member that is set: its offset in the program's struct sw_options */
    size_t count;  /* offset of the member for the count of numbers (int) */
    int64_t least; /* minimum of a number */
    int64_t most;  /* maximum of a number; maximum bytes of a text with its zero */
    const char *const *words; /* terminated by NULL */
};

/* The last columns of a row, for the usual kinds of values. */
#define SW_MEMBER(name) .member = offsetof(struct sw_options, name)
#define SW_SETS(name) .apply = sw_apply_true, SW_MEMBER(name) /* bool */
#define SW_CLEARS(name) .apply = sw_apply_false, SW_MEMBER(name)
#define SW_NUMBER(name, from, to) /* int64_t */                                                   \
    .apply = sw_apply_number, SW_MEMBER(name), .least = (from), .most = (to)
#define SW_NUMBERS(name, n_name) /* int64_t[SW_MAX_DIMS] */                                       \
    .apply = sw_apply_numbers, SW_MEMBER(name), .count = offsetof(struct sw_options, n_name)
#define SW_WORD(name, known) .apply = sw_apply_word, SW_MEMBER(name), .words = (known) /* enum */
#define SW_EITHER(name, known, number) /* bool: whether it is the word with this number */        \
    .apply = sw_apply_either, SW_MEMBER(name), .words = (known), .least = (number)
#define SW_TEXT(name, room) .apply = sw_apply_text, SW_MEMBER(name), .most = (room)

sw_apply sw_apply_true, sw_apply_false, sw_apply_number, sw_apply_numbers, sw_apply_word,
    sw_apply_either, sw_apply_text;
/* Parses one of the row's words; *which is its index. */
bool sw_option_word(const struct sw_option_row *row, const char *value, int *which, char *trouble,
                    size_t bytes);

/* The rows end with one whose name is NULL; the last one before it must be --help, or -h. */
bool sw_command_parse(int argc, char **argv, const struct sw_option_row *rows, void *options,
                      char *trouble, size_t bytes);
/* Prints the rows for --help, with `width` columns for option and argument. */
void sw_command_print(const struct sw_option_row *rows, int width);

#endif
