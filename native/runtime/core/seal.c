/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums of a process's blocks. They are read back from the file, which has all of them, mapped
 * or not: a file that was truncated in the meantime then gives a short read. Call under sw_lock.
 */
#define _GNU_SOURCE

#include "container_file.h"
#include "system.h"

static char piece[16 * SW_PAGE];

void sw_sum_add(struct sw_sum *sum, const void *data, size_t bytes)
{
    const char *at = data;
    uint64_t total = sum->sum;
    uint64_t weight = sum->weight;
    for (const char *end = at + bytes; at < end; at += sizeof(uint64_t)) {
        uint64_t word;
        __builtin_memcpy(&word, at, sizeof word);
        total += (word ^ word >> 32) * (weight | 1);
        weight += SW_SUM_STEP;
    }
    sum->sum = total;
    sum->weight = weight;
}

uint64_t sw_sum_value(const struct sw_sum *sum)
{
    return sum->sum != 0 ? sum->sum : 1;
}

static bool add_payload(int fd, uint64_t offset, uint64_t end, struct sw_sum *sum)
{
    while (offset < end) {
        size_t bytes = end - offset < sizeof piece ? end - offset : sizeof piece;
        if (syscall(SYS_pread64, fd, piece, bytes, offset) != (ssize_t)bytes)
            return false;
        sw_sum_add(sum, piece, bytes);
        offset += bytes;
    }
    return true;
}

/* Seals a block, and stores the offset of the block before it in *previous. */
static bool seal_block(int fd, uint64_t offset, uint64_t *previous)
{
    struct sw_block_header header;
    struct sw_sum sum = {0};
    if (syscall(SYS_pread64, fd, &header, sizeof header, offset) != (ssize_t)sizeof header ||
        header.magic != SW_BLOCK_MAGIC || header.previous >= offset)
        return false;
    sw_sum_add(&sum, &header, offsetof(struct sw_block_header, sum));
    *previous = header.previous;
    return add_payload(fd, offset + sizeof header, offset + header.bytes, &sum) &&
           sw_file_put_number(fd, offset + offsetof(struct sw_block_header, sum),
                              sw_sum_value(&sum));
}

uint64_t sw_file_seal(uint64_t last_block)
{
    struct sw_trouble trouble;
    uint64_t blocks = 0;
    uint64_t offset = last_block;
    int fd = sw_file_open(&trouble);
    if (fd < 0)
        return 0;
    while (offset != 0 && seal_block(fd, offset, &offset))
        blocks++;
    sw_sys_close(fd);
    return offset == 0 ? blocks : 0;
}
