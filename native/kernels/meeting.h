/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several of our programs in one MPI job (MPMD), kernels and stripewise-metadata: each has its own
 * ranks, options, files and report, and all begin their timed parts together.
 */
#ifndef STRIPEWISE_MEETING_H
#define STRIPEWISE_MEETING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of these programs, the same on every rank. */
enum sw_exit { SW_EXIT_OK = 0, SW_EXIT_FAILED = 1, SW_EXIT_USAGE = 2 };

static inline int sw_rank_in(MPI_Comm comm)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static inline int sw_size_of(MPI_Comm comm)
{
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

/* The lowest rank of this rank's node: of so many successive ranks, or (0) of those that share its
 * memory.  Collective. */
int sw_node_leader(MPI_Comm comm, int64_t node_ranks);

/* The applications of one MPI job; with one of them, nothing here communicates. */
struct sw_meeting {
    MPI_Comm comm; /* of this application; MPI_COMM_WORLD if it is alone */
    int n_applications;
    int number;
    int n_world_ranks;
    int met;      /* places that are behind it */
    double start; /* MPI_Wtime of the first common start */
};

/* All applications come to each place in this order. */
enum sw_meet {
    SW_MEET_FIRST = 1, /* before what is written, or made */
    SW_MEET_SECOND,    /* before what is read, or asked for */
    SW_MEET_END
};

/* What of a request the others have to know. */
struct sw_plan {
    bool writes;
    const char *file; /* "": names of its own */
    const char *json; /* NULL: none */
};

/* Before MPI_Init: OMPIO 4.1 opens no file on the communicator of one of several applications
 * while its component of shared file pointers in memory is on, which nothing here needs. */
void sw_meeting_before_init(void);
void sw_meeting_make(struct sw_meeting *meeting);
void sw_meeting_free(struct sw_meeting *meeting);
/* This application's exit code; another's if that cannot run, or does not. */
int sw_meeting_agree(const struct sw_meeting *meeting, int code, bool runs);
/* Whether each has its own files.  False with one line in `trouble`. */
bool sw_meeting_check(const struct sw_meeting *meeting, const struct sw_plan *plan, char *trouble,
                      size_t bytes);
void sw_meeting_at(struct sw_meeting *meeting, enum sw_meet place);
/* Wait until the application of this number has said what it has to say. */
void sw_meeting_said(const struct sw_meeting *meeting);

#endif
