/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* No error of ours reaches a handler of the program's; and handles as they are carried. */
#ifndef STRIPEWISE_QUIET_H
#define STRIPEWISE_QUIET_H

#include <mpi.h>

/* A handle as the core carries it, back in this MPI's type: an int or a pointer. */
#define HANDLE(type, word) ((type)(word))

/* Errors of calls without a communicator go to MPI_COMM_WORLD's handler (MPI 3) or to
 * MPI_COMM_SELF's (MPI 4). */
struct quiet {
    MPI_Errhandler world;
    MPI_Errhandler self;
};

static inline void quiet_one(MPI_Comm comm, MPI_Errhandler *found)
{
    *found = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, found) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static inline void restore_one(MPI_Comm comm, MPI_Errhandler *found)
{
    if (*found == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_set_errhandler(comm, *found);
    PMPI_Errhandler_free(found);
}

static inline struct quiet quiet_begin(void)
{
    struct quiet quiet;
    quiet_one(MPI_COMM_WORLD, &quiet.world);
    quiet_one(MPI_COMM_SELF, &quiet.self);
    return quiet;
}

static inline void quiet_end(struct quiet *quiet)
{
    restore_one(MPI_COMM_WORLD, &quiet->world);
    restore_one(MPI_COMM_SELF, &quiet->self);
}

#endif
