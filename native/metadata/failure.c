/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Failed calls are kept, not acted on; ranks agree before anybody stops. */
#include "metadata.h"
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t sw_stopped = 0;

static const char *remedy_of(int number)
{
    static const struct {
        int number;
        const char *remedy;
    } rows[] = {
        {ENOSPC, "free some space or inodes, or give fewer --files"},
        {EDQUOT, "the quota is used up: give fewer --files or another --directory"},
        {EACCES, "give a --directory that you may write to"},
        {EPERM, "give a --directory that you may write to"},
        {EROFS, "give a --directory that can be written"},
        {EMLINK, "give fewer --files, a tree (--depth, --width) or --sharing own"},
        {ENAMETOOLONG, "give a --directory with a shorter path, or less --depth"},
        {ENOENT, "see that nothing else removes files there"},
        {ENOTEMPTY, "something else put files there: remove the directory by hand"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return rows[i].remedy;
    return "see that the file system works";
}

int sw_fail(struct sw_failure *failure, const char *call, const char *path, int number,
            const char *text)
{
    if (failure->failed)
        return -1; /* what follows from the first one helps nobody */
    failure->failed = 1;
    snprintf(failure->call, sizeof failure->call, "%s", call);
    snprintf(failure->path, sizeof failure->path, "%s", path);
    if (number != 0)
        snprintf(failure->text, sizeof failure->text, "%s; %s", strerror(number),
                 remedy_of(number));
    else
        snprintf(failure->text, sizeof failure->text, "%s", text);
    return -1;
}

bool sw_agree(const struct sw_failure *failure)
{
    int any[2] = {failure->failed, (int)sw_stopped};
    MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, sw_ranks);
    if (any[1] != 0)
        sw_stopped = any[1];
    return any[0] == 0 && any[1] == 0;
}

/* "rank 3: open(/scratch/...): No space left on device; free some ..." */
static void tell(void *data, int rank, const void *record)
{
    struct sw_result *result = data;
    const struct sw_failure *failure = record;
    size_t room = sizeof result->failures / sizeof result->failures[0];
    result->n_failures++;
    if ((size_t)result->n_failures_told < room)
        snprintf(result->failures[result->n_failures_told++], sizeof result->failures[0],
                 "rank %d: %s(%s): %s", rank, failure->call, failure->path, failure->text);
}

void sw_failures_collect(struct sw_result *result, const struct sw_failure *failure)
{
    sw_failures_gather(sw_ranks, failure, failure->failed, sizeof *failure, tell, result);
}
