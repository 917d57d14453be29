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

/* A checksum as container.h has it, of one piece after the other; begins as {0}. */
struct sw_sum {
    uint64_t sum;
    uint64_t weight;
};
/* `bytes` is a multiple of 8. */
void sw_sum_add(struct sw_sum *sum, const void *data, size_t bytes);
uint64_t sw_sum_value(const struct sw_sum *sum);

/* The run has a directory for containers. */
bool sw_file_wanted(void);
/* Appends a block and maps it, unless `mapped` is NULL; its offset, or 0.  A PROCESS block's
 * process_id becomes that offset. */
uint64_t sw_file_append(struct sw_block_header *header, char **mapped, struct sw_trouble *why);
/* Puts records, two words or more, where a block of ours has nothing yet.  A reader sees all of
 * them or none. */
bool sw_file_put_records(uint64_t offset, const void *records, size_t bytes,
                         struct sw_trouble *why);
/* Opens the file that has our blocks; negative if it is not there any more. */
int sw_file_open(struct sw_trouble *why);
/* Stores a number into a block of ours. */
bool sw_file_put_number(int fd, uint64_t offset, uint64_t number);
/* Stores the checksums of a process's blocks, from its last one back; how many, 0 if that
 * fails (seal.c). */
uint64_t sw_file_seal(uint64_t last_block);

#endif
