/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Determines where ranks are, and whose files they use; manages the directory of the job. */
#include "metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "/.stripewise-mark" /* src/stripewise/core recognises a directory by it */
#define TRIES 8

/* ---- nodes ------------------------------------------------------------------------------------
 */

/* Returns the smallest shift with which every rank uses files of another node; if there is none,
 * one node. */
static int another_node(const int *leaders, int n_ranks, int most_node_ranks)
{
    for (int shift = 1; shift < n_ranks; shift++) {
        int rank = 0;
        while (rank < n_ranks && leaders[rank] != leaders[(rank + shift) % n_ranks])
            rank++;
        if (rank == n_ranks)
            return shift;
    }
    return most_node_ranks % n_ranks;
}

/* Replaces `leaders` by the number of ranks that each of them leads. */
static void count_nodes(int *leaders, struct sw_job *job)
{
    int *sizes = leaders + job->n_ranks;
    for (int r = 0; r < job->n_ranks; r++) {
        if (leaders[r] == r && r < leaders[job->rank])
            job->node++;
        job->n_nodes += leaders[r] == r;
        if (++sizes[leaders[r]] > job->most_node_ranks)
            job->most_node_ranks = sizes[leaders[r]];
    }
}

/* Compares clocks of nodes: the first rank of each node asks rank 0 for the time. */
#define ROUNDS 32

/* On rank 0: answers a node's requests. */
static void answer(int other)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t now = 0;
        MPI_Recv(NULL, 0, MPI_BYTE, other, 1, sw_ranks, MPI_STATUS_IGNORE);
        now = sw_now_ns();
        MPI_Send(&now, 1, MPI_UINT64_T, other, 2, sw_ranks);
    }
}

/* The round with the shortest round-trip is the most accurate. Source: D. Mills, RFC 5905, section
 * 8. */
static void ask(struct sw_job *job)
{
    uint64_t shortest = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t there = 0;
        uint64_t begin = sw_now_ns();
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, sw_ranks);
        MPI_Recv(&there, 1, MPI_UINT64_T, 0, 2, sw_ranks, MPI_STATUS_IGNORE);
        uint64_t end = sw_now_ns();
        if (end - begin < shortest) {
            shortest = end - begin;
            job->offset_ns = (int64_t)(begin + shortest / 2) - (int64_t)there;
        }
    }
    job->clock_uncertainty = (double)shortest / 2e9;
}

/* Determines offset_ns and clock_uncertainty. Collective. */
static void compare_clocks(struct sw_job *job)
{
    MPI_Comm node;
    int first = job->rank;
    job->offset_ns = 0;
    job->clock_uncertainty = 0;
    MPI_Comm_split(sw_ranks, job->node, job->rank, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    int on_node = sw_rank_in(node);
    for (int n = 1; n < job->n_nodes; n++) {
        int other = job->node == n && on_node == 0 ? job->rank : 0;
        MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, sw_ranks);
        if (job->rank == 0)
            answer(other);
        else if (job->rank == other)
            ask(job);
    }
    MPI_Bcast(&job->offset_ns, 1, MPI_INT64_T, 0, node);
    MPI_Allreduce(MPI_IN_PLACE, &job->clock_uncertainty, 1, MPI_DOUBLE, MPI_MAX, sw_ranks);
    MPI_Comm_free(&node);
}

void sw_job_find(const struct sw_options *options, struct sw_job *job)
{
    *job = (struct sw_job){0};
    MPI_Comm_rank(sw_ranks, &job->rank);
    MPI_Comm_size(sw_ranks, &job->n_ranks);
    gethostname(job->host, sizeof job->host - 1);
    int own = sw_node_leader(sw_ranks, options->node_ranks);
    int *leaders = calloc(2 * (size_t)job->n_ranks, sizeof *leaders);
    if (leaders == NULL)
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED); /* the ranks cannot agree any more */
    MPI_Allgather(&own, 1, MPI_INT, leaders, 1, MPI_INT, sw_ranks);
    count_nodes(leaders, job);
    if (options->shift >= 0)
        job->shift = (int)(options->shift % job->n_ranks);
    else if (job->n_nodes > 1)
        job->shift = another_node(leaders, job->n_ranks, job->most_node_ranks);
    free(leaders);
    compare_clocks(job);
}

/* ---- the directory ----------------------------------------------------------------------------
 */

static void random_hex(char *text, size_t digits)
{
    unsigned char bytes[16] = {0};
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) < 0) {
        uint64_t seed = sw_now_ns() ^ (uint64_t)getpid() << 40;
        memcpy(bytes, &seed, sizeof seed);
    }
    for (size_t i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 * 4) & 15];
    text[digits] = '\0';
}

static void leave_mark(const struct sw_job *job, struct sw_failure *failure)
{
    char path[SW_PATH_BYTES + 32];
    char text[256];
    char identity[33];
    random_hex(identity, 32);
    snprintf(path, sizeof path, "%s" MARK, job->directory);
    int bytes = snprintf(text, sizeof text,
                         "{\"kind\": \"metadata\", \"identity\": \"%s\", \"made\": true, "
                         "\"host\": \"%.60s\"}",
                         identity, job->host);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, (size_t)bytes) != bytes)
        sw_fail(failure, "open", path, errno != 0 ? errno : EIO, "");
    if (fd >= 0)
        close(fd);
}

static void make_directory(const struct sw_options *options, struct sw_job *job,
                           struct sw_failure *failure)
{
    struct stat status;
    if (stat(options->directory, &status) != 0 || !S_ISDIR(status.st_mode)) {
        sw_fail(failure, "stat", options->directory, 0,
                "there is no such directory; make it, or give another --directory");
        return;
    }
    for (int tries = 0; tries < TRIES; tries++) {
        char hex[17];
        random_hex(hex, 8);
        snprintf(job->directory, sizeof job->directory, "%.3500s/stripewise-metadata-%s",
                 options->directory, hex);
        if (mkdir(job->directory, 0755) == 0) {
            leave_mark(job, failure);
            return;
        }
        if (errno != EEXIST)
            break;
    }
    sw_fail(failure, "mkdir", job->directory, errno, "");
    job->directory[0] = '\0';
}

bool sw_job_begin(const struct sw_options *options, struct sw_job *job, struct sw_failure *failure)
{
    struct stat status;
    if (job->rank == 0)
        make_directory(options, job, failure);
    MPI_Bcast(job->directory, sizeof job->directory, MPI_CHAR, 0, sw_ranks);
    if (job->rank != 0 && job->directory[0] != '\0' && stat(job->directory, &status) != 0)
        sw_fail(failure, "stat", job->directory, 0,
                "rank 0 made this directory, and this rank does not see it; give a --directory "
                "on storage that all nodes share");
    return sw_agree(failure);
}

void sw_job_end(const struct sw_job *job, struct sw_failure *failure)
{
    char path[SW_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s" MARK, job->directory);
    unlink(path);
    if (rmdir(job->directory) != 0)
        sw_fail(failure, "rmdir", job->directory, errno, "");
}
