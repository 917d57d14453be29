/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a layer needs from the core.  A layer's wrapper is 4-8 lines: resolve the real
 * function, sw_enter, call it, sw_leave.  errno is kept by enter/leave.
 *
 *   ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
 *   {
 *       SW_REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));
 *       struct sw_call call;
 *       if (!sw_enter(&call, SW_LAYER_POSIX))
 *           return real(fd, buffer, bytes, offset);
 *       ssize_t result = real(fd, buffer, bytes, offset);
 *       sw_leave_data(&call, sw_fd_file(fd), SW_OP_WRITE, result, offset);
 *       return result;
 *   }
 */
#ifndef STRIPEWISE_CORE_H
#define STRIPEWISE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stripewise/container.h"
#include "stripewise/environment.h"
#include "stripewise/plugin.h"

#define SW_EXPORT __attribute__((visibility("default")))

/* ---- symbols ------------------------------------------------------------------- */

/* The next definition of `name`: RTLD_NEXT, otherwise in the scope of the object that
 * holds `caller` (Python extensions load MPI and HDF5 RTLD_LOCAL).  NULL if none. */
void *sw_resolve(const char *name, const void *caller);

/* Declares `real`, resolved once per wrapper.  A symbol that cannot be resolved leaves
 * `real` NULL; a wrapper of an optional symbol must check. */
#define SW_REAL(type, name, arguments)                                                            \
    static type(*sw_cached_##name) arguments;                                                     \
    type(*real) arguments = __atomic_load_n(&sw_cached_##name, __ATOMIC_RELAXED);                 \
    if (__builtin_expect(real == NULL, 0)) {                                                      \
        real = (type(*) arguments)sw_resolve(#name, __builtin_return_address(0));                 \
        __atomic_store_n(&sw_cached_##name, real, __ATOMIC_RELAXED);                              \
    }

/* ---- calls --------------------------------------------------------------------- */

struct sw_file; /* counters of one file in one layer in this process */

/* `position` of a call: its event has the offset that sw_leave_data is given. */
#define SW_POSITION_OF_CALL INT64_MIN
/* `event_bytes` of a call: its event has the bytes that are counted. */
#define SW_BYTES_OF_CALL INT64_C(-1)
#define SW_OP_OF_CALL (-1)

struct sw_call {
    uint64_t start_ns;
    int layer;
    bool outermost;
    bool by_ticks;   /* `start_ns` is in ticks, until the call has ended */
    uint32_t active; /* layers that were active on this thread before */
    /* Of the event (trace.h), which a layer may change between enter and leave. */
    uint16_t event_flags; /* SW_EVENT_* */
    int8_t event_op;      /* enum sw_op, SW_OP_OF_CALL: the one that is counted */
    uint32_t shape;       /* of sw_shape_intern or sw_view_intern */
    uint32_t object;      /* of sw_object_intern */
    int64_t position;
    int64_t event_bytes;
    const char *name; /* of the function; lives as long as the process */
    uint64_t sequence;
    uint64_t end_ns; /* of sw_call_ended, 0: the call ends where it is left */
};

/* False: pass straight through (disabled, inside our own code, in a signal handler that
 * interrupted us, or the same layer is already active on this thread: re-entry through
 * PMPI_).  A lower layer inside a higher one (pwrite inside MPI_File_write) is true, with
 * `outermost` false. */
bool sw_enter_as(struct sw_call *call, int layer, const char *name);
/* In the exported function itself, whose name stands in the trace. */
#define sw_enter(call, layer) sw_enter_as(call, layer, __func__)
/* The same, at less cost, for a call that ends by sw_leave: of it only its duration is kept.
 * `matters`: what later calls move is not known if this one is not counted. */
bool sw_enter_briefly_as(struct sw_call *call, int layer, const char *name, bool matters);
#define sw_enter_briefly(call, layer) sw_enter_briefly_as(call, layer, __func__, false)
/* The program's call is over; what a layer asks from here to sw_leave* is not its time. */
void sw_call_ended(struct sw_call *call);
/* End of a call without data.  `file` may be NULL: only the outermost time counts. */
void sw_leave(struct sw_call *call, struct sw_file *file, enum sw_op op);
/* End of a data call: `bytes` < 0 is a failed call (counted in time, not in bytes);
 * `offset` < 0: unknown, no alignment or sequence is kept. */
void sw_leave_data(struct sw_call *call, struct sw_file *file, enum sw_op op, int64_t bytes,
                   int64_t offset);

/* End of a call whose time belongs to `op` but which is not counted: the bytes that it moves are,
 * where they were posted. */
void sw_leave_time(struct sw_call *call, struct sw_file *file, enum sw_op op);

/* Set while our own code runs on this thread, so that its calls are not counted. */
void sw_inside_begin(void);
void sw_inside_end(void);

/* ---- files --------------------------------------------------------------------- */

/* Record of `path` (made absolute, ROMIO prefix stripped, filtered by include and exclude)
 * in a layer; NULL if it is filtered out or there is no room.  Keeps errno. */
struct sw_file *sw_file_get(int layer, const char *path);
void sw_file_flag(struct sw_file *file, uint32_t flags);
uint64_t sw_file_id(const struct sw_file *file);
/* What was counted of it so far. */
void sw_file_counted(const struct sw_file *file, struct sw_op_counters ops[SW_OP_COUNT]);
/* Record of an open descriptor (NULL if not tracked). POSIX layer only. */
struct sw_file *sw_fd_file(int fd);

/* ---- the process --------------------------------------------------------------- */

bool sw_active(void);                    /* loaded, not disabled, and still healthy */
bool sw_recording(void);                 /* a container is mapped */
struct sw_process *sw_process_get(void); /* mapped header; NULL without a container */
void sw_process_flag(uint32_t flags);
/* Add a settings record / a note.  Copies the text. */
void sw_settings_add(int layer, uint64_t file_id, enum sw_settings_kind kind, const char *text);
void sw_note(const char *text);

/* ---- MPI ----------------------------------------------------------------------- */

/* Called by the MPI layer after MPI_Init*: fills rank, size, version and plug-in state. */
void sw_mpi_started(const void *caller);
/* Called by the MPI layer after MPI_Finalize: no plug-in from here on. */
void sw_mpi_finished(void);
const struct sw_plugin *sw_mpi_plugin(void); /* NULL: no usable plug-in */
/* In MPI_COMM_WORLD; -1 and 0: not known (yet). */
int sw_mpi_rank(void);
int sw_mpi_size(void);
/* The MPI applies MPICH_MPIIO_HINTS itself (Cray MPICH). */
bool sw_mpi_applies_mpich_hints(void);

/* Whether the environment tells Open MPI to do MPI-IO by ROMIO. */
bool sw_openmpi_has_romio(void);

/* ---- adopt --------------------------------------------------------------------- */

/* Reads STRIPEWISE_CONFIGURATION (or its file) and MPICH_MPIIO_HINTS.  Once, at load. */
void sw_adopt_load(void);
bool sw_adopt_any(void);

#define SW_MAX_SETTINGS 64
struct sw_setting {
    const char *key;
    const char *value;
    int override;
};
enum sw_setting_group { SW_SETTING_MPIIO, SW_SETTING_HDF5, SW_SETTING_PNETCDF, SW_SETTING_ADIOS2 };
/* Settings for a file (dataset NULL) or for a dataset of it (then with the file's own, which
 * count for all its datasets); later entries have won already.  Returns how many were stored in
 * `settings`. */
size_t sw_adopt_lookup(enum sw_setting_group group, const char *path, const char *dataset,
                       struct sw_setting *settings, size_t room);

/* What all ranks together moved of a file, by what it mostly was: written or read. */
struct sw_file_use {
    bool writing;
    bool collective;
    bool interleaved; /* a call moves several pieces of the file */
    int64_t ranks;    /* that opened it */
    int64_t bytes;
    int64_t run_bytes; /* mean length of a piece that lies together in the file */
};
bool sw_adopt_any_series(void);
/* Hints for later files of a series whose first one was used so; stored as above. */
size_t sw_adopt_lookup_series(const struct sw_file_use *use, struct sw_setting *settings,
                              size_t room);
/* Of the whole configuration: equal where its text is. */
uint64_t sw_adopt_digest(void);

#endif
