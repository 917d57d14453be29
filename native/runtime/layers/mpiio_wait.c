/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for nonblocking I/O is I/O: an MPI may do the work in there (ROMIO writes strided data
 * in MPI_Wait). As long as no I/O request is open, a wait costs one more load.
 */
#include <string.h>

#include "layers/mpiio.h"

#define MAX_WATCHED 64 /* I/O requests of one call that are watched */

static struct sw_handle_table requests;
static unsigned open_requests;

/* Reads a request from the program's memory: an int or a pointer. */
static uint64_t load_request(const void *at, size_t index, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, (const char *)at + index * bytes, bytes);
    return word;
}

void sw_mpi_data_posted(struct sw_call *call, sw_handle file, enum sw_op op, int result,
                        int64_t count, sw_handle datatype, sw_mpi_offset offset,
                        const void *request)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    if (result == SW_MPI_SUCCESS && plugin != NULL && request != NULL) {
        struct sw_handle_entry entry = {.handle = load_request(request, 0, plugin->request_bytes),
                                        .file = sw_mpi_file(file),
                                        .op = (int8_t)op};
        struct sw_handle_entry stale;
        if (!sw_handle_find(&requests, entry.handle, &stale))
            __atomic_fetch_add(&open_requests, 1, __ATOMIC_RELAXED);
        sw_handle_put(&requests, &entry);
    }
    sw_mpi_data_done(call, file, op, result, count, datatype, offset);
}

/* I/O requests among those for which a call waits. */
struct waiting {
    struct sw_call call;
    struct sw_file *file;
    enum sw_op op; /* of the last one, to which the time is assigned */
    const void *array;
    size_t request_bytes;
    size_t n_watched;
    size_t index[MAX_WATCHED];
    uint64_t handle[MAX_WATCHED];
};

static void drop(uint64_t handle)
{
    if (sw_handle_drop(&requests, handle))
        __atomic_fetch_sub(&open_requests, 1, __ATOMIC_RELAXED);
}

/* Requests for which there is no room are dropped: if kept, they would outlive the wait, and a
 * later message with the same handle would be mistaken for I/O. */
static bool watch(struct waiting *waiting, const void *array, int count)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    struct sw_handle_entry entry;
    waiting->n_watched = 0;
    if (plugin == NULL || array == NULL)
        return false;
    waiting->array = array;
    waiting->request_bytes = plugin->request_bytes;
    for (int i = 0; i < count; i++) {
        uint64_t handle = load_request(array, (size_t)i, plugin->request_bytes);
        if (!sw_handle_find(&requests, handle, &entry))
            continue;
        if (waiting->n_watched == MAX_WATCHED) {
            drop(handle);
            continue;
        }
        waiting->file = entry.file;
        waiting->op = (enum sw_op)entry.op;
        waiting->index[waiting->n_watched] = (size_t)i;
        waiting->handle[waiting->n_watched++] = handle;
    }
    return waiting->n_watched > 0;
}

static bool begin(struct waiting *waiting, const char *name, const void *array, int count)
{
    return __atomic_load_n(&open_requests, __ATOMIC_RELAXED) != 0 &&
           watch(waiting, array, count) && sw_enter_as(&waiting->call, SW_LAYER_MPIIO, name);
}

/* A finished request has been replaced by MPI_REQUEST_NULL. */
static void end(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->n_watched; i++)
        if (load_request(waiting->array, waiting->index[i], waiting->request_bytes) !=
            waiting->handle[i])
            drop(waiting->handle[i]);
    waiting->call.event_flags |= SW_EVENT_WAIT;
    waiting->call.event_op = SW_OP_META;
    sw_leave_time(&waiting->call, waiting->file, waiting->op);
}

/* Defines a function that waits for `count` requests at `array`. */
#define WAIT_FUNCTION(name, parameters, types, arguments, count, array)                           \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        SW_REAL(int, name, types);                                                                \
        struct waiting waiting;                                                                   \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        if (!begin(&waiting, __func__, array, count))                                             \
            return real arguments;                                                                \
        int result = real arguments;                                                              \
        end(&waiting);                                                                            \
        return result;                                                                            \
    }

#define BOTH(name, parameters, types, arguments, count, array)                                    \
    WAIT_FUNCTION(MPI_##name, parameters, types, arguments, count, array)                         \
    WAIT_FUNCTION(PMPI_##name, parameters, types, arguments, count, array)

/* clang-format off */
BOTH(Wait, (void *request, void *status), (void *, void *), (request, status), 1, request)
BOTH(Test, (void *request, int *flag, void *status), (void *, int *, void *),
     (request, flag, status), 1, request)
BOTH(Waitall, (int count, void *array, void *statuses), (int, void *, void *),
     (count, array, statuses), count, array)
BOTH(Testall, (int count, void *array, int *flag, void *statuses), (int, void *, int *, void *),
     (count, array, flag, statuses), count, array)
BOTH(Waitany, (int count, void *array, int *index, void *status), (int, void *, int *, void *),
     (count, array, index, status), count, array)
BOTH(Testany, (int count, void *array, int *index, int *flag, void *status),
     (int, void *, int *, int *, void *), (count, array, index, flag, status), count, array)
BOTH(Waitsome, (int count, void *array, int *n_done, int *indices, void *statuses),
     (int, void *, int *, int *, void *), (count, array, n_done, indices, statuses), count, array)
BOTH(Testsome, (int count, void *array, int *n_done, int *indices, void *statuses),
     (int, void *, int *, int *, void *), (count, array, n_done, indices, statuses), count, array)
/* clang-format on */
