/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hashes of names, for tables in memory; ids in the container are FNV-1a. */
#ifndef STRIPEWISE_HASH_H
#define STRIPEWISE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Combines both halves of a product: each bit of the word affects bits all over the result. */
static inline uint64_t sw_mix(uint64_t word)
{
    unsigned __int128 product =
        (unsigned __int128)(word ^ UINT64_C(0xa0761d6478bd642f)) * UINT64_C(0xe7037ed1a0b428db);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Processes eight bytes at a time, since every used name is hashed. `seed`: hash of the preceding
 * text. */
static inline uint64_t sw_hash(const char *text, size_t bytes, uint64_t seed)
{
    uint64_t value = seed ^ bytes;
    uint64_t word;
    for (; bytes >= sizeof word; text += sizeof word, bytes -= sizeof word) {
        __builtin_memcpy(&word, text, sizeof word);
        value = sw_mix(value ^ word);
    }
    for (word = 0; bytes > 0; bytes--)
        word = word << 8 | (unsigned char)text[bytes - 1];
    return sw_mix(value ^ word);
}

/* An absolute path split into its directory ("/" for the root) and the name in it. */
struct sw_split {
    size_t directory_bytes;
    const char *name;
    size_t name_bytes;
    uint64_t directory_hash;
    uint64_t hash; /* of both */
};

static inline struct sw_split sw_split(const char *path, size_t bytes)
{
    size_t slash = bytes;
    while (slash > 0 && path[slash - 1] != '/')
        slash--;
    struct sw_split split = {
        .directory_bytes = slash > 1 ? slash - 1 : slash,
        .name = path + slash,
        .name_bytes = bytes - slash,
    };
    split.directory_hash = sw_hash(path, split.directory_bytes, 0);
    split.hash = sw_hash(split.name, split.name_bytes, split.directory_hash);
    return split;
}

#endif
