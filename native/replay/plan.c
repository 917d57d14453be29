/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a plan, by plain system calls on rank 0, so that capture and counters of a run do not
 * mistake it for I/O of the program.
 */
#define _GNU_SOURCE
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the text ------------------------------------------------------------------------- */

static char *read_text(const char *path, int64_t *bytes)
{
    struct stat status;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    int64_t got = 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        text = sw_replay_memory((size_t)status.st_size + 2);
        while (got < status.st_size) {
            long part = syscall(SYS_read, fd, text + got, (size_t)(status.st_size - got));
            if (part <= 0)
                break;
            got += part;
        }
    } else {
        errno = EINVAL;
    }
    int code = errno;
    (void)syscall(SYS_close, fd);
    errno = code;
    *bytes = got;
    return text;
}

/* Sends the text to all ranks; NULL if rank 0 could not read it. */
static char *share_text(const char *path, int64_t *bytes, char *trouble, size_t room)
{
    char *text = NULL;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *bytes = -1;
    if (rank == 0) {
        text = read_text(path, bytes);
        if (text == NULL) {
            snprintf(trouble, room, "cannot read the plan %s: %s", path, strerror(errno));
            *bytes = -1;
        }
    }
    MPI_Bcast(bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(trouble, (int)room, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (*bytes < 0)
        return NULL;
    if (rank != 0)
        text = sw_replay_memory((size_t)*bytes + 2);
    for (int64_t at = 0; at < *bytes; at += INT_MAX / 2) {
        int64_t part = *bytes - at < INT_MAX / 2 ? *bytes - at : INT_MAX / 2;
        MPI_Bcast(text + at, (int)part, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    return text;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void take_counts(struct sw_reading *reading)
{
    static const char *const names[] = {"verbs", "files",  "objects", "shapes",
                                        "views", "groups", "inputs"};
    struct sw_words *words = &reading->words;
    struct sw_replay_plan *plan = reading->plan;
    int64_t *counts[] = {&plan->n_verbs, &plan->n_files,  &plan->n_objects, &plan->n_shapes,
                         &plan->n_views, &plan->n_groups, &plan->n_inputs};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(sw_words_text(words), names[i]) != 0)
            words->bad = true;
        *counts[i] = sw_words_index(words, words->end - words->next + 1);
        sw_words_line(words);
    }
    plan->verbs = sw_replay_memory(((size_t)plan->n_verbs + 1) * sizeof *plan->verbs);
    plan->files = sw_replay_memory(((size_t)plan->n_files + 1) * sizeof *plan->files);
    plan->objects = sw_replay_memory(((size_t)plan->n_objects + 1) * sizeof *plan->objects);
    plan->shapes = sw_replay_memory(((size_t)plan->n_shapes + 1) * sizeof *plan->shapes);
    plan->views = sw_replay_memory(((size_t)plan->n_views + 1) * sizeof *plan->views);
    plan->groups = sw_replay_memory(((size_t)plan->n_groups + 1) * sizeof *plan->groups);
    plan->inputs = sw_replay_memory(((size_t)plan->n_inputs + 1) * sizeof *plan->inputs);
}

static void take_head(struct sw_reading *reading)
{
    struct sw_words *words = &reading->words;
    struct sw_replay_plan *plan = reading->plan;
    bool named = strcmp(sw_words_text(words), "stripewise-replay") == 0;
    int64_t version = named ? sw_words_number(words) : 0;
    if (version != SW_REPLAY_VERSION) {
        words->bad = true;
        if (named)
            snprintf(reading->trouble, reading->room,
                     "the plan has version %lld, this program reads version %d; make the plan "
                     "and build the runtime with the same Stripewise",
                     (long long)version, SW_REPLAY_VERSION);
        return;
    }
    sw_words_line(words);
    if (strcmp(sw_words_text(words), "ranks") != 0)
        words->bad = true;
    plan->n_ranks = sw_words_number(words);
    sw_words_line(words);
    if (strcmp(sw_words_text(words), "bytes") != 0 || plan->n_ranks < 1)
        words->bad = true;
    plan->read_bytes = sw_words_number(words);
    plan->write_bytes = sw_words_number(words);
    sw_words_line(words);
}

static void take_records(struct sw_reading *reading)
{
    static const struct {
        const char *name;
        void (*take)(struct sw_reading *);
    } kinds[] = {{"verb", sw_reading_verb},         {"file", sw_reading_file},
                 {"hint", sw_reading_hint},         {"variables", sw_reading_variables},
                 {"property", sw_reading_property}, {"members", sw_reading_members},
                 {"object", sw_reading_object},     {"shape", sw_reading_shape},
                 {"view", sw_reading_view},         {"group", sw_reading_group},
                 {"section", sw_reading_section},   {"rank", sw_reading_rank}};
    struct sw_words *words = &reading->words;
    int64_t n_inputs = 0;
    while (!words->bad) {
        const char *name = sw_words_text(words);
        size_t kind = 0;
        if (strcmp(name, "end") == 0)
            return;
        if (strcmp(name, "input") == 0) {
            sw_reading_input(reading, n_inputs++);
        } else {
            while (kind < sizeof kinds / sizeof kinds[0] && strcmp(kinds[kind].name, name) != 0)
                kind++;
            if (kind == sizeof kinds / sizeof kinds[0])
                words->bad = true;
            else
                kinds[kind].take(reading);
        }
        if (!words->bad)
            sw_words_line(words);
    }
}

bool sw_replay_load(const char *path, const char *directory, struct sw_replay_plan *plan,
                    char *trouble, size_t room)
{
    int64_t bytes = 0;
    int n_ranks = 0;
    trouble[0] = '\0';
    char *text = share_text(path, &bytes, trouble, room);
    if (text == NULL)
        return false;
    struct sw_reading reading = {.words = {.next = text, .end = text + bytes, .line = 1},
                                 .plan = plan,
                                 .directory = directory,
                                 .trouble = trouble,
                                 .room = room};
    MPI_Comm_rank(MPI_COMM_WORLD, &reading.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    take_head(&reading);
    if (!reading.words.bad && plan->n_ranks != n_ranks)
        snprintf(trouble, room,
                 "the plan is for %lld ranks, and %d were started; give mpiexec -n %lld",
                 (long long)plan->n_ranks, n_ranks, (long long)plan->n_ranks);
    if (!reading.words.bad && trouble[0] == '\0') {
        take_counts(&reading);
        take_records(&reading);
    }
    if (reading.words.bad && trouble[0] == '\0')
        snprintf(trouble, room, "%s is no plan, or damaged (line %lld)", path,
                 (long long)reading.words.line);
    free(reading.sections);
    free(reading.lengths);
    free(text);
    int bad = trouble[0] != '\0';
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return bad == 0;
}
