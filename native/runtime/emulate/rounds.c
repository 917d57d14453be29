/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of collective buffering.  An aggregator's requests within a collective call have waited
 * for other ranks' data, or will pass it on: once in each round.  Where rounds begin, only the
 * requests tell.
 */
#include <string.h>

#include "emulator.h"
#include "hints.h"

static __thread struct {
    int64_t start; /* this rank's own data of the call; 0 bytes: it does not lie together */
    int64_t bytes;
    uint64_t moved;  /* by its requests in the call */
    uint64_t rounds; /* whose exchange they have waited for */
} own __attribute__((tls_model("initial-exec")));

void sw_emulate_share(struct sw_emulator *storage, int64_t start, int64_t bytes)
{
    own.start = start;
    own.bytes = bytes;
    own.moved = 0;
    own.rounds = 0;
    if (storage != NULL)
        sw_law_came(storage, sw_now_ns());
    else
        sw_laws_came(sw_now_ns());
}

/* ROMIO carries out calls one by one whose data does not interleave, unless a hint or its driver
 * has it always collect: then a request within the data of this rank is its own.  Reads of a write
 * are those of holes, before the exchange. */
static bool is_exchanged(const struct sw_emulated *file, bool writes, int64_t offset,
                         int64_t bytes)
{
    const char *name = sw_thread.names[SW_LAYER_MPIIO];
    uint32_t alone = writes ? SW_EMULATED_ALONE_WRITE : SW_EMULATED_ALONE_READ;
    uint32_t always = writes ? SW_EMULATED_ALWAYS_WRITE : SW_EMULATED_ALWAYS_READ;
    if ((file->state & alone) != 0)
        return false;
    if (offset >= own.start && offset + bytes <= own.start + own.bytes &&
        (file->state & always) == 0)
        return false;
    return strstr(name, writes ? "_write" : "_read") != NULL &&
           (strstr(name, "_all") != NULL || strstr(name, "_ordered") != NULL);
}

/* OMPIO exchanges data for a cycle, which may lie in several pieces of the file; its writes use
 * two buffers in turn.  ROMIO does so for each request. */
static bool begins_round(const struct sw_emulated *file, bool writes)
{
    uint64_t cycle = writes ? file->cycle / 2 : file->cycle;
    if (cycle == 0)
        return true;
    uint64_t round = own.moved / cycle + 1;
    bool begins = own.rounds != round;
    own.rounds = round;
    return begins;
}

void sw_emulate_round(struct sw_transfer *transfer, const struct sw_emulated *file)
{
    bool within = (sw_thread.active & 1u << SW_LAYER_MPIIO) != 0;
    transfer->exchanged = within && is_exchanged(file, transfer->writes, (int64_t)transfer->offset,
                                                 (int64_t)transfer->bytes);
    transfer->begins_round = transfer->exchanged && begins_round(file, transfer->writes);
    own.moved += transfer->bytes;
}
