/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract between the core (libc only) and a plug-in (compiled with one MPI's own
 * mpi.h).  The core never sees an MPI type: a handle travels as one machine word, which
 * holds an int (MPICH) or a pointer (Open MPI, MPI 5 ABI) as the caller passed it.
 *
 * A plug-in is `libstripewise-mpi-<family>-<major>.so`, exports `sw_plugin_get` and is
 * linked with its libmpi, so that the dynamic loader binds it to the copy that is in
 * the process already (same soname), even one that was loaded RTLD_LOCAL.
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
    int override; /* also where the program set the key itself */
};

/* What a plug-in is for, to be found in the bytes of its file: it is read before the file is
 * loaded, because loading a plug-in of another MPI would pull a second MPI in. */
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
    /* Rank and size in MPI_COMM_WORLD; 0 or an MPI error code. */
    int (*world)(int *rank, int *size);
    /* Rank of the caller in comm. */
    int (*comm_rank)(sw_handle comm, int *rank);
    /* 1 if MPI_COMM_WORLD was spawned by another one, or that cannot be told. */
    int (*is_spawned)(void);
    /* Ranks of an intracommunicator of which all processes are of MPI_COMM_WORLD; 0 for anything
     * else.  The same on all ranks that call a function which is collective on it. */
    int (*comm_size)(sw_handle comm);
    /* Sums of the words over the ranks of comm, in place: collective.  0 or an MPI error code;
     * comm's error handler is the program's. */
    int (*comm_sum)(sw_handle comm, int64_t *words, int n_words);
    /* Bytes of one element of the datatype, -1 if it cannot be told. */
    int64_t (*type_bytes)(sw_handle datatype);
    /* 1 if the word is MPI_DATATYPE_NULL; of others nothing is asked, they may be no datatypes. */
    int (*type_is_null)(sw_handle datatype);
    /* 1 if a file view with this filetype is noncontiguous. */
    int (*type_noncontiguous)(sw_handle datatype);
    /* A new MPI_Info: `info` (may be MPI_INFO_NULL) with the hints added.  `applied`
     * receives "key=value\n" lines of what was set.  0, or an MPI error code and
     * *out == info.  Error handlers are as found afterwards. */
    int (*info_merge)(sw_handle info, const struct sw_hint *hints, size_t n_hints, sw_handle *out,
                      char *applied, size_t applied_bytes);
    /* "key=value\n" lines of an info; of the info that MPI_File_get_info returns. */
    int (*info_text)(sw_handle info, char *text, size_t bytes);
    int (*file_info_text)(sw_handle file, char *text, size_t bytes);
    void (*info_free)(sw_handle info);
    /* Bytes that a status reports, -1 if undefined. */
    int64_t (*status_bytes)(const void *status);
    /* Visits the pieces of a datatype in the order of its map, offsets in bytes from its start;
     * adjacent ones may come apart.  `visit` returns nonzero to stop.  0: all were visited;
     * 1: stopped; -1: the datatype cannot be looked into. */
    int (*type_pieces)(sw_handle datatype,
                       int (*visit)(void *context, int64_t offset, int64_t bytes), void *context);
    /* Lower bound and extent in bytes; 0 or an MPI error code. */
    int (*type_extent)(sw_handle datatype, int64_t *lower, int64_t *extent);
    /* Individual file pointer, in elementary types of the view; -1 if it cannot be told.
     * Local. */
    int64_t (*file_position)(sw_handle file);
    /* SW_OPEN_* bits (trace.h) of an access mode. */
    int (*open_bits)(int amode);
    /* SW_FILE_OPENED_READ and SW_FILE_OPENED_WRITE as an access mode allows. */
    uint32_t (*amode_flags)(int amode);
    /* Size of MPI_Request, to read one where the program keeps it. */
    size_t request_bytes;
};

const struct sw_plugin *sw_plugin_get(void);

#endif
