/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface between the core (libc only) and a plug-in (compiled with one MPI's own mpi.h).
 * The core never sees an MPI type: a handle is passed as one machine word, which contains an int
 * (MPICH) or a pointer (Open MPI, MPI 5 ABI) as the caller passed it.
 *
 * A plug-in is `libstripewise-mpi-<family>-<major>.so`, exports `sw_plugin_get` and is linked with
 * its libmpi, so that the dynamic loader binds it to the copy that is already in the process (same
 * soname), even one that was loaded RTLD_LOCAL.
 */
#ifndef STRIPEWISE_PLUGIN_H
#define STRIPEWISE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define SW_PLUGIN_VERSION 4

typedef uintptr_t sw_handle; /* MPI_Comm, MPI_Info, MPI_Datatype, MPI_File, as passed */

/* One hint to add to an MPI_Info. */
struct sw_hint {
    const char *key;
    const char *value;
    int override; /* also if the program itself has set the key */
};

/* Identification in the bytes of a plug-in's file, which is read before the file is loaded,
 * because loading a plug-in for another MPI would load a second MPI. */
#define SW_PLUGIN_MARK "stripewise-plugin-mark"
struct sw_plugin_mark {
    char mark[24]; /* SW_PLUGIN_MARK */
    int32_t version;
    int32_t major; /* of the MPI */
    char family[16];
};

struct sw_plugin {
    int version;                 /* SW_PLUGIN_VERSION */
    const char *family;          /* "mpich", "openmpi" or "abi" (the standard's, of MPI 5) */
    const char *library_version; /* MPI_Get_library_version at build time, first line */
    /* Gets rank and size in MPI_COMM_WORLD; returns 0 or an MPI error code. */
    int (*world)(int *rank, int *size);
    /* Gets the rank of the caller in comm. */
    int (*comm_rank)(sw_handle comm, int *rank);
    /* Returns 1 if MPI_COMM_WORLD was spawned by another one, or if that is unknown. */
    int (*is_spawned)(void);
    /* Returns the size of an intracommunicator whose processes are all in MPI_COMM_WORLD,
     * otherwise 0. The result is the same on all ranks that call a function which is collective on
     * it. */
    int (*comm_size)(sw_handle comm);
    /* Sums the words over the ranks of comm, in place; collective. Returns 0 or an MPI error code;
     * comm's error handler is the program's. */
    int (*comm_sum)(sw_handle comm, int64_t *words, int n_words);
    /* Returns the bytes of one element of the datatype, -1 if unknown. */
    int64_t (*type_bytes)(sw_handle datatype);
    /* Returns 1 if the word is MPI_DATATYPE_NULL; other words, which may not be datatypes, are not
     * examined. */
    int (*type_is_null)(sw_handle datatype);
    /* Returns 1 if a file view with this filetype is noncontiguous. */
    int (*type_noncontiguous)(sw_handle datatype);
    /* Creates an MPI_Info from `info` (may be MPI_INFO_NULL) with the hints added. `applied`
     * receives "key=value\n" lines of what was set. Returns 0, or an MPI error code and *out ==
     * info. Error handlers are restored. */
    int (*info_merge)(sw_handle info, const struct sw_hint *hints, size_t n_hints, sw_handle *out,
                      char *applied, size_t applied_bytes);
    /* Writes "key=value\n" lines of an info, or of the info that MPI_File_get_info returns. */
    int (*info_text)(sw_handle info, char *text, size_t bytes);
    int (*file_info_text)(sw_handle file, char *text, size_t bytes);
    void (*info_free)(sw_handle info);
    /* Returns the bytes in a status, -1 if undefined. */
    int64_t (*status_bytes)(const void *status);
    /* Visits the pieces of a datatype in the order of its map, with offsets in bytes from its
     * start; adjacent pieces may be visited separately. `visit` returns nonzero to stop. Returns 0
     * if all were visited, 1 if stopped, -1 if the datatype cannot be decoded. */
    int (*type_pieces)(sw_handle datatype,
                       int (*visit)(void *context, int64_t offset, int64_t bytes), void *context);
    /* Gets lower bound and extent in bytes; returns 0 or an MPI error code. */
    int (*type_extent)(sw_handle datatype, int64_t *lower, int64_t *extent);
    /* Returns the individual file pointer in elementary types of the view, -1 if unknown. Local.
     * */
    int64_t (*file_position)(sw_handle file);
    /* Returns the SW_OPEN_* bits (trace.h) of an access mode. */
    int (*open_bits)(int amode);
    /* Returns SW_FILE_OPENED_READ and SW_FILE_OPENED_WRITE as an access mode permits. */
    uint32_t (*amode_flags)(int amode);
    /* Size of MPI_Request, for reading one in the program's memory. */
    size_t request_bytes;
};

const struct sw_plugin *sw_plugin_get(void);

#endif
