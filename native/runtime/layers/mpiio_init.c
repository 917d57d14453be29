/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of MPI. What MPI_Init itself opens (its own configuration, shared memory) is not
 * I/O of the program and is not counted; MPI_Finalize may close the program's files (attribute
 * callbacks of HDF5) and is counted.
 */
#include "layers/mpiio.h"

typedef int init_function(int *, char ***);
typedef int init_thread_function(int *, char ***, int, int *);
typedef int finalize_function(void);
typedef int session_function(sw_handle, sw_handle, sw_handle *);

static int init(init_function *real, const void *caller, int *argc, char ***argv)
{
    sw_inside_begin();
    int result = real(argc, argv);
    sw_inside_end();
    if (result == SW_MPI_SUCCESS)
        sw_mpi_started(caller);
    return result;
}

static int init_thread(init_thread_function *real, const void *caller, int *argc, char ***argv,
                       int required, int *provided)
{
    sw_inside_begin();
    int result = real(argc, argv, required, provided);
    sw_inside_end();
    if (result == SW_MPI_SUCCESS)
        sw_mpi_started(caller);
    return result;
}

static int finalize(finalize_function *real)
{
    int result = real();
    if (result == SW_MPI_SUCCESS && sw_active())
        sw_mpi_finished();
    return result;
}

static int session_init(session_function *real, sw_handle info, sw_handle errhandler,
                        sw_handle *session)
{
    int result = real(info, errhandler, session);
    if (result == SW_MPI_SUCCESS && sw_active())
        sw_note("the program uses MPI_Session_init: ranks are unknown and hints are not applied");
    return result;
}

#define BOTH(name, parameters, types, handed_over)                                                \
    SW_MPI_EXPORTED(MPI_##name, parameters, types, handed_over)                                   \
    SW_MPI_EXPORTED(PMPI_##name, parameters, types, handed_over)

/* clang-format off */
BOTH(Init, (int *argc, char ***argv), (int *, char ***),
     init(real, __builtin_return_address(0), argc, argv))
BOTH(Init_thread, (int *argc, char ***argv, int required, int *provided),
     (int *, char ***, int, int *),
     init_thread(real, __builtin_return_address(0), argc, argv, required, provided))
BOTH(Finalize, (void), (void), finalize(real))
BOTH(Session_init, (sw_handle info, sw_handle errhandler, sw_handle *session),
     (sw_handle, sw_handle, sw_handle *), session_init(real, info, errhandler, session))
/* clang-format on */
