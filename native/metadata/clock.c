/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of nodes against each other: the first rank of each node asks rank 0 for the time. */
#include "metadata.h"

#define ROUNDS 32

/* Rank 0 answers a node's questions. */
static void answer(int other)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t now = 0;
        MPI_Recv(NULL, 0, MPI_BYTE, other, 1, sw_ranks, MPI_STATUS_IGNORE);
        now = sw_now_ns();
        MPI_Send(&now, 1, MPI_UINT64_T, other, 2, sw_ranks);
    }
}

/* The round with the shortest way tells best.  Source: D. Mills, RFC 5905, section 8. */
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

void sw_clocks_compare(struct sw_job *job)
{
    MPI_Comm node;
    int first = job->rank;
    int on_node = 0;
    job->offset_ns = 0;
    job->clock_uncertainty = 0;
    MPI_Comm_split(sw_ranks, job->node, job->rank, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_rank(node, &on_node);
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
