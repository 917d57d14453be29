/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Counters of calls on names, by directory. */
#ifndef STRIPEWISE_METADATA_H
#define STRIPEWISE_METADATA_H

#include "hash.h"
#include "internal.h"

/* Returns the record of a name's directory, creating it if necessary; that of all others if the
 * directory has none of its own, NULL if there is no room. `locked`: the library's lock is held.
 * */
struct sw_metadata_record *sw_metadata_of(const char *path, const struct sw_split *split,
                                          bool locked);
bool sw_metadata_is_others(const struct sw_metadata_record *record);
/* Adds a call on a name in a directory. */
void sw_metadata_add(struct sw_metadata_record *record, enum sw_action action, bool failed,
                     uint64_t ns);
void sw_metadata_forget(void); /* in a new child */

/* ---- what is known of the directories whose names a thread has used last (near.c) -------------
 */

enum sw_near_kind {
    SW_NEAR_UNKNOWN = 0, /* nothing is known of this name without a closer look */
    SW_NEAR_COUNTED,
    SW_NEAR_LEFT_OUT, /* the filter excludes such names */
};

struct sw_near_name {
    struct sw_metadata_record *record; /* of the directory, if it is counted */
    const char *name;                  /* in the directory */
    size_t name_bytes;
    uint64_t hash; /* of the whole path, as in struct sw_split */
};

/* Looks up a name as the program gave it, relative to its working directory. */
enum sw_near_kind sw_near_find(const char *path, struct sw_near_name *found);
/* Remembers its directory. `version`: of the working directory, before the name was looked up;
 * `absolute`: the same name; `record`: of the directory, NULL if it has none of its own. */
void sw_near_remember(uint32_t version, const char *path, const char *absolute,
                      const struct sw_split *split, struct sw_metadata_record *record);

#endif
