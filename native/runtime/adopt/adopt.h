/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of adopt: one row per setting, in the order in which they apply. Rows are filled once,
 * at load, and never change afterwards, so that lookups need no lock.
 */
#ifndef STRIPEWISE_ADOPT_H
#define STRIPEWISE_ADOPT_H

#include "core/core.h"

enum sw_row_source { SW_ROW_MPICH_HINTS, SW_ROW_FLAT, SW_ROW_SERIES };

/* Properties of first files of a series; the ranges include both ends. */
enum sw_range { SW_RANGE_RANKS, SW_RANGE_BYTES, SW_RANGE_RUN, SW_RANGE_COUNT };
struct sw_series_class {
    bool writing;
    bool collective;
    bool interleaved;
    int64_t least[SW_RANGE_COUNT];
    int64_t most[SW_RANGE_COUNT];
};

struct sw_row {
    enum sw_row_source source;
    enum sw_setting_group group;
    int override;
    const char *match;
    const char *dataset; /* NULL: the file itself */
    const char *key;
    const char *value;
    struct sw_series_class of; /* SW_ROW_SERIES */
};

struct sw_rows {
    struct sw_row *row;
    size_t used;
    size_t room;
};

/* Both parsers write into `text`, which must live as long as the rows. They return NULL, or what
 * is wrong with the text (rows added by the failed parse are removed). */
const char *sw_parse_flat(char *text, struct sw_rows *rows);
const char *sw_parse_mpich_hints(char *text, struct sw_rows *rows);

/* Returns the maximum number of rows in a text. */
size_t sw_count_rows_flat(const char *text);
size_t sw_count_rows_mpich(const char *text);

/* Appends a row; returns false if there is no room. */
bool sw_row_add(struct sw_rows *rows, const struct sw_row *row);

/* Parses "write-collective-contiguous" and the like, and six integers; returns false if they are
 * invalid. */
bool sw_series_parse(const char *kind, const char *ranges, struct sw_series_class *of);
bool sw_series_fits(const struct sw_series_class *of, const struct sw_file_use *use);
/* Stores a setting, replacing one with the same key; returns false if there is no room. */
bool sw_setting_store(const struct sw_row *row, struct sw_setting *settings, size_t *used,
                      size_t room);

/* Applies the glob rule of flat.h; `path` is absolute. A pattern that begins with a slash must
 * match the whole path. */
bool sw_match(const char *pattern, const char *path);
/* Applies Cray's rule in addition: the pattern on the whole path, where * also matches slashes. */
bool sw_match_cray(const char *pattern, const char *path);
/* Makes a path absolute without its ROMIO prefix ("ufs:"); returns false if it does not fit. */
bool sw_match_path(const char *name, char *path, size_t bytes);

#endif
