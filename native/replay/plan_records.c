/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The records of a plan: the meaning of indices, and the calls of each rank. */
#include "plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct sw_replay_verb *find_verb(const char *name)
{
    const struct sw_replay_verb *layers[] = {sw_replay_posix, sw_replay_stdio,   sw_replay_mpiio,
                                             sw_replay_hdf5,  sw_replay_pnetcdf, sw_replay_sync};
    for (size_t layer = 0; layer < sizeof layers / sizeof layers[0]; layer++)
        for (const struct sw_replay_verb *verb = layers[layer]; verb->name != NULL; verb++)
            if (strcmp(verb->name, name) == 0)
                return verb;
    return NULL;
}

void sw_reading_verb(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_verbs);
    const char *name = sw_words_text(words);
    if (words->bad)
        return;
    reading->plan->verbs[index] = find_verb(name);
    if (reading->plan->verbs[index] == NULL) {
        words->bad = true;
        snprintf(reading->trouble, reading->room,
                 "this replay program cannot make the calls `%s`: it was built without that "
                 "library, or is older than the plan (then run: stripewise doctor build)",
                 name);
    }
}

void sw_reading_file(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_files);
    char *name = sw_words_name(words);
    /* Files of a replay stay in its directory. */
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strchr(name, '/') != NULL)
        words->bad = true;
    if (!words->bad) {
        size_t bytes = strlen(reading->directory) + strlen(name) + 2;
        char *path = sw_replay_memory(bytes);
        snprintf(path, bytes, "%s/%s", reading->directory, name);
        reading->plan->files[index].path = path;
    }
    free(name);
}

/* Adds a key and a value to a list of `*n` pairs. */
static void add_pair(struct sw_words *words, int64_t *n, char ***list)
{
    char **pairs = sw_replay_memory(((size_t)*n + 1) * 2 * sizeof *pairs);
    for (int64_t i = 0; i < 2 * *n; i++)
        pairs[i] = (*list)[i];
    pairs[2 * *n] = sw_words_name(words);
    pairs[2 * *n + 1] = sw_words_name(words);
    free(*list);
    *list = pairs;
    (*n)++;
}

void sw_reading_hint(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_files);
    if (!words->bad) {
        struct sw_replay_file *file = &reading->plan->files[index];
        add_pair(words, &file->n_hints, &file->hints);
    }
}

void sw_reading_property(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_files);
    if (!words->bad) {
        struct sw_replay_file *file = &reading->plan->files[index];
        add_pair(words, &file->n_properties, &file->properties);
    }
}

void sw_reading_variables(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_files);
    int64_t count = sw_words_number(words);
    if (words->bad)
        return;
    struct sw_replay_file *file = &reading->plan->files[index];
    file->variables = sw_words_numbers(words, count);
    file->n_variables = count;
    for (int64_t i = 0; i < count && !words->bad; i++)
        if (file->variables[i] < 0 || file->variables[i] >= reading->plan->n_objects)
            words->bad = true;
}

/* Returns the index of a word in a list; the last index if it is not in the list. */
static int place_of(const char *word, const char *const *words)
{
    int place = 0;
    while (words[place] != NULL && strcmp(word, words[place]) != 0)
        place++;
    return place;
}

static int take_dims(struct sw_words *words)
{
    int64_t n_dims = sw_words_index(words, SW_REPLAY_DIMS + 1);
    return words->bad ? 0 : (int)n_dims;
}

void sw_reading_object(struct sw_reading *reading)
{
    static const char *const classes[] = {"other", "integer", "float", "string", "compound", NULL};
    static const char *const storages[] = {"contiguous", "chunked", "compact", NULL};
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_objects);
    struct sw_replay_object found = {.kind = sw_words_text(words)[0]};
    int type_class = place_of(sw_words_text(words), classes);
    int storage = place_of(sw_words_text(words), storages);
    found.type_class = type_class > SW_CLASS_COMPOUND ? SW_CLASS_OTHER : type_class;
    found.storage = storage > SW_COMPACT ? SW_CONTIGUOUS : storage;
    found.element_bytes = sw_words_number(words);
    found.n_dims = take_dims(words);
    found.extents = sw_words_numbers(words, 3 * (int64_t)found.n_dims);
    found.name = sw_words_name(words);
    if (found.element_bytes < 1)
        found.element_bytes = 1;
    if (!words->bad)
        reading->plan->objects[index] = found;
}

/* The members must make up an element. */
void sw_reading_members(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_objects);
    int64_t count = sw_words_number(words), left = 0;
    if (words->bad)
        return;
    struct sw_replay_object *object = &reading->plan->objects[index];
    object->members = sw_words_numbers(words, count);
    object->n_members = count;
    left = object->element_bytes;
    for (int64_t i = 0; i < count && !words->bad; i++) {
        if (object->members[i] < 1 || object->members[i] > left)
            words->bad = true;
        left -= object->members[i];
    }
    if (left != 0)
        words->bad = true;
}

void sw_reading_shape(struct sw_reading *reading)
{
    static const char *const kinds[] = {"all", "regular", "boxes", "points", "none", NULL};
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_shapes);
    struct sw_replay_shape found = {.kind = place_of(sw_words_text(words), kinds)};
    found.n_dims = take_dims(words);
    found.elements = sw_words_number(words);
    found.n_boxes = sw_words_number(words);
    found.memory = sw_words_number(words);
    found.extents = sw_words_numbers(words, found.n_dims);
    int64_t count = 0;
    if (found.kind == SW_REGULAR)
        count = 3 * (int64_t)found.n_dims;
    else if (found.kind == SW_BOXES || found.kind == SW_POINTS)
        count = found.n_boxes >= 0 && found.n_boxes < INT64_MAX / 64
                    ? found.n_boxes * 2 * found.n_dims
                    : -1;
    found.numbers = sw_words_numbers(words, count);
    if (found.kind > SW_NONE || found.elements < 0 || found.memory >= reading->plan->n_shapes)
        words->bad = true;
    if (!words->bad)
        reading->plan->shapes[index] = found;
}

void sw_reading_view(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_views);
    struct sw_replay_view found = {.displacement = sw_words_number(words)};
    found.etype_bytes = sw_words_number(words);
    found.filetype_bytes = sw_words_number(words);
    found.lower = sw_words_number(words);
    found.extent = sw_words_number(words);
    found.n_pieces = sw_words_number(words);
    if (found.n_pieces < 0 || found.n_pieces > INT_MAX / 8 || found.etype_bytes < 1)
        words->bad = true;
    int64_t *numbers = sw_words_numbers(words, words->bad ? 0 : 8 * found.n_pieces);
    found.pieces = (struct sw_replay_piece *)numbers; /* eight numbers each */
    if (!words->bad)
        reading->plan->views[index] = found;
}

_Static_assert(sizeof(struct sw_replay_piece) == 8 * sizeof(int64_t), "numbers alone");

void sw_reading_group(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    int64_t index = sw_words_index(words, reading->plan->n_groups);
    int64_t n_ranks = sw_words_number(words);
    if (n_ranks < 1 || n_ranks > reading->plan->n_ranks)
        words->bad = true;
    if (words->bad)
        return;
    struct sw_replay_group *group = &reading->plan->groups[index];
    group->n_ranks = n_ranks;
    group->comm = MPI_COMM_NULL;
    group->ranks = sw_replay_memory((size_t)n_ranks * sizeof *group->ranks);
    for (int64_t i = 0; i < n_ranks; i++) {
        group->ranks[i] = sw_words_listed(words);
        if (group->ranks[i] < 0 || group->ranks[i] >= reading->plan->n_ranks)
            words->bad = true;
    }
}

void sw_reading_input(struct sw_reading *reading, int64_t index)
{
    struct sw_words *words = &reading->words;
    struct sw_replay_plan *plan = reading->plan;
    struct sw_replay_input found = {.file = sw_words_index(words, plan->n_files)};
    found.kind = sw_words_text(words)[0];
    found.size_bytes = sw_words_number(words);
    found.n_objects = sw_words_number(words);
    found.objects = sw_words_numbers(words, found.n_objects);
    for (int64_t i = 0; i < found.n_objects && !words->bad; i++)
        if (found.objects[i] < 0 || found.objects[i] >= plan->n_objects)
            words->bad = true;
    if (index >= plan->n_inputs)
        words->bad = true;
    if (!words->bad)
        plan->inputs[index] = found;
}

/* ---- calls: sections, and the part of each rank ----------------------------------------------
 * */

/* Only finds where it begins: a rank reads only its own section. */
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
        words->next--; /* the caller advances to the next line */
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
