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

/* Returns the lowest rank of this rank's node: of so many successive ranks, or (0) of those that
 * share its memory. Collective. */
int sw_node_leader(MPI_Comm comm, int64_t node_ranks);

/* The applications of one MPI job; with a single one, nothing here communicates. */
struct sw_meeting {
    MPI_Comm comm; /* of this application; MPI_COMM_WORLD if it is alone */
    int n_applications;
    int number;
    int n_world_ranks;
    int met;      /* number of meeting places already passed */
    double start; /* MPI_Wtime of the first common start */
};

/* All applications reach each meeting place in this order. */
enum sw_meet {
    SW_MEET_FIRST = 1, /* before files are written, or created */
    SW_MEET_SECOND,    /* before files are read, or queried */
    SW_MEET_END
};

/* The part of the options that the other applications need. */
struct sw_plan {
    bool writes;
    const char *file; /* "": names of its own */
    const char *json; /* NULL: none */
};

/* Call before MPI_Init: OMPIO 4.1 cannot open a file on the communicator of one of several
 * applications while its component for shared file pointers in memory is enabled, which is not
 * needed here. */
void sw_meeting_before_init(void);
void sw_meeting_make(struct sw_meeting *meeting);
void sw_meeting_free(struct sw_meeting *meeting);
/* Returns this application's exit code, or that of another one that cannot run, or did not. */
int sw_meeting_agree(const struct sw_meeting *meeting, int code, bool runs);
/* Checks that each application has its own files. Returns false with one line in `trouble`. */
bool sw_meeting_check(const struct sw_meeting *meeting, const struct sw_plan *plan, char *trouble,
                      size_t bytes);
void sw_meeting_at(struct sw_meeting *meeting, enum sw_meet place);
/* Waits until the application with this number has printed its output. */
void sw_meeting_said(const struct sw_meeting *meeting);

#endif
