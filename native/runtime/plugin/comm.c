/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What ranks need to agree on something. */
#include "comm.h"
#include "quiet.h"

int sw_is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    struct quiet quiet = quiet_begin();
    int code = PMPI_Comm_get_parent(&parent);
    quiet_end(&quiet);
    return code != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

#define RANKS_AT_A_TIME 256

/* Whether all processes of a group are of MPI_COMM_WORLD.  Allocates nothing: the answer must not
 * depend on how much memory a rank has. */
static int is_within(MPI_Group group, MPI_Group all, int size)
{
    int ranks[RANKS_AT_A_TIME];
    int found[RANKS_AT_A_TIME];
    for (int done = 0; done < size; done += RANKS_AT_A_TIME) {
        int count = size - done < RANKS_AT_A_TIME ? size - done : RANKS_AT_A_TIME;
        for (int i = 0; i < count; i++)
            ranks[i] = done + i;
        if (PMPI_Group_translate_ranks(group, count, ranks, all, found) != MPI_SUCCESS)
            return 0;
        for (int i = 0; i < count; i++)
            if (found[i] == MPI_UNDEFINED)
                return 0;
    }
    return 1;
}

static int is_of_this_world(MPI_Comm comm, int size)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    int within = comm == MPI_COMM_WORLD;
    if (!within && PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
        if (PMPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
            within = is_within(group, all, size);
            PMPI_Group_free(&all);
        }
        PMPI_Group_free(&group);
    }
    return within;
}

int sw_comm_size(sw_handle comm)
{
    MPI_Comm own = HANDLE(MPI_Comm, comm);
    int between = 1;
    int size = 0;
    if (own == MPI_COMM_NULL)
        return 0;
    struct quiet quiet = quiet_begin();
    int code = PMPI_Comm_test_inter(own, &between);
    if (code == MPI_SUCCESS && !between)
        code = PMPI_Comm_size(own, &size);
    if (code != MPI_SUCCESS || between || !is_of_this_world(own, size))
        size = 0;
    quiet_end(&quiet);
    return size;
}

int sw_comm_sum(sw_handle comm, int64_t *words, int n_words)
{
    return PMPI_Allreduce(MPI_IN_PLACE, words, n_words, MPI_INT64_T, MPI_SUM,
                          HANDLE(MPI_Comm, comm));
}
