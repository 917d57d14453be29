/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts transfers, and stops them after a time (--stonewall).
 *
 * A rank stops after its time, and then all ranks make as many transfers as the fastest had made
 * (wear-out). With --transfer, a back end asks before each transfer:
 *
 *     for each variable of the step
 *         while (elements are left && sw_wall_next(session)) { transfer; sw_wall_moved(...); }
 *         sw_wall_section(session);
 *
 * Between two sections, ranks may communicate; within a section only in collective mode, where
 * rank 0 decides for all. Without --transfer, the unit is the step, and only run.c asks.
 */
#ifndef STRIPEWISE_KERNEL_WALL_H
#define STRIPEWISE_KERNEL_WALL_H

#include "share.h"

struct sw_session;

/* Counts of one rank in a pass. */
struct sw_wall {
    double seconds;  /* 0: no time limit */
    double start;    /* MPI_Wtime of the first transfer */
    int64_t budget;  /* maximum transfers of this rank in the pass: what was written */
    int64_t count;   /* transfers of this pass */
    int64_t section; /* of this section */
    int64_t limit;   /* of this section, once the time is over */
    bool stopped;    /* this rank has stopped, or ended its section after the time limit */
    bool hit;        /* some rank was stopped: the same on all ranks between sections */
    double waited;   /* time for the agreement in this step, which does not count */
    int64_t bytes;   /* moved in this step */
    int64_t all_bytes;
    int64_t *moved; /* elements of each variable in this step; NULL: not counted */
    double stop_seconds;
    int64_t stop_count;
    int64_t stop_bytes;
    double whole_seconds; /* from the first transfer to the end of the last */
};

/* Results of all ranks for one direction; on rank 0. */
struct sw_wall_result {
    bool used;
    bool hit;
    bool steps;     /* the unit is a step */
    int64_t most;   /* transfers of the fastest rank when it stopped, and thus of all ranks */
    int64_t least;  /* of the slowest */
    int64_t bytes;  /* of all ranks when they stopped */
    double seconds; /* until the last rank stopped */
    double whole_seconds; /* until all ranks had made as many transfers */
};

/* Returns false if this rank makes no more transfers in this section. */
bool sw_wall_next(struct sw_session *session);
void sw_wall_moved(struct sw_session *session, int variable, int64_t elements);
/* Ends a section; agrees if any rank was stopped. Collective. */
void sw_wall_section(struct sw_session *session);
/* Call after a step; returns true if it was the last one. Collective. */
bool sw_wall_step(struct sw_session *session, int64_t step);
/* Computes the result on rank 0. Collective. */
void sw_wall_reduce(const struct sw_session *session, struct sw_wall_result *result);

#endif
