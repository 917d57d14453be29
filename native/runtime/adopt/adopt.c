/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings for a file or dataset.  MPICH_MPIIO_HINTS comes first, so that the flat
 * configuration wins where both speak.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
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

/* Memory for the life of the process; not malloc, which the program may have replaced with
 * one that is not ready when this library loads. */
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

/* ---- which settings belong to a path: globs on trailing components -------------------------- */

static size_t count_slashes(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '/';
    return count;
}

/* The last `components` components of a path (all of it if it has fewer). */
static const char *trailing(const char *path, size_t components)
{
    const char *start = path + strlen(path);
    while (start > path) {
        if (start[-1] == '/' && components-- == 1)
            return start;
        start--;
    }
    return start;
}

/* The glob rule of flat.h; `path` is absolute.  A pattern that begins with a slash must
 * match the whole path. */
static bool matches(const char *pattern, const char *path)
{
    if (pattern[0] == '/')
        return fnmatch(pattern, path, FNM_PATHNAME) == 0;
    size_t components = count_slashes(pattern) + 1;
    return fnmatch(pattern, trailing(path, components), FNM_PATHNAME) == 0;
}

/* Cray's rule on top: the pattern against the whole path, where * also matches slashes. */
static bool matches_cray(const char *pattern, const char *path)
{
    return matches(pattern, path) || fnmatch(pattern, path, 0) == 0;
}

/* "ufs:", "lustre:", "nfs:": letters and digits before the first colon, and no slash.  One
 * letter is left alone, as ROMIO does (a drive). */
static const char *without_prefix(const char *name)
{
    const char *end = name;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    return *end == ':' && end - name > 1 ? end + 1 : name;
}

/* Path without ROMIO prefix ("ufs:"), made absolute; false if it does not fit. */
static bool make_absolute(const char *name, char *path, size_t bytes)
{
    int saved_errno = errno;
    size_t used = 0;
    bool ok = true;
    name = without_prefix(name);
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (name[0] != '/') {
        ok = getcwd(path, bytes) != NULL;
        used = ok ? strlen(path) : 0;
        if (ok && used > 0 && path[used - 1] != '/' && used + 1 < bytes)
            path[used++] = '/';
    }
    size_t length = strlen(name);
    ok = ok && used + length < bytes;
    if (ok)
        memcpy(path + used, name, length + 1);
    errno = saved_errno;
    return ok;
}

/* ---- which later files of a series a setting is for (include/stripewise/flat.h) ------------- */

static bool fits(const struct sw_series_class *of, const struct sw_file_use *use)
{
    const int64_t values[SW_RANGE_COUNT] = {
        [SW_RANGE_RANKS] = use->ranks,
        [SW_RANGE_BYTES] = use->bytes,
        [SW_RANGE_RUN] = use->run_bytes,
    };
    if (of->writing != use->writing || of->collective != use->collective ||
        of->interleaved != use->interleaved)
        return false;
    for (int i = 0; i < SW_RANGE_COUNT; i++)
        if (values[i] < of->least[i] || values[i] > of->most[i])
            return false;
    return true;
}

/* Stores a setting, over one with the same key; false if there is no room. */
static bool store(const struct sw_row *row, struct sw_setting *settings, size_t *used, size_t room)
{
    size_t slot = 0;
    while (slot < *used && strcmp(settings[slot].key, row->key) != 0)
        slot++;
    if (slot == room)
        return false;
    settings[slot] =
        (struct sw_setting){.key = row->key, .value = row->value, .override = row->override};
    *used += slot == *used;
    return true;
}

/* ---- looking up ---------------------------------------------------------------------------- */

static bool applies(const struct sw_row *row, enum sw_setting_group group, const char *path,
                    const char *dataset)
{
    if (row->group != group || row->source == SW_ROW_SERIES)
        return false;
    if (row->source == SW_ROW_MPICH_HINTS)
        return !sw_mpi_applies_mpich_hints() && matches_cray(row->match, path);
    if (row->dataset != NULL && (dataset == NULL || !matches(row->dataset, dataset)))
        return false;
    return matches(row->match, path);
}

/* Once: the layers keep that many settings of a file on the program's stack. */
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
    if (!any_file || path == NULL || !make_absolute(path, absolute, sizeof absolute))
        return 0;
    for (size_t i = 0; i < rows.used; i++) {
        const struct sw_row *row = &rows.row[i];
        if (!applies(row, group, absolute, dataset))
            continue;
        if (!store(row, settings, &used, room))
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
        if (rows.row[i].source == SW_ROW_SERIES && fits(&rows.row[i].of, use))
            store(&rows.row[i], settings, &used, room);
    return used;
}
