/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Manages what a rank has in a repeat, and removes it. */
#include "metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(5000000000) /* for clean-up after a signal */

int sw_rank_prepare(struct sw_rank *rank, const struct sw_options *options,
                    const struct sw_job *job, struct sw_failure *failure)
{
    size_t bytes = (size_t)options->file_bytes;
    *rank = (struct sw_rank){.options = options, .job = job, .failure = failure};
    if (sw_tree_make(options, &rank->tree) != 0)
        return sw_fail(failure, "malloc", job->directory, 0,
                       "no memory for the paths of the tree, or they are longer than 2 KiB; give "
                       "less --depth or --width");
    rank->buffer = calloc(bytes < sizeof(uint64_t) ? sizeof(uint64_t) : bytes, 1);
    if (options->random)
        rank->order = malloc((size_t)options->files * sizeof *rank->order);
    if (rank->buffer == NULL || (options->random && rank->order == NULL))
        return sw_fail(failure, "malloc", job->directory, 0,
                       "out of memory; give fewer --files or --file-bytes");
    return 0;
}

void sw_rank_free(struct sw_rank *rank)
{
    sw_tree_free(&rank->tree);
    free(rank->buffer);
    free(rank->order);
}

static bool has_root(const struct sw_rank *rank)
{
    return !rank->options->shared || rank->job->rank == 0;
}

bool sw_rank_begin(struct sw_rank *rank)
{
    const struct sw_job *job = rank->job;
    sw_names_begin(&rank->names, &rank->tree, job, rank->options->shared, "file", job->rank);
    rank->files = rank->directories = 0;
    rank->renamed = rank->renames = false;
    if (has_root(rank)) {
        const char *path = sw_name_of_directory(&rank->names, 0);
        if (mkdir(path, 0755) == 0)
            rank->made_root = true;
        else
            sw_fail(rank->failure, "mkdir", path, errno, "");
    }
    return sw_agree(rank->failure);
}

/* splitmix64.  Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void sw_rank_draw(struct sw_rank *rank, int64_t files, int64_t salt)
{
    uint64_t state = (uint64_t)rank->options->seed;
    state = next_random(&state) ^ (uint64_t)salt << 32 ^ (uint64_t)rank->job->rank;
    for (int64_t i = 0; i < files; i++) {
        int64_t j = (int64_t)(next_random(&state) % (uint64_t)(i + 1));
        rank->order[i] = rank->order[j];
        rank->order[j] = i;
    }
}

/* ---- clean-up ---------------------------------------------------------------------------------
 */

/* Returns 0 if it does not exist any more. */
static int gone(struct sw_rank *rank, const char *call, const char *path, int result)
{
    if (result == 0 || errno == ENOENT)
        return 0;
    rank->left = true;
    return sw_fail(rank->failure, call, path, errno, "");
}

/* Removes until a deadline: what is left then stays, under the mark. */
static void remove_all(struct sw_rank *rank, const char *kind, int64_t number, bool directories,
                       uint64_t deadline_ns)
{
    const struct sw_job *job = rank->job;
    sw_names_begin(&rank->names, &rank->tree, job, rank->options->shared, kind, job->rank);
    for (int64_t i = 0; i < number; i++) {
        const char *path = sw_name_of(&rank->names, i);
        if (sw_now_ns() > deadline_ns) {
            rank->left = true;
            return;
        }
        if (directories)
            gone(rank, "rmdir", path, rmdir(path));
        else
            gone(rank, "unlink", path, unlink(path));
    }
}

void sw_rank_clean(struct sw_rank *rank)
{
    uint64_t deadline_ns = sw_stopped ? sw_now_ns() + PATIENCE_NS : UINT64_MAX;
    if (!rank->renamed)
        remove_all(rank, "file", rank->made_files, false, deadline_ns);
    if (rank->renames)
        remove_all(rank, "moved", rank->made_files, false, deadline_ns);
    remove_all(rank, "directory", rank->made_directories, true, deadline_ns);
    rank->made_files = rank->made_directories = 0;
    MPI_Allreduce(MPI_IN_PLACE, &rank->left, 1, MPI_C_BOOL, MPI_LOR, sw_ranks);
    for (int64_t k = rank->made_tree; k > 0 && !rank->left; k--) {
        const char *path = sw_name_of_directory(&rank->names, k);
        gone(rank, "rmdir", path, rmdir(path));
    }
    rank->made_tree = 0;
    if (rank->made_root && !rank->left) {
        const char *path = sw_name_of_directory(&rank->names, 0);
        gone(rank, "rmdir", path, rmdir(path));
    }
    rank->made_root = false;
    MPI_Allreduce(MPI_IN_PLACE, &rank->left, 1, MPI_C_BOOL, MPI_LOR, sw_ranks);
}
