/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The node's container file.  Everything here runs under sw_lock. */
#ifndef STRIPEWISE_CONTAINER_FILE_H
#define STRIPEWISE_CONTAINER_FILE_H

#include "internal.h"

struct sw_trouble {
    const char *text; /* NULL: none */
    bool passing;     /* may succeed later */
};

/* A checksum as in container.h, computed piece by piece; initialised with {0}. */
struct sw_sum {
    uint64_t sum;
    uint64_t weight;
};
/* Adds `bytes` bytes, a multiple of 8. */
void sw_sum_add(struct sw_sum *sum, const void *data, size_t bytes);
uint64_t sw_sum_value(const struct sw_sum *sum);

/* Returns whether the run has a directory for containers. */
bool sw_file_wanted(void);
/* Appends a block and, unless `mapped` is NULL, maps it; returns its offset, or 0. A PROCESS
 * block's process_id is set to that offset. */
uint64_t sw_file_append(struct sw_block_header *header, char **mapped, struct sw_trouble *why);
/* Writes records, of at least two words, to an unused place in one of our blocks. A reader sees
 * all of them or none. */
bool sw_file_put_records(uint64_t offset, const void *records, size_t bytes,
                         struct sw_trouble *why);
/* Opens the file with our blocks; returns a negative number if it does not exist any more. */
int sw_file_open(struct sw_trouble *why);
/* Stores a number in one of our blocks. */
bool sw_file_put_number(int fd, uint64_t offset, uint64_t number);
/* Stores the checksums of a process's blocks, from its last one back; returns how many, or 0 if
 * that fails (seal.c). */
uint64_t sw_file_seal(uint64_t last_block);

#endif
