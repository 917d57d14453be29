/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a handle of the program (MPI_File, MPI_Request, hid_t), by its value. The table
 * has a fixed size and needs no allocation: a handle whose close is not seen (H5Idec_ref) is
 * overwritten in time, and an unknown handle is an ordinary case.
 */
#ifndef STRIPEWISE_HANDLES_H
#define STRIPEWISE_HANDLES_H

#include "core/core.h"

#define SW_HANDLE_SLOTS 4096 /* power of two */
#define SW_HANDLE_PROBES 8

#define SW_ENTRY_DIMS 8 /* extents of datasets with more dimensions are not stored here */

struct sw_emulator;

struct sw_handle_entry {
    uint64_t handle; /* 0: free */
    struct sw_file *file;
    uint64_t age;
    struct sw_emulator *storage; /* MPI-IO: storage that emulates the file's; NULL: unknown */
    /* MPI-IO: the file view, to determine offsets in bytes. -1: unknown. */
    int64_t view_start;
    int64_t view_unit;
    bool view_contiguous;
    int64_t piece_start;  /* of a filetype that consists of one piece; */
    int64_t piece_bytes;  /* 0: it does not, or was not examined */
    int64_t piece_extent; /* of the filetype */
    bool view_unknown;    /* a view other than the default one that is not in the trace */
    uint32_t view;        /* its number in the trace, 0: the default view, or not capturing */
    char *override_path;  /* set if hints must also override the program's later ones */
    int8_t op;            /* of a request: enum sw_op */
    /* HDF5. */
    bool is_file;
    bool parallel;       /* the file is opened through the MPI-IO driver */
    int8_t transfer;     /* dataset: -1 for the program's choice, else H5FD_mpio_xfer_t */
    bool transfer_force; /* also if the program chose one itself */
    /* HDF5, in the trace: the dataset's description, and the count of changed extents at that
     * time. */
    bool described;
    bool grows;
    uint8_t n_dims;
    uint32_t seen_changes;
    uint32_t object; /* 0: none */
    uint64_t elements;
    uint64_t extents[SW_ENTRY_DIMS];
    /* HDF5, dataset: counters of its reads and writes, and the memory type compared last. */
    struct sw_transfers_record *transfers[2];
    bool transfers_asked[2];
    bool type_known;
    uint8_t conversion; /* enum sw_conversion */
    int64_t type;
};

struct sw_handle_table {
    int lock;
    uint64_t clock;
    struct sw_handle_entry entry[SW_HANDLE_SLOTS];
};

void sw_handle_put(struct sw_handle_table *table, const struct sw_handle_entry *entry);
/* Copies the entry; returns false (and *entry zeroed) if the handle is unknown. */
bool sw_handle_find(struct sw_handle_table *table, uint64_t handle, struct sw_handle_entry *entry);
/* Removes the entry; returns whether there was one. */
bool sw_handle_drop(struct sw_handle_table *table, uint64_t handle);

#endif
