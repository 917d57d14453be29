/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings for a file or dataset. MPICH_MPIIO_HINTS comes first, so that the flat configuration
 * overrides it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt/adopt.h"

#define ENV_MPICH_HINTS "MPICH_MPIIO_HINTS"
#define MAX_FILE_BYTES (16 << 20)

static struct sw_rows rows;
static uint64_t digest; /* of the flat text */
static bool any_file;
static bool any_series;

bool sw_row_add(struct sw_rows *table, const struct sw_row *row)
{
    if (table->used == table->room)
        return false;
    table->row[table->used++] = *row;
    return true;
}

/* Allocates memory for the life of the process; not with malloc, which the program may have
 * replaced by one that is not ready when this library is loaded. */
static void *keep(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static char *keep_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = keep(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

static ssize_t read_whole(int fd, char *text, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = read(fd, text + done, bytes - done);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static char *keep_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char *text = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size < MAX_FILE_BYTES) {
        text = keep((size_t)status.st_size + 1);
        if (text != NULL && read_whole(fd, text, (size_t)status.st_size) < 0)
            text = NULL;
    }
    close(fd);
    return text;
}

static void complain(const char *what, const char *why)
{
    char note[700];
    snprintf(note, sizeof note, "%s is not applied: %s", what, why);
    sw_process_flag(SW_PROCESS_CONFIG_BAD);
    sw_note(note);
}

static char *flat_text(void)
{
    const char *text = getenv(SW_ENV_CONFIGURATION);
    const char *path = getenv(SW_ENV_CONFIGURATION_FILE);
    if (text != NULL && text[0] != '\0')
        return keep_text(text);
    if (path == NULL || path[0] == '\0')
        return NULL;
    char *contents = keep_file(path);
    if (contents == NULL)
        complain(path, "it cannot be read");
    return contents;
}

static uint64_t digest_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static void load(void)
{
    const char *hints = getenv(ENV_MPICH_HINTS);
    char *mpich = hints != NULL && hints[0] != '\0' ? keep_text(hints) : NULL;
    char *flat = flat_text();
    size_t room = (mpich ? sw_count_rows_mpich(mpich) : 0) + (flat ? sw_count_rows_flat(flat) : 0);
    if (room == 0)
        return;
    rows.row = keep(room * sizeof *rows.row);
    if (rows.row == NULL)
        return;
    rows.room = room;
    const char *problem = mpich ? sw_parse_mpich_hints(mpich, &rows) : NULL;
    if (problem != NULL)
        complain(ENV_MPICH_HINTS, problem);
    if (flat != NULL)
        digest = digest_of(flat);
    problem = flat ? sw_parse_flat(flat, &rows) : NULL;
    if (problem != NULL)
        complain("The configuration", problem);
    for (size_t i = 0; i < rows.used; i++)
        *(rows.row[i].source == SW_ROW_SERIES ? &any_series : &any_file) = true;
}

void sw_adopt_load(void)
{
    static bool loaded;
    if (__atomic_exchange_n(&loaded, true, __ATOMIC_ACQ_REL))
        return;
    sw_inside_begin();
    load();
    sw_inside_end();
}

bool sw_adopt_any(void)
{
    return any_file;
}

static bool applies(const struct sw_row *row, enum sw_setting_group group, const char *path,
                    const char *dataset)
{
    if (row->group != group || row->source == SW_ROW_SERIES)
        return false;
    if (row->source == SW_ROW_MPICH_HINTS)
        return !sw_mpi_applies_mpich_hints() && sw_match_cray(row->match, path);
    if (row->dataset != NULL && (dataset == NULL || !sw_match(row->dataset, dataset)))
        return false;
    return sw_match(row->match, path);
}

/* Reports once that there is no room: the layers keep so many settings of a file on the program's
 * stack. */
static void complain_of_room(size_t room, const char *path, const char *key)
{
    static bool said;
    char what[512];
    char why[64];
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    snprintf(what, sizeof what, "The setting %s of %s", key, path);
    snprintf(why, sizeof why, "a file can have %zu settings of a library", room);
    complain(what, why);
}

size_t sw_adopt_lookup(enum sw_setting_group group, const char *path, const char *dataset,
                       struct sw_setting *settings, size_t room)
{
    char absolute[PATH_MAX + NAME_MAX];
    size_t used = 0;
    if (!any_file || path == NULL || !sw_match_path(path, absolute, sizeof absolute))
        return 0;
    for (size_t i = 0; i < rows.used; i++) {
        const struct sw_row *row = &rows.row[i];
        if (!applies(row, group, absolute, dataset))
            continue;
        if (!sw_setting_store(row, settings, &used, room))
            complain_of_room(room, path, row->key);
    }
    return used;
}

bool sw_adopt_any_series(void)
{
    return any_series;
}

uint64_t sw_adopt_digest(void)
{
    return digest;
}

size_t sw_adopt_lookup_series(const struct sw_file_use *use, struct sw_setting *settings,
                              size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < rows.used; i++)
        if (rows.row[i].source == SW_ROW_SERIES && sw_series_fits(&rows.row[i].of, use))
            sw_setting_store(&rows.row[i], settings, &used, room);
    return used;
}
