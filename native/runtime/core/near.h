/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the directories whose names a thread has used last. */
#ifndef STRIPEWISE_NEAR_H
#define STRIPEWISE_NEAR_H

#include "hash.h"
#include "internal.h"

enum sw_near_kind {
    SW_NEAR_UNKNOWN = 0, /* of this name nothing is known without a closer look */
    SW_NEAR_COUNTED,
    SW_NEAR_LEFT_OUT, /* the filter leaves such names out */
};

struct sw_near_name {
    struct sw_metadata_record *record; /* of the directory, if it is counted */
    const char *name;                  /* in the directory */
    size_t name_bytes;
    uint64_t hash; /* of the whole path, as in struct sw_split */
};

/* Looks at a name as the program gave it, relative to its working directory. */
enum sw_near_kind sw_near_find(const char *path, struct sw_near_name *found);
/* Remembers its directory.  `version`: of the working directory, before the name was looked at;
 * `absolute`: the same name; `record`: that of the directory, NULL: it has none of its own. */
void sw_near_remember(uint32_t version, const char *path, const char *absolute,
                      const struct sw_split *split, struct sw_metadata_record *record);

#endif
