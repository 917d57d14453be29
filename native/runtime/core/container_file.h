/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The node's container file.  Everything here runs under sw_lock. */
#ifndef STRIPEWISE_CONTAINER_FILE_H
#define STRIPEWISE_CONTAINER_FILE_H

#include "internal.h"

struct sw_trouble {
    const char *text; /* NULL: none */
    bool passing;     /* it may work later */
};

/* The run has a directory for containers. */
bool sw_file_wanted(void);
/* Appends a block and maps it, unless `mapped` is NULL; its offset, or 0.  A PROCESS block's
 * process_id becomes that offset. */
uint64_t sw_file_append(struct sw_block_header *header, char **mapped, struct sw_trouble *why);
/* Puts records, two words or more, where a block of ours has nothing yet.  A reader sees all of
 * them or none. */
bool sw_file_put_records(uint64_t offset, const void *records, size_t bytes,
                         struct sw_trouble *why);

#endif
