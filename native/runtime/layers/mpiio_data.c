/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data calls of MPI-IO: one row per call, and each row defines four functions: the MPI_ and
 * the PMPI_ name (Open MPI's Fortran and MPICH's mpi_f08 call the latter), with int and with
 * MPI_Count (`_c`) counts. Nonblocking and split calls count their bytes when posted and their
 * wait as time.
 */
#include <string.h>

#include "layers/mpiio.h"

/*
 * Declares `real`, as SW_REAL does. Before MPI 4 there are no `_c` functions, but a program that
 * checks for them by a weak reference (mpi4py's wheels do) finds ours. Its calls are passed to
 * `small`, the function with int counts: the callee reads the lower half of the word, as for
 * handles (mpiio.h). `real` is NULL for a count that exceeds an int.
 */
#define REAL_OR_SMALL(name, small, count, arguments)                                              \
    static int(*sw_cached_##name) arguments;                                                      \
    static bool sw_is_small_##name;                                                               \
    int(*real) arguments = __atomic_load_n(&sw_cached_##name, __ATOMIC_ACQUIRE);                  \
    if (__builtin_expect(real == NULL, 0)) {                                                      \
        bool is_small = false;                                                                    \
        real =                                                                                    \
            (int(*) arguments)find_real(#name, #small, __builtin_return_address(0), &is_small);   \
        __atomic_store_n(&sw_is_small_##name, is_small, __ATOMIC_RELAXED);                        \
        __atomic_store_n(&sw_cached_##name, real, __ATOMIC_RELEASE);                              \
    }                                                                                             \
    if (sizeof(count) > sizeof(int) && (count) != (int)(count) &&                                 \
        __atomic_load_n(&sw_is_small_##name, __ATOMIC_RELAXED))                                   \
        real = NULL;

static void *find_real(const char *name, const char *small, const void *caller, bool *is_small)
{
    void *real = sw_resolve(name, caller);
    *is_small = real == NULL && strcmp(name, small) != 0;
    return *is_small ? sw_resolve(small, caller) : real;
}

/* (file, buffer, count, datatype, status or request) */
#define PLAIN_BODY(name, small, op, flags, count_type, done)                                      \
    SW_EXPORT int name(sw_handle file, void *buffer, count_type count, sw_handle datatype,        \
                       void *out);                                                                \
    SW_EXPORT int name(sw_handle file, void *buffer, count_type count, sw_handle datatype,        \
                       void *out)                                                                 \
    {                                                                                             \
        REAL_OR_SMALL(name, small, count, (sw_handle, void *, count_type, sw_handle, void *))     \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!sw_enter(&call, SW_LAYER_MPIIO))                                                     \
            return real(file, buffer, count, datatype, out);                                      \
        sw_mpi_before(&call, file, flags, op, -1, count, datatype);                               \
        int result = real(file, buffer, count, datatype, out);                                    \
        done(&call, file, op, result, count, datatype, -1, out);                                  \
        return result;                                                                            \
    }

/* (file, offset, buffer, count, datatype, status or request) */
#define AT_BODY(name, small, op, flags, count_type, done)                                         \
    SW_EXPORT int name(sw_handle file, sw_mpi_offset offset, void *buffer, count_type count,      \
                       sw_handle datatype, void *out);                                            \
    SW_EXPORT int name(sw_handle file, sw_mpi_offset offset, void *buffer, count_type count,      \
                       sw_handle datatype, void *out)                                             \
    {                                                                                             \
        REAL_OR_SMALL(name, small, count,                                                         \
                      (sw_handle, sw_mpi_offset, void *, count_type, sw_handle, void *))          \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!sw_enter(&call, SW_LAYER_MPIIO))                                                     \
            return real(file, offset, buffer, count, datatype, out);                              \
        sw_mpi_before(&call, file, flags, op, offset, count, datatype);                           \
        int result = real(file, offset, buffer, count, datatype, out);                            \
        done(&call, file, op, result, count, datatype, offset, out);                              \
        return result;                                                                            \
    }

/* (file, buffer, count, datatype) */
#define BEGIN_FUNCTION(name, small, op, flags, count_type)                                        \
    SW_EXPORT int name(sw_handle file, void *buffer, count_type count, sw_handle datatype);       \
    SW_EXPORT int name(sw_handle file, void *buffer, count_type count, sw_handle datatype)        \
    {                                                                                             \
        REAL_OR_SMALL(name, small, count, (sw_handle, void *, count_type, sw_handle))             \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!sw_enter(&call, SW_LAYER_MPIIO))                                                     \
            return real(file, buffer, count, datatype);                                           \
        sw_mpi_before(&call, file, flags, op, -1, count, datatype);                               \
        int result = real(file, buffer, count, datatype);                                         \
        sw_mpi_data_done(&call, file, op, result, count, datatype, -1);                           \
        return result;                                                                            \
    }

/* (file, offset, buffer, count, datatype) */
#define BEGIN_AT_FUNCTION(name, small, op, flags, count_type)                                     \
    SW_EXPORT int name(sw_handle file, sw_mpi_offset offset, void *buffer, count_type count,      \
                       sw_handle datatype);                                                       \
    SW_EXPORT int name(sw_handle file, sw_mpi_offset offset, void *buffer, count_type count,      \
                       sw_handle datatype)                                                        \
    {                                                                                             \
        REAL_OR_SMALL(name, small, count,                                                         \
                      (sw_handle, sw_mpi_offset, void *, count_type, sw_handle))                  \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!sw_enter(&call, SW_LAYER_MPIIO))                                                     \
            return real(file, offset, buffer, count, datatype);                                   \
        sw_mpi_before(&call, file, flags, op, offset, count, datatype);                           \
        int result = real(file, offset, buffer, count, datatype);                                 \
        sw_mpi_data_done(&call, file, op, result, count, datatype, offset);                       \
        return result;                                                                            \
    }

/* (file, buffer, status) */
#define END_FUNCTION(name)                                                                        \
    SW_EXPORT int name(sw_handle file, void *buffer, void *status);                               \
    SW_EXPORT int name(sw_handle file, void *buffer, void *status)                                \
    {                                                                                             \
        SW_REAL(int, name, (sw_handle, void *, void *));                                          \
        struct sw_call call;                                                                      \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!sw_enter(&call, SW_LAYER_MPIIO))                                                     \
            return real(file, buffer, status);                                                    \
        call.event_flags = SW_EVENT_SPLIT;                                                        \
        int result = real(file, buffer, status);                                                  \
        sw_mpi_leave(&call, sw_mpi_file(file), SW_OP_META, result);                               \
        return result;                                                                            \
    }

/* With a status, the call is complete; with a request, it is only posted. */
#define OVER(call, file, op, result, count, datatype, offset, status)                             \
    sw_mpi_data_done(call, file, op, result, count, datatype, offset)
#define PLAIN_FUNCTION(name, small, op, flags, count_type)                                        \
    PLAIN_BODY(name, small, op, flags, count_type, OVER)
#define AT_FUNCTION(name, small, op, flags, count_type)                                           \
    AT_BODY(name, small, op, flags, count_type, OVER)
#define POST_FUNCTION(name, small, op, flags, count_type)                                         \
    PLAIN_BODY(name, small, op, (flags) | SW_EVENT_NONBLOCKING, count_type, sw_mpi_data_posted)
#define POST_AT_FUNCTION(name, small, op, flags, count_type)                                      \
    AT_BODY(name, small, op, (flags) | SW_EVENT_NONBLOCKING, count_type, sw_mpi_data_posted)

#define FOUR(FUNCTION, name, op, flags)                                                           \
    FUNCTION(MPI_File_##name, MPI_File_##name, op, flags, int)                                    \
    FUNCTION(PMPI_File_##name, PMPI_File_##name, op, flags, int)                                  \
    FUNCTION(MPI_File_##name##_c, MPI_File_##name, op, flags, sw_mpi_offset)                      \
    FUNCTION(PMPI_File_##name##_c, PMPI_File_##name, op, flags, sw_mpi_offset)

#define OWN SW_EVENT_POINTER
#define SHARED SW_EVENT_SHARED
#define PLAIN(name, op, flags) FOUR(PLAIN_FUNCTION, name, op, flags)
#define AT(name, op) FOUR(AT_FUNCTION, name, op, 0)
#define POST(name, op, flags) FOUR(POST_FUNCTION, name, op, flags)
#define POST_AT(name, op) FOUR(POST_AT_FUNCTION, name, op, 0)
#define BEGIN(name, op, flags) FOUR(BEGIN_FUNCTION, name, op, (flags) | SW_EVENT_SPLIT)
#define BEGIN_AT(name, op) FOUR(BEGIN_AT_FUNCTION, name, op, SW_EVENT_SPLIT)
#define END(name) END_FUNCTION(MPI_File_##name) END_FUNCTION(PMPI_File_##name)

/* clang-format off */
PLAIN(read,                   SW_OP_READ, OWN)
PLAIN(write,                  SW_OP_WRITE, OWN)
PLAIN(read_shared,            SW_OP_READ, SHARED)
PLAIN(write_shared,           SW_OP_WRITE, SHARED)
PLAIN(read_all,               SW_OP_READ_COLLECTIVE, OWN)
PLAIN(write_all,              SW_OP_WRITE_COLLECTIVE, OWN)
PLAIN(read_ordered,           SW_OP_READ_COLLECTIVE, SHARED)
PLAIN(write_ordered,          SW_OP_WRITE_COLLECTIVE, SHARED)
POST(iread,                  SW_OP_READ, OWN)
POST(iwrite,                 SW_OP_WRITE, OWN)
POST(iread_shared,           SW_OP_READ, SHARED)
POST(iwrite_shared,          SW_OP_WRITE, SHARED)
POST(iread_all,              SW_OP_READ_COLLECTIVE, OWN)
POST(iwrite_all,             SW_OP_WRITE_COLLECTIVE, OWN)
AT(read_at,                   SW_OP_READ)
AT(write_at,                  SW_OP_WRITE)
AT(read_at_all,               SW_OP_READ_COLLECTIVE)
AT(write_at_all,              SW_OP_WRITE_COLLECTIVE)
POST_AT(iread_at,                  SW_OP_READ)
POST_AT(iwrite_at,                 SW_OP_WRITE)
POST_AT(iread_at_all,              SW_OP_READ_COLLECTIVE)
POST_AT(iwrite_at_all,             SW_OP_WRITE_COLLECTIVE)
BEGIN(read_all_begin,         SW_OP_READ_COLLECTIVE, OWN)
BEGIN(write_all_begin,        SW_OP_WRITE_COLLECTIVE, OWN)
BEGIN(read_ordered_begin,     SW_OP_READ_COLLECTIVE, SHARED)
BEGIN(write_ordered_begin,    SW_OP_WRITE_COLLECTIVE, SHARED)
BEGIN_AT(read_at_all_begin,   SW_OP_READ_COLLECTIVE)
BEGIN_AT(write_at_all_begin,  SW_OP_WRITE_COLLECTIVE)
END(read_all_end)
END(write_all_end)
END(read_at_all_end)
END(write_at_all_end)
END(read_ordered_end)
END(write_ordered_end)
/* clang-format on */
