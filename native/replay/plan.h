/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Reads a plan, record by record. */
#ifndef STRIPEWISE_REPLAY_PLAN_H
#define STRIPEWISE_REPLAY_PLAN_H

#include "replay.h"

/* ---- words of a plan, read one after the other --------------------------------------------- */

struct sw_words {
    char *next;
    char *end;     /* of the text: a zero */
    int64_t line;  /* from 1 */
    bool bad;      /* a word was not as expected; never reset */
    int64_t first; /* the next value of the rest of A+D*N */
    int64_t step;
    int64_t left;
};

/* Returns the next word of the line, terminated by a zero in place; "" at the end of the line. */
char *sw_words_text(struct sw_words *words);
/* The same with %XX decoded, in newly allocated memory. */
char *sw_words_name(struct sw_words *words);
int64_t sw_words_number(struct sw_words *words);
/* Reads a number that is at least 0 and less than `end`; otherwise sets `bad`. */
int64_t sw_words_index(struct sw_words *words, int64_t end);
/* Reads numbers in plain words, into newly allocated memory. */
int64_t *sw_words_numbers(struct sw_words *words, int64_t count);
/* Reads the next number of a list of words A, A*N, A+D*N. */
int64_t sw_words_listed(struct sw_words *words);
/* Advances to the next line. */
void sw_words_line(struct sw_words *words);

/* ---- records ------------------------------------------------------------------------------- */

struct sw_reading {
    struct sw_words words;
    struct sw_replay_plan *plan;
    const char *directory;
    int rank;
    char *trouble; /* more specific than that a line is malformed */
    size_t room;
    int64_t n_sections;
    char **sections; /* start of each section */
    int64_t *lengths;
};

/* Each reads the rest of one record; if it is malformed, `words.bad` is set. */
void sw_reading_verb(struct sw_reading *reading);
void sw_reading_file(struct sw_reading *reading);
void sw_reading_hint(struct sw_reading *reading);
void sw_reading_property(struct sw_reading *reading);
void sw_reading_members(struct sw_reading *reading);
void sw_reading_variables(struct sw_reading *reading);
void sw_reading_object(struct sw_reading *reading);
void sw_reading_shape(struct sw_reading *reading);
void sw_reading_view(struct sw_reading *reading);
void sw_reading_group(struct sw_reading *reading);
void sw_reading_input(struct sw_reading *reading, int64_t index);
void sw_reading_section(struct sw_reading *reading);
void sw_reading_rank(struct sw_reading *reading);

#endif
