/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI-IO layer, without mpi.h. A handle is passed on as the machine word in which it arrived
 * (sw_handle): MPICH's are int, Open MPI's and the MPI 5 ABI's are pointers. In the calling
 * conventions of x86-64, AArch64, ppc64le and riscv64, an int argument occupies a whole register
 * (or an eight byte stack slot), and a callee that expects an int reads only the lower half, so
 * that the word is passed unchanged. On a 32-bit or big endian machine this would not work.
 * Success is 0 in every MPI.
 */
#ifndef STRIPEWISE_MPIIO_H
#define STRIPEWISE_MPIIO_H

#include "core/capture.h"
#include "core/presence.h"
#include "emulate/hints.h"
#include "layers/handles.h"

_Static_assert(sizeof(sw_handle) == 8, "handles are passed as 64-bit words");

#define SW_MPI_SUCCESS 0
#define SW_MPI_FAILURE 15 /* MPI_ERR_OTHER: there is no MPI behind the call */

typedef int64_t sw_mpi_offset; /* MPI_Offset and MPI_Count of every supported ABI */

extern struct sw_handle_table sw_mpi_files;

/* Returns the record of an open file, NULL if unknown. */
struct sw_file *sw_mpi_file(sw_handle file);
/* Ends a call without data. */
static inline void sw_mpi_leave(struct sw_call *call, struct sw_file *file, enum sw_op op,
                                int result)
{
    if (result != SW_MPI_SUCCESS)
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, file, op);
}
/* Gets the number of a view in the trace; returns false if it is not there. `inner`: the view is
 * set inside a call of a higher layer; only a limited number of these is stored. */
bool sw_mpi_view(const struct sw_file *file, sw_mpi_offset start, sw_handle etype,
                 sw_handle filetype, bool inner, uint32_t *number);
/* Returns the number, in the trace, of the layout of a buffer of such elements, if that has holes;
 * 0 if it is contiguous, or has too many pieces. */
uint32_t sw_mpi_memory(const struct sw_plugin *plugin, sw_handle datatype, int64_t element);
/* Gets the position of the individual file pointer for the event; called before the program's
 * call. */
void sw_mpi_pointer(struct sw_call *call, sw_handle file);
/* For the emulated storage: whether a view's filetype is one piece, and what this rank moves in a
 * collective call. */
void sw_mpi_view_piece(struct sw_handle_entry *entry, sw_handle filetype);
void sw_mpi_tell_share(sw_handle file, uint16_t flags, sw_mpi_offset offset, int64_t count,
                       sw_handle datatype);
/* Call just before a data call; `flags`: SW_EVENT_*. */
static inline void sw_mpi_before(struct sw_call *call, sw_handle file, uint16_t flags,
                                 enum sw_op op, sw_mpi_offset offset, int64_t count,
                                 sw_handle datatype)
{
    call->event_flags = flags;
    if ((op == SW_OP_READ_COLLECTIVE || op == SW_OP_WRITE_COLLECTIVE) && sw_emulators_used != 0)
        sw_mpi_tell_share(file, flags, offset, count, datatype);
    if (flags & SW_EVENT_POINTER)
        sw_mpi_pointer(call, file);
}
/* Ends a data call: bytes are computed from count and datatype, but only after the program's own
 * call has accepted the datatype. `offset` is in units of the view, < 0: unknown. */
void sw_mpi_data_done(struct sw_call *call, sw_handle file, enum sw_op op, int result,
                      int64_t count, sw_handle datatype, sw_mpi_offset offset);
/* The same for a nonblocking call: the wait for `request` counts as its I/O time. */
void sw_mpi_data_posted(struct sw_call *call, sw_handle file, enum sw_op op, int result,
                        int64_t count, sw_handle datatype, sw_mpi_offset offset,
                        const void *request);

/* Info with the configured hints for `path`, to be released with sw_mpi_hints_done; `info` itself
 * if there is nothing to add or something fails. */
struct sw_mpi_hints {
    sw_handle own;    /* passed by the program */
    sw_handle merged; /* passed to the MPI */
    bool overriding;
    char applied[4096];
};
void sw_mpi_hints_merge(struct sw_mpi_hints *hints, enum sw_setting_group group, const char *path,
                        sw_handle info);
/* The same for an info passed after the open (set_view, set_info): only keys that are in it and
 * that we override. */
void sw_mpi_hints_remerge(struct sw_mpi_hints *hints, const char *path, sw_handle info);
/* Adds these hints to `with`, a copy of hints, unless the program or the configuration has them;
 * returns false if that fails or adds nothing. Afterwards, one of them must replace the other, or
 * its `merged` must be released. */
bool sw_mpi_hints_extend(struct sw_mpi_hints *with, const struct sw_hint *wanted, size_t count);
void sw_mpi_hints_replace(struct sw_mpi_hints *hints, const struct sw_mpi_hints *with);
void sw_mpi_hints_done(struct sw_mpi_hints *hints);
/* Reports the hints to the emulated storage of the file, before the open; returns NULL if there is
 * none. */
struct sw_emulator *sw_mpi_hints_tell(const struct sw_mpi_hints *hints, const char *path,
                                      bool creates);
/* Records hints of the program and applied hints, for a layer above MPI-IO. */
void sw_mpi_hints_requested(const struct sw_mpi_hints *hints, int layer, struct sw_file *file);
/* Records the content of an info. */
void sw_mpi_info_record(int layer, struct sw_file *file, enum sw_settings_kind kind,
                        sw_handle info);
/* Records hints of the program, applied hints, and those that the MPI reports. */
void sw_mpi_hints_record(const struct sw_mpi_hints *hints, struct sw_file *file, sw_handle handle);

/* Defines an exported function that finds the real one and passes the call on. If there is none,
 * no MPI is behind us (a weak reference made the program believe it). */
#define SW_MPI_EXPORTED(name, parameters, types, handed_over)                                     \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        SW_REAL(int, name, types);                                                                \
        if (real == NULL)                                                                         \
            return SW_MPI_FAILURE;                                                                \
        return handed_over;                                                                       \
    }

/* ---- settings from the second file of a series on, if the ranks agree (docs/design/series.md) --
 */

/* Call just before MPI_File_open, whatever its outcome: adds hints if all ranks of `comm` agree.
 * It is collective on `comm` if the ranks take part. `hints` NULL: this rank only takes part.
 * Returns the key of the series, 0: none. */
uint64_t sw_mpi_series_agree(struct sw_mpi_hints *hints, sw_handle comm, const char *path,
                             int amode);
void sw_mpi_series_opened(uint64_t key, sw_handle handle, struct sw_file *file);
void sw_mpi_series_viewed(sw_handle handle, sw_handle filetype);
/* Call just before MPI_File_close. */
void sw_mpi_series_closing(sw_handle handle);

static inline uint64_t sw_mpi_series_open(struct sw_mpi_hints *hints, sw_handle comm,
                                          const char *path, int amode)
{
    return sw_presence_asked() ? sw_mpi_series_agree(hints, comm, path, amode) : 0;
}

#endif
