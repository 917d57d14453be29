/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "meeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

int sw_node_leader(MPI_Comm comm, int64_t node_ranks)
{
    MPI_Comm node = MPI_COMM_NULL;
    int leader = sw_rank_in(comm);
    if (node_ranks > 0)
        return (int)(leader / node_ranks * node_ranks);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, leader, MPI_INFO_NULL, &node);
    MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return leader;
}

/* A plan in the form in which it is sent. */
struct sent {
    int writes;
    char file[PATH_BYTES];
    char json[PATH_BYTES];
};

/* Returns the number of this rank's application according to mpiexec; 0 if it is not reported. */
static int application_of_rank(void)
{
    int *number = NULL;
    int known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &known);
    return known && number != NULL && *number >= 0 ? *number : 0;
}

void sw_meeting_before_init(void)
{
    const char *applications = getenv("OMPI_NUM_APP_CTX");
    if (applications != NULL && strtol(applications, NULL, 10) > 1)
        setenv("OMPI_MCA_sharedfp", "^sm", 0);
}

void sw_meeting_make(struct sw_meeting *meeting)
{
    int own = application_of_rank();
    int ends[2] = {own, -own}; /* the largest number, and the smallest one, negated */
    *meeting = (struct sw_meeting){.comm = MPI_COMM_WORLD, .n_applications = 1};
    int rank = sw_rank_in(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &meeting->n_world_ranks);
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (ends[0] == -ends[1])
        return;
    MPI_Comm_split(MPI_COMM_WORLD, own, rank, &meeting->comm);
    MPI_Comm_rank(meeting->comm, &rank);
    /* Numbers may have gaps: count the first rank of each application. */
    int first = rank == 0;
    int *all = calloc((size_t)meeting->n_world_ranks, sizeof *all);
    int *numbers = calloc((size_t)meeting->n_world_ranks, sizeof *numbers);
    if (all == NULL || numbers == NULL)
        MPI_Abort(MPI_COMM_WORLD, SW_EXIT_FAILED);
    MPI_Allgather(&first, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&own, 1, MPI_INT, numbers, 1, MPI_INT, MPI_COMM_WORLD);
    meeting->n_applications = 0;
    for (int r = 0; r < meeting->n_world_ranks; r++) {
        meeting->n_applications += all[r];
        meeting->number += all[r] && numbers[r] < own;
    }
    free(all);
    free(numbers);
}

void sw_meeting_free(struct sw_meeting *meeting)
{
    if (meeting->n_applications > 1)
        MPI_Comm_free(&meeting->comm);
}

int sw_meeting_agree(const struct sw_meeting *meeting, int code, bool runs)
{
    int both[2] = {code, !runs};
    if (meeting->n_applications == 1)
        return code;
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return both[0] == SW_EXIT_OK && both[1] && runs ? SW_EXIT_USAGE : both[0];
}

static const char *conflict(const struct sent *own, const struct sent *other)
{
    if ((own->writes || other->writes) && strcmp(own->file, other->file) == 0)
        return "file";
    return own->json[0] != '\0' && strcmp(own->json, "-") != 0 &&
                   strcmp(own->json, other->json) == 0
               ? "json"
               : NULL;
}

bool sw_meeting_check(const struct sw_meeting *meeting, const struct sw_plan *plan, char *trouble,
                      size_t bytes)
{
    static struct sent own, other;
    bool good = true;
    if (meeting->n_applications == 1)
        return true;
    int rank = sw_rank_in(meeting->comm);
    int world_rank = sw_rank_in(MPI_COMM_WORLD);
    own.writes = plan->writes;
    snprintf(own.file, sizeof own.file, "%s", plan->file);
    snprintf(own.json, sizeof own.json, "%s", plan->json != NULL ? plan->json : "");
    for (int application = 0; application < meeting->n_applications; application++) {
        int from = rank == 0 && application == meeting->number ? world_rank : -1;
        MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (from == world_rank)
            other = own;
        MPI_Bcast(&other, (int)sizeof other, MPI_BYTE, from, MPI_COMM_WORLD);
        const char *option = application < meeting->number ? conflict(&own, &other) : NULL;
        if (option == NULL || !good)
            continue;
        good = false;
        snprintf(trouble, bytes,
                 "--%s %.300s: application %d of this job uses it too; give each its own", option,
                 strcmp(option, "file") == 0 ? own.file : own.json, application);
    }
    return good;
}

void sw_meeting_at(struct sw_meeting *meeting, enum sw_meet place)
{
    if (meeting == NULL || meeting->n_applications == 1)
        return;
    for (; meeting->met < (int)place; meeting->met++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (meeting->met == 0)
            meeting->start = MPI_Wtime();
    }
}

void sw_meeting_said(const struct sw_meeting *meeting)
{
    if (meeting->n_applications > 1)
        MPI_Barrier(MPI_COMM_WORLD);
}
