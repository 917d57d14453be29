/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a layer needs from the core. A layer's wrapper has 4 to 8 lines: resolve the real function,
 * sw_enter, call it, sw_leave. enter and leave keep errno.
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

/* Returns the next definition of `name`: RTLD_NEXT, otherwise in the scope of the object that
 * contains `caller` (Python extensions load MPI and HDF5 RTLD_LOCAL). NULL if there is none. */
void *sw_resolve(const char *name, const void *caller);

/* Declares `real`, resolved once per wrapper. If the symbol cannot be resolved, `real` is NULL; a
 * wrapper of an optional symbol must check it. */
#define SW_REAL(type, name, arguments)                                                            \
    static type(*sw_cached_##name) arguments;                                                     \
    type(*real) arguments = __atomic_load_n(&sw_cached_##name, __ATOMIC_RELAXED);                 \
    if (__builtin_expect(real == NULL, 0)) {                                                      \
        real = (type(*) arguments)sw_resolve(#name, __builtin_return_address(0));                 \
        __atomic_store_n(&sw_cached_##name, real, __ATOMIC_RELAXED);                              \
    }

/* ---- calls --------------------------------------------------------------------- */

struct sw_file; /* counters of one file in one layer in this process */

/* `position` of a call whose event uses the offset passed to sw_leave_data. */
#define SW_POSITION_OF_CALL INT64_MIN
/* `event_bytes` of a call whose event uses the counted bytes. */
#define SW_BYTES_OF_CALL INT64_C(-1)
#define SW_OP_OF_CALL (-1)

struct sw_call {
    uint64_t start_ns;
    int layer;
    bool outermost;
    bool by_ticks;   /* `start_ns` is in ticks, until the call has ended */
    uint32_t active; /* layers that were already active on this thread */
    /* Members of the event (trace.h), which a layer may change between enter and leave. */
    uint16_t event_flags; /* SW_EVENT_* */
    int8_t event_op;      /* enum sw_op; SW_OP_OF_CALL: the counted one */
    uint32_t shape;       /* result of sw_shape_intern or sw_view_intern */
    uint32_t object;      /* result of sw_object_intern */
    int64_t position;
    int64_t event_bytes;
    const char *name; /* of the function; a string with static lifetime */
    uint64_t sequence;
    uint64_t end_ns; /* set by sw_call_ended; 0: the call ends at sw_leave* */
    uint64_t
        entered_ns; /* before anything of ours; 0: our own time in this call is not measured */
};

/* Begins a call. Returns false if the wrapper must only pass it on: disabled, inside our own code,
 * in a signal handler that interrupted us, or the same layer is already active on this thread
 * (re-entry through PMPI_). For a lower layer inside a higher one (pwrite inside MPI_File_write)
 * it returns true with `outermost` false. */
bool sw_enter_as(struct sw_call *call, int layer, const char *name);
/* For use in the exported function itself, whose name is recorded in the trace. */
#define sw_enter(call, layer) sw_enter_as(call, layer, __func__)
/* The same at lower cost, for a call that ends with sw_leave and of which only the duration is
 * kept. `matters`: later transfers would be unknown if this call were not counted. */
bool sw_enter_briefly_as(struct sw_call *call, int layer, const char *name, bool matters);
#define sw_enter_briefly(call, layer) sw_enter_briefly_as(call, layer, __func__, false)
/* Marks the end of the program's call; what the layer queries until sw_leave* is not part of its
 * time. */
void sw_call_ended(struct sw_call *call);
/* Ends a call without data. `file` may be NULL: then only the outermost time counts. */
void sw_leave(struct sw_call *call, struct sw_file *file, enum sw_op op);
/* Ends a data call. `bytes` < 0: it failed (counted in time, not in bytes). `offset` < 0: unknown,
 * so that alignment and sequence are not counted. */
void sw_leave_data(struct sw_call *call, struct sw_file *file, enum sw_op op, int64_t bytes,
                   int64_t offset);

/* Ends a call whose time belongs to `op` but which is not counted: its bytes were counted where
 * the request was posted. */
void sw_leave_time(struct sw_call *call, struct sw_file *file, enum sw_op op);

/* Counts calls of `from` as calls of `to` instead, once it is known how they moved their data; the
 * time of `from` follows in proportion to the calls. */
void sw_count_instead(struct sw_file *file, enum sw_op from, enum sw_op to, uint64_t count,
                      uint64_t bytes);

/* Marks that our own code runs on this thread, so that its calls are not counted. */
void sw_inside_begin(void);
void sw_inside_end(void);

/* ---- files --------------------------------------------------------------------- */

/* Returns the record of `path` (made absolute, without ROMIO prefix, filtered by include and
 * exclude) in a layer; NULL if it is filtered out or there is no room. Keeps errno. */
struct sw_file *sw_file_get(int layer, const char *path);
void sw_file_flag(struct sw_file *file, uint32_t flags);
uint64_t sw_file_id(const struct sw_file *file);
/* Gets what was counted for it so far. */
void sw_file_counted(const struct sw_file *file, struct sw_op_counters ops[SW_OP_COUNT]);
/* Returns the record of an open descriptor (NULL if not tracked). Only for the POSIX layer. */
struct sw_file *sw_fd_file(int fd);

/* ---- the process --------------------------------------------------------------- */

bool sw_active(void);                    /* loaded, not disabled, and still healthy */
bool sw_recording(void);                 /* a container is mapped */
struct sw_process *sw_process_get(void); /* mapped header; NULL without a container */
void sw_process_flag(uint32_t flags);
/* Add a settings record or a note. They copy the text. */
void sw_settings_add(int layer, uint64_t file_id, enum sw_settings_kind kind, const char *text);
void sw_note(const char *text);

/* ---- MPI ----------------------------------------------------------------------- */

/* Called by the MPI layer after MPI_Init*: fills rank, size, version and plug-in state. */
void sw_mpi_started(const void *caller);
/* Called by the MPI layer after MPI_Finalize: no plug-in from here on. */
void sw_mpi_finished(void);
const struct sw_plugin *sw_mpi_plugin(void); /* NULL: no usable plug-in */
/* Return rank and size in MPI_COMM_WORLD; -1 and 0 if not known (yet). */
int sw_mpi_rank(void);
int sw_mpi_size(void);
/* Returns whether the MPI itself applies MPICH_MPIIO_HINTS (Cray MPICH). */
bool sw_mpi_applies_mpich_hints(void);

/* Returns whether the environment selects ROMIO as Open MPI's MPI-IO. */
bool sw_openmpi_has_romio(void);

/* ---- adopt --------------------------------------------------------------------- */

/* Reads STRIPEWISE_CONFIGURATION (or its file) and MPICH_MPIIO_HINTS. Called once, at load. */
void sw_adopt_load(void);
bool sw_adopt_any(void);

#define SW_MAX_SETTINGS 64
struct sw_setting {
    const char *key;
    const char *value;
    int override;
};
enum sw_setting_group { SW_SETTING_MPIIO, SW_SETTING_HDF5, SW_SETTING_PNETCDF, SW_SETTING_ADIOS2 };
/* Gets the settings for a file (dataset NULL) or for one of its datasets (including those of the
 * file, which apply to all its datasets); later entries have already overridden earlier ones.
 * Returns how many were stored in `settings`. */
size_t sw_adopt_lookup(enum sw_setting_group group, const char *path, const char *dataset,
                       struct sw_setting *settings, size_t room);

/* What all ranks together moved in a file, and its main use: written or read. */
struct sw_file_use {
    bool writing;
    bool collective;
    bool interleaved; /* a call moves several pieces of the file */
    int64_t ranks;    /* number of ranks that opened it */
    int64_t bytes;
    int64_t run_bytes; /* mean length of a contiguous piece in the file */
};
bool sw_adopt_any_series(void);
/* Gets hints for later files of a series whose first file was used like this; stored as above. */
size_t sw_adopt_lookup_series(const struct sw_file_use *use, struct sw_setting *settings,
                              size_t room);
/* Returns a digest of the whole configuration: equal for equal texts. */
uint64_t sw_adopt_digest(void);

#endif
