/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a plan: sections, and what each rank has of them. */
#include "plan.h"

#include <stdlib.h>

/* Only where it begins: a rank takes the one that is its own. */
void sw_reading_section(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_number(words);
    int64_t count = sw_words_number(words);
    if (index != reading->n_sections || count < 0 || count > words->end - words->next)
        words->bad = true;
    if (words->bad)
        return;
    size_t room = (size_t)index + 1;
    reading->sections = realloc(reading->sections, room * sizeof *reading->sections);
    reading->lengths = realloc(reading->lengths, room * sizeof *reading->lengths);
    if (reading->sections == NULL || reading->lengths == NULL)
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
    sw_words_line(words);
    reading->sections[index] = words->next;
    reading->lengths[index] = count;
    reading->n_sections++;
    for (int64_t i = 1; i < count; i++)
        sw_words_line(words);
    if (count == 0)
        words->next--; /* the caller goes to the next line */
}

static int64_t *call_number(struct sw_replay_call *call, int number)
{
    int64_t *numbers[] = {&call->verb,
                          &call->op,
                          &call->flags,
                          &call->bytes,
                          &call->count,
                          &call->inner[0],
                          &call->inner[1],
                          &call->stride[0],
                          &call->stride[1],
                          &call->stride[2],
                          &call->place,
                          &call->place_stride[0],
                          &call->place_stride[1],
                          &call->place_stride[2],
                          &call->file,
                          &call->object,
                          &call->detail,
                          &call->group,
                          &call->offset,
                          &call->gap,
                          &call->rest};
    return numbers[number];
}

static bool call_is_good(const struct sw_replay_plan *plan, const struct sw_replay_call *call)
{
    return call->verb >= 0 && call->verb < plan->n_verbs && plan->verbs[call->verb] != NULL &&
           call->count >= 1 && call->bytes >= 0 && call->file < plan->n_files &&
           call->object < plan->n_objects && call->group < plan->n_groups + 2;
}

void sw_reading_rank(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    struct sw_replay_plan *plan = reading->plan;
    int64_t rank = sw_words_index(words, plan->n_ranks);
    int64_t section = sw_words_index(words, reading->n_sections);
    if (words->bad || rank != reading->rank)
        return;
    struct sw_words table = {.next = reading->sections[section], .end = words->end};
    plan->n_calls = reading->lengths[section];
    plan->calls = sw_replay_memory(((size_t)plan->n_calls + 1) * sizeof *plan->calls);
    for (int64_t i = 0; i < plan->n_calls; i++) {
        for (int number = 0; number < SW_REPLAY_CALL_NUMBERS; number++)
            *call_number(&plan->calls[i], number) = sw_words_number(&table);
        sw_words_line(&table);
    }
    for (int column = 0; column < SW_REPLAY_COLUMNS; column++)
        for (int64_t i = 0; i < plan->n_calls; i++)
            *call_number(&plan->calls[i], SW_REPLAY_CALL_NUMBERS + column) =
                sw_words_listed(words);
    words->bad = words->bad || table.bad;
    for (int64_t i = 0; i < plan->n_calls && !words->bad; i++)
        words->bad = !call_is_good(plan, &plan->calls[i]);
}
