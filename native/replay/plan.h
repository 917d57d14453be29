/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Reading a plan, record by record. */
#ifndef STRIPEWISE_REPLAY_PLAN_H
#define STRIPEWISE_REPLAY_PLAN_H

#include "replay.h"

/* ---- the words of a plan, one after the other ---------------------------------------------- */

struct sw_words {
    char *next;
    char *end;     /* of the text: a zero */
    int64_t line;  /* from 1 */
    bool bad;      /* a word was not what was expected; stays */
    int64_t first; /* of what is left of A+D*N */
    int64_t step;
    int64_t left;
};

/* The next word of the line, ended by a zero in place; "" at the end of the line. */
char *sw_words_text(struct sw_words *words);
/* The same with %XX undone, in memory of its own. */
char *sw_words_name(struct sw_words *words);
int64_t sw_words_number(struct sw_words *words);
/* A number that is at least 0 and less than `end`; otherwise `bad`. */
int64_t sw_words_index(struct sw_words *words, int64_t end);
/* Numbers in plain words, in memory of its own. */
int64_t *sw_words_numbers(struct sw_words *words, int64_t count);
/* The next of a list of words A, A*N, A+D*N. */
int64_t sw_words_listed(struct sw_words *words);
/* Goes to the next line. */
void sw_words_line(struct sw_words *words);

/* ---- records ------------------------------------------------------------------------------- */

struct sw_reading {
    struct sw_words words;
    struct sw_replay_plan *plan;
    const char *directory;
    int rank;
    char *trouble; /* says more than that a line is malformed */
    size_t room;
    int64_t n_sections;
    char **sections; /* where they begin */
    int64_t *lengths;
};

/* Each takes the rest of one record; where it is malformed, `words.bad` says so. */
void sw_reading_verb(struct sw_reading *reading);
void sw_reading_file(struct sw_reading *reading);
void sw_reading_hint(struct sw_reading *reading);
void sw_reading_variables(struct sw_reading *reading);
void sw_reading_object(struct sw_reading *reading);
void sw_reading_shape(struct sw_reading *reading);
void sw_reading_view(struct sw_reading *reading);
void sw_reading_group(struct sw_reading *reading);
void sw_reading_input(struct sw_reading *reading, int64_t index);
void sw_reading_section(struct sw_reading *reading);
void sw_reading_rank(struct sw_reading *reading);

#endif
