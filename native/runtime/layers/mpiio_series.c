/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a communicator agree on hints for a file of a series, just before they open it.
 * Whether a rank takes part depends only on sw_presence_together() and on the communicator:
 * everything else is part of what it contributes there.
 */
#include <errno.h>
#include <string.h>

#include "adopt/use.h"
#include "layers/mpiio.h"

#define TEXT_BYTES 8192
#define QUARTERS 4 /* of a digest */

/* Contribution of a rank; the sums over the ranks are the same on all of them. */
enum word {
    WORD_READY,
    WORD_KNOWS, /* a file of the series has been closed */
    WORD_DIGEST,
    WORD_SQUARES = WORD_DIGEST + QUARTERS,
    WORD_USE = WORD_SQUARES + QUARTERS,
    WORD_COUNT = WORD_USE + SW_USE_WORDS,
};

/* One open, from the view of this rank. */
struct talk {
    const struct sw_plugin *plugin;
    sw_handle comm;
    int size;
    struct sw_mpi_hints *hints;
    uint64_t key;
    uint32_t number; /* in its series, counted from 1 */
    int64_t words[WORD_COUNT];
};

static bool refused; /* permanently: the ranks of some communicator differed */

/* ---- the outcome, for the launcher ------------------------------------------------- */

static bool is_speaker(const struct talk *talk)
{
    int rank = -1;
    return talk->plugin->comm_rank(talk->comm, &rank) == SW_MPI_SUCCESS && rank == 0;
}

static void tell_reason(const struct talk *talk, uint32_t reason)
{
    if (talk->hints != NULL && is_speaker(talk))
        __atomic_fetch_or(&sw_presence_outcome()->reasons, reason, __ATOMIC_RELAXED);
}

static void tell_open(const struct talk *talk)
{
    if (talk->hints != NULL && is_speaker(talk))
        __atomic_fetch_add(&sw_presence_outcome()->opens, 1, __ATOMIC_RELAXED);
}

static void tell_adopted(const struct talk *talk)
{
    struct sw_series_mapping *outcome = sw_presence_outcome();
    if (!is_speaker(talk))
        return;
    __atomic_fetch_add(&outcome->adopted, 1, __ATOMIC_RELAXED);
    uint32_t first = __atomic_load_n(&outcome->first, __ATOMIC_RELAXED);
    while ((first == 0 || talk->number < first) &&
           !__atomic_compare_exchange_n(&outcome->first, &first, talk->number, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* ---- the contribution of this rank ----------------------------------------------------- */

static uint64_t digest_of(const struct talk *talk, uint64_t opens)
{
    char text[TEXT_BYTES];
    uint64_t digest = sw_use_mix(opens, sw_adopt_digest());
    if (talk->plugin->info_text(talk->hints->merged, text, sizeof text) != SW_MPI_SUCCESS)
        return digest;
    return sw_use_mix(digest, sw_use_hash(text));
}

static void say_digest(struct talk *talk, uint64_t digest)
{
    for (int i = 0; i < QUARTERS; i++) {
        int64_t quarter = (int64_t)(digest >> 16 * i & 0xffff);
        talk->words[WORD_DIGEST + i] = quarter;
        talk->words[WORD_SQUARES + i] = quarter * quarter;
    }
}

static void say(struct talk *talk, const char *path, int amode)
{
    struct sw_use_said said;
    talk->key = sw_use_key(path, talk->size, amode);
    bool known = sw_use_opening(talk->key, &said, &talk->words[WORD_USE]);
    talk->number = said.number;
    say_digest(talk, digest_of(talk, said.opens));
    talk->words[WORD_KNOWS] = known;
    talk->words[WORD_READY] = known && !__atomic_load_n(&refused, __ATOMIC_RELAXED);
}

/* ---- the sums over all ranks ------------------------------------------------------------ */

/* By the Cauchy-Schwarz inequality. At most SW_SERIES_SLOTS ranks: no overflow. */
static bool all_equal(const struct talk *talk)
{
    for (int i = 0; i < QUARTERS; i++) {
        int64_t sum = talk->words[WORD_DIGEST + i];
        if (talk->size * talk->words[WORD_SQUARES + i] != sum * sum)
            return false;
    }
    return true;
}

/* Returns the hints in the table; all ranks obtain the same. */
static size_t look_up(const struct talk *talk, struct sw_hint wanted[SW_MAX_SETTINGS])
{
    struct sw_setting settings[SW_MAX_SETTINGS];
    struct sw_file_use use;
    if (!sw_use_read(&talk->words[WORD_USE], talk->size, &use))
        return 0;
    size_t count = sw_adopt_lookup_series(&use, settings, SW_MAX_SETTINGS);
    for (size_t i = 0; i < count; i++)
        wanted[i] = (struct sw_hint){.key = settings[i].key, .value = settings[i].value};
    return count;
}

/* Gets the sums, or this rank's own words if it is alone; returns false if some rank is not ready.
 * */
static bool all_are_ready(const struct talk *talk)
{
    if (!all_equal(talk)) {
        __atomic_store_n(&refused, true, __ATOMIC_RELAXED);
        tell_reason(talk, SW_SERIES_DIFFER);
        return false;
    }
    if (talk->number > 1 && talk->words[WORD_KNOWS] != talk->size)
        tell_reason(talk, SW_SERIES_UNKNOWN);
    return talk->words[WORD_READY] == talk->size;
}

/* Called by every rank or by none, with the same hints. */
static void adopt(struct talk *talk, const struct sw_hint *wanted, size_t count)
{
    struct sw_mpi_hints with = *talk->hints; /* a rank without hints is not ready */
    int64_t merged = sw_mpi_hints_extend(&with, wanted, count);
    int64_t sum = merged;
    bool told = talk->size == 1 || talk->plugin->comm_sum(talk->comm, &sum, 1) == SW_MPI_SUCCESS;
    if (told && sum == talk->size) {
        sw_mpi_hints_replace(talk->hints, &with);
        tell_adopted(talk);
        return;
    }
    if (merged)
        talk->plugin->info_free(with.merged);
    tell_reason(talk, SW_SERIES_UNMERGED);
}

static void conclude(struct talk *talk)
{
    struct sw_hint wanted[SW_MAX_SETTINGS];
    tell_open(talk);
    if (!all_are_ready(talk))
        return;
    sw_use_settle(talk->key, &talk->words[WORD_USE]);
    size_t count = look_up(talk, wanted);
    if (count > 0)
        adopt(talk, wanted, count);
    else
        tell_reason(talk, SW_SERIES_UNFIT);
}

/* ---- around the program's calls ------------------------------------------------------------ */

/* A rank that is the only one of its world needs no agreement; a communicator of one rank in a
 * larger world gets no settings. */
static void talk_over(struct talk *talk, const char *path, int amode)
{
    bool together = talk->size > 1 && sw_presence_together();
    if (talk->hints != NULL && (together || talk->size == 1))
        say(talk, path, amode);
    if (together) {
        if (talk->plugin->comm_sum(talk->comm, talk->words, WORD_COUNT) == SW_MPI_SUCCESS)
            conclude(talk);
    } else if (talk->size == 1 && sw_mpi_size() == 1 && talk->hints != NULL)
        conclude(talk);
}

uint64_t sw_mpi_series_agree(struct sw_mpi_hints *hints, sw_handle comm, const char *path,
                             int amode)
{
    struct talk talk = {.plugin = sw_mpi_plugin(), .comm = comm, .hints = hints};
    if (talk.plugin == NULL)
        return 0;
    int saved_errno = errno;
    sw_inside_begin();
    talk.size = talk.plugin->comm_size(comm);
    if (talk.size > 0)
        talk_over(&talk, path, amode);
    sw_inside_end();
    errno = saved_errno;
    return talk.key;
}

void sw_mpi_series_opened(uint64_t key, sw_handle handle, struct sw_file *file)
{
    if (key != 0)
        sw_use_opened(key, handle, file);
}

void sw_mpi_series_closing(sw_handle handle)
{
    if (sw_presence_asked())
        sw_use_closing(handle);
}

/* ---- pieces of a view ------------------------------------------------------------------------
 */

#define MOST_PIECES 64

struct pieces {
    int64_t bytes;
    int64_t count;
    int64_t end;
};

static int add(void *context, int64_t offset, int64_t bytes)
{
    struct pieces *pieces = context;
    if (pieces->count == 0 || offset != pieces->end)
        pieces->count++;
    if (pieces->count > MOST_PIECES) {
        pieces->count--;
        return 1;
    }
    pieces->bytes += bytes;
    pieces->end = offset + bytes;
    return 0;
}

void sw_mpi_series_viewed(sw_handle handle, sw_handle filetype)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct pieces pieces = {0, 0, 0};
    if (!sw_presence_asked() || plugin == NULL || !sw_use_wants_view(handle))
        return;
    sw_inside_begin();
    int visited = plugin->type_pieces(filetype, add, &pieces);
    sw_inside_end();
    if (visited >= 0 && pieces.count > 0)
        sw_use_viewed(handle, pieces.bytes, pieces.count);
}
