/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* How files of a series were used. The counters of a file at its close are compared with those at
 * its open, so that a data call costs nothing more. */
#include <sched.h>
#include <string.h>

#include "adopt/use.h"

#define MOST_SERIES 64 /* further ones are never recorded */
#define MOST_OPEN 64   /* simultaneously open files; further ones are not recorded */
#define MOST_VIEWS 4
#define PATIENCE 10000

struct series {
    uint64_t key; /* 0: free */
    uint32_t opened;
    bool settled;
    int64_t words[SW_USE_WORDS];
};

struct opened {
    uint64_t handle; /* 0: free */
    uint64_t key;
    const struct sw_file *file;
    struct sw_op_counters before[SW_OP_COUNT];
    int n_views;
    int64_t view_bytes;
    int64_t view_pieces;
};

static struct series all_series[MOST_SERIES];
static struct opened all_opened[MOST_OPEN];
static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static int held;

static bool lock(void)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE) == 0)
            return true;
        sched_yield();
    }
    return false;
}

static void unlock(void)
{
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
}

/* ---- digests ----------------------------------------------------------------------- */

static uint64_t add_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

uint64_t sw_use_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = add_byte(hash, (unsigned char)*text);
    return hash;
}

uint64_t sw_use_mix(uint64_t one, uint64_t other)
{
    for (int i = 0; i < 8; i++)
        one = add_byte(one, (unsigned char)(other >> 8 * i));
    return one;
}

uint64_t sw_use_key(const char *path, int n_ranks, int amode)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; path != NULL && *path != '\0'; path++)
        if (*path < '0' || *path > '9')
            hash = add_byte(hash, (unsigned char)*path);
    hash = sw_use_mix(sw_use_mix(hash, (uint64_t)n_ranks), (uint64_t)amode);
    return hash != 0 ? hash : 1;
}

/* ---- series ---------------------------------------------------------------------------- */

static struct series *find_series(uint64_t key, bool make)
{
    for (size_t i = 0; i < MOST_SERIES; i++) {
        struct series *series = &all_series[i];
        if (series->key == 0 && make)
            series->key = key;
        if (series->key == key)
            return series;
        if (series->key == 0)
            return NULL;
    }
    return NULL;
}

bool sw_use_opening(uint64_t key, struct sw_use_said *said, int64_t words[SW_USE_WORDS])
{
    *said = (struct sw_use_said){0, 0};
    memset(words, 0, SW_USE_WORDS * sizeof *words);
    if (!lock())
        return false;
    digest = sw_use_mix(digest, key);
    said->opens = digest;
    struct series *series = find_series(key, true);
    if (series != NULL) {
        said->number = ++series->opened;
        memcpy(words, series->words, sizeof series->words);
    }
    unlock();
    return words[0] > 0;
}

void sw_use_settle(uint64_t key, const int64_t sums[SW_USE_WORDS])
{
    struct sw_file_use use;
    if (!sw_use_read(sums, 1, &use) || !lock())
        return;
    struct series *series = find_series(key, false);
    if (series != NULL)
        series->settled = true;
    unlock();
}

bool sw_use_read(const int64_t sums[SW_USE_WORDS], int n_ranks, struct sw_file_use *use)
{
    int64_t files = sums[0] / n_ranks > 0 ? sums[0] / n_ranks : 1;
    bool writing = sums[1] >= sums[5];
    const int64_t *moved = &sums[writing ? 1 : 5];
    *use = (struct sw_file_use){
        .writing = writing,
        .collective = moved[1] >= moved[0] - moved[1],
        .interleaved = moved[2] > moved[3] + moved[3] / 2,
        .ranks = n_ranks,
        .bytes = moved[0] / files,
        .run_bytes = moved[2] > 0 ? moved[0] / moved[2] : 0,
    };
    return moved[0] > 0;
}

/* ---- files ------------------------------------------------------------------------------- */

static struct opened *find_opened(uint64_t handle)
{
    for (size_t i = 0; i < MOST_OPEN; i++)
        if (all_opened[i].handle == handle)
            return &all_opened[i];
    return NULL;
}

void sw_use_opened(uint64_t key, uint64_t handle, const struct sw_file *file)
{
    struct opened opened = {.handle = handle, .key = key, .file = file};
    if (file == NULL || handle == 0)
        return;
    sw_file_counted(file, opened.before);
    if (!lock())
        return;
    struct opened *place = find_opened(handle); /* of a file whose close was not seen */
    if (place == NULL)
        place = find_opened(0);
    if (place != NULL)
        *place = opened;
    unlock();
}

bool sw_use_wants_view(uint64_t handle)
{
    if (handle == 0 || !lock())
        return false;
    struct opened *opened = find_opened(handle);
    bool wanted = opened != NULL && opened->n_views < MOST_VIEWS;
    if (wanted)
        opened->n_views++;
    unlock();
    return wanted;
}

void sw_use_viewed(uint64_t handle, int64_t bytes, int64_t n_pieces)
{
    if (!lock())
        return;
    struct opened *opened = find_opened(handle);
    if (opened != NULL) {
        opened->view_bytes += bytes;
        opened->view_pieces += n_pieces;
    }
    unlock();
}

/* A view defines how long its pieces are, but a call may move less than one. */
static int64_t pieces_of(const struct opened *opened, int64_t bytes, int64_t calls)
{
    if (opened->view_bytes <= 0)
        return calls;
    int64_t length = opened->view_bytes / opened->view_pieces;
    int64_t pieces = length > 0 ? (bytes + length - 1) / length : bytes;
    return pieces > calls ? pieces : calls;
}

static void add_way(const struct opened *opened, const struct sw_op_counters *now,
                    enum sw_op alone, enum sw_op together, int64_t words[4])
{
    const struct sw_op_counters *then = opened->before;
    int64_t collective = (int64_t)(now[together].bytes - then[together].bytes);
    int64_t bytes = (int64_t)(now[alone].bytes - then[alone].bytes) + collective;
    int64_t calls = (int64_t)(now[alone].count - then[alone].count + now[together].count -
                              then[together].count);
    if (bytes <= 0)
        return;
    words[0] += bytes;
    words[1] += collective;
    words[2] += pieces_of(opened, bytes, calls);
    words[3] += calls;
}

static void add_file(const struct opened *opened, struct series *series)
{
    struct sw_op_counters now[SW_OP_COUNT];
    sw_file_counted(opened->file, now);
    series->words[0]++;
    add_way(opened, now, SW_OP_WRITE, SW_OP_WRITE_COLLECTIVE, &series->words[1]);
    add_way(opened, now, SW_OP_READ, SW_OP_READ_COLLECTIVE, &series->words[5]);
}

void sw_use_closing(uint64_t handle)
{
    if (handle == 0 || !lock())
        return;
    struct opened *opened = find_opened(handle);
    if (opened != NULL) {
        struct series *series = find_series(opened->key, false);
        if (series != NULL && !series->settled)
            add_file(opened, series);
        opened->handle = 0;
    }
    unlock();
}
