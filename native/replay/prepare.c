/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Creates what the program has read: noise of the right size, and datasets of the right shape. */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (1 << 20)

void sw_replay_unravel(int64_t index, int n_dims, const int64_t *extents, int64_t *start)
{
    for (int d = n_dims - 1; d >= 0; d--) {
        int64_t extent = extents[d] > 0 ? extents[d] : 1;
        start[d] = d == 0 ? index : index % extent;
        index /= extent;
    }
}

static bool fill(int fd, int64_t bytes)
{
    char *chunk = sw_replay_memory(CHUNK);
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < CHUNK / 8; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((uint64_t *)(void *)chunk)[i] = state;
    }
    while (bytes > 0) {
        ssize_t put = write(fd, chunk, (size_t)(bytes < CHUNK ? bytes : CHUNK));
        if (put <= 0)
            break;
        bytes -= put;
    }
    free(chunk);
    return bytes == 0;
}

static bool make_bytes(const char *path, int64_t bytes, char *trouble, size_t room)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && fill(fd, bytes);
    if (fd >= 0)
        good = close(fd) == 0 && good;
    if (!good)
        snprintf(trouble, room, "cannot make the input %s: %s", path, strerror(errno));
    return good;
}

bool sw_replay_prepare(const struct sw_replay_plan *plan, const char *directory, char *trouble,
                       size_t room)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        snprintf(trouble, room, "cannot make the directory %s: %s", directory, strerror(errno));
        return false;
    }
    for (int64_t i = 0; i < plan->n_files; i++)
        if (unlink(plan->files[i].path) != 0 && errno != ENOENT) {
            snprintf(trouble, room, "cannot remove %s: %s", plan->files[i].path, strerror(errno));
            return false;
        }
    for (int64_t i = 0; i < plan->n_inputs; i++) {
        const struct sw_replay_input *input = &plan->inputs[i];
        bool good = input->kind == 'h'   ? sw_replay_make_hdf5(plan, input, trouble, room)
                    : input->kind == 'p' ? sw_replay_make_pnetcdf(plan, input, trouble, room)
                                         : make_bytes(plan->files[input->file].path,
                                                      input->size_bytes, trouble, room);
        if (!good)
            return false;
    }
    return true;
}
