/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Reading a plan, record by record. */
#ifndef STRIPEWISE_REPLAY_PLAN_H
#define STRIPEWISE_REPLAY_PLAN_H

#include "replay.h"
#include "words.h"

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
