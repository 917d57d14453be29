/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace: further blocks and records of the container (container.h), written while capture is
 * on (SW_ENV_CAPTURE). `version` of every record below is SW_TRACE_VERSION.
 *
 *   THREAD block payload := struct sw_thread_record, slots (n_slots x struct sw_run), records
 *   EVENTS block payload := records that were moved out of the log of one thread
 *   RECORDS blocks contain what the threads of a process share: names, objects, shapes,
 *                  views, time bins
 *
 * An event is one call. Equal calls at a regular stride are folded into one run while they are
 * recorded. A run is open in a slot of its thread, where it is updated in place (`count` is stored
 * last), and is copied to the log when a call does not continue it; only then does the slot's
 * count become 0. A full log is copied to an EVENTS block, its first size last, and only then
 * emptied by setting its first size to 0. So no completed call is lost, however the process ends.
 * A run that is found more than once (equal thread and sequence, in a slot, the log or an EVENTS
 * block) counts once, with the largest count. The figures of a run are added before its count is
 * stored: for a process that was killed, sum and histogram of the durations may include one call
 * more.
 *
 * When a process ends, however that happens, nothing is lost, because the pages belong to the
 * file. When the node crashes, what the kernel had not written back is lost: it writes a page of a
 * local file system at most vm.dirty_expire_centisecs + vm.dirty_writeback_centisecs after it was
 * changed, 35 s by default.
 *
 * Folding loses start and duration of the single calls. It keeps sequence (hence order and
 * parent), offset, size and number, first start and last end, and sum, minimum, maximum and
 * histogram of the durations; and bytes and busy time per time bin, file and layer
 * (SW_RECORD_BINS), whatever was folded.
 *
 * `sequence` numbers the calls of a thread in the order in which they were entered, over all
 * layers. Together with `depth` it gives the tree of calls: the parent of a call is the last one
 * before it with a smaller depth. Additional parts of a call (the reading side of copy_file_range,
 * each request of lio_listio) are events below it that take no time.
 * src/stripewise/evidence/containers/_trace_blocks.py mirrors these structs.
 */
#ifndef STRIPEWISE_TRACE_H
#define STRIPEWISE_TRACE_H

#include "stripewise/container.h"

#define SW_TRACE_VERSION 1

/* Continue enum sw_block_kind and enum sw_record_kind. */
enum sw_trace_block_kind { SW_BLOCK_THREAD = 3, SW_BLOCK_EVENTS = 4 };
enum sw_trace_record_kind {
    SW_RECORD_THREAD = 16, /* struct sw_thread_record */
    SW_RECORD_EVENT = 17,  /* struct sw_event: one call */
    SW_RECORD_RUN = 18,    /* struct sw_run, without `durations` if there are few calls */
    SW_RECORD_NAME = 19,   /* struct sw_name_record + text */
    SW_RECORD_OBJECT = 20, /* struct sw_object_record + numbers + name */
    SW_RECORD_SHAPE = 21,  /* struct sw_shape_record + numbers */
    SW_RECORD_VIEW = 22,   /* struct sw_view_record + pieces */
    SW_RECORD_BINS = 23,   /* struct sw_bins_record + bins */
};

/* Begins a THREAD block; repeated in the log if another system thread takes over the recorder of
 * one that has ended. */
struct sw_thread_record {
    struct sw_record header;
    uint32_t thread; /* number in this process, from 1; events contain its lower 24 bits */
    uint32_t tid;    /* of the system */
    uint32_t n_slots;
    uint32_t slot_bytes; /* sizeof(struct sw_run) */
    uint64_t start_ns;   /* of the first call, as in struct sw_event */
    uint64_t lost_calls; /* without room in the log; kept up to date in the THREAD block */
    uint64_t reserved[3];
};

#define SW_EVENT_FAILED 0x1u      /* the call returned an error; bytes is 0 */
#define SW_EVENT_NONBLOCKING 0x2u /* posted; the wait for it is an event of its own */
#define SW_EVENT_SPLIT 0x4u       /* begin or end of a split collective call */
#define SW_EVENT_SHARED 0x8u      /* uses the shared file pointer */
#define SW_EVENT_POINTER 0x10u    /* uses the individual file pointer or descriptor's position */
#define SW_EVENT_WAIT 0x20u       /* waits for nonblocking I/O */
#define SW_EVENT_NO_OFFSET 0x40u  /* `offset` is unknown, or the call has none; it is 0 then */
#define SW_EVENT_SYNC 0x80u       /* includes an fsync that Stripewise added */
#define SW_EVENT_ATTRIBUTE 0x100u /* HDF5 or PnetCDF attribute */
#define SW_EVENT_CONVERTED 0x200u /* HDF5 converted values between memory and file */
#define SW_EVENT_MEMBERS 0x400u   /* HDF5 moved only some members of a compound */

/* Bits of `offset` of an event with op SW_OP_OPEN: what the program requested. */
#define SW_OPEN_READ 0x1
#define SW_OPEN_WRITE 0x2
#define SW_OPEN_CREATE 0x4
#define SW_OPEN_TRUNCATE 0x8
#define SW_OPEN_APPEND 0x10
#define SW_OPEN_EXCLUSIVE 0x20

/* `offset`, by layer. POSIX, stdio: byte in the file. MPI-IO: in elementary types from the start
 * of the view `shape` (0: the default view in bytes, or unknown with SW_EVENT_NO_OFFSET). HDF5 and
 * PnetCDF data: C order index of the selection's first element in the extents of `shape`.
 * SW_OP_OPEN: SW_OPEN_* bits. SW_OP_META: the size that was set, if any.
 *
 * `object` of MPI-IO data that the program itself moves: a view of file 0 with the datatype of the
 * buffer, if that has holes; 0 if it is contiguous or unknown. */
struct sw_event {
    struct sw_record header;
    uint64_t sequence;
    uint64_t start_ns;    /* CLOCK_MONOTONIC - sw_process.clock_ns */
    uint64_t duration_ns; /* of a run: the sum */
    uint64_t file_id;
    int64_t offset;
    uint64_t bytes;  /* of one call */
    uint32_t name;   /* of the function: struct sw_name_record */
    uint32_t parent; /* name of the call that caused this one; 0: the program's own */
    uint32_t shape;  /* 0: none */
    uint32_t object; /* dataset or variable, 0: none. MPI-IO: view of the buffer, see above */
    uint16_t thread;
    uint8_t layer;       /* enum sw_layer */
    uint8_t op;          /* enum sw_op: distinguishes collective and independent */
    uint8_t depth;       /* number of recorded calls above it on the stack */
    uint8_t thread_high; /* bits 16 to 23 of `thread` */
    uint16_t flags;      /* SW_EVENT_* */
};

#define SW_RUN_LEVELS 3
#define SW_DURATION_BINS 16 /* bin b: below 4^b x 256 ns, the last one: all longer durations */
/* Runs of fewer calls are logged without their `durations`. */
#define SW_RUN_BRIEF 8

/*
 * Call k = 0 .. count-1 of a run has i = k % inner[0], j = k / inner[0] % inner[1], l = k /
 * (inner[0] x inner[1]); an inner of 0 means unbounded. Its offset is first.offset + i x stride[0]
 * + j x stride[1] + l x stride[2], and its sequence likewise.
 */
struct sw_run {
    struct sw_event first;
    uint64_t count; /* stored last */
    uint64_t last_start_ns;
    uint64_t end_ns; /* of the last call */
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t inner[SW_RUN_LEVELS - 1];
    int64_t stride[SW_RUN_LEVELS];
    int64_t sequence_stride[SW_RUN_LEVELS];
    uint32_t durations[SW_DURATION_BINS];
};

struct sw_name_record {
    struct sw_record header;
    uint32_t name; /* from 1 */
    uint32_t text_bytes;
    char text[];
};

enum sw_type_class {
    SW_TYPE_CLASS_OTHER = 0,
    SW_TYPE_CLASS_INTEGER = 1,
    SW_TYPE_CLASS_FLOAT = 2,
    SW_TYPE_CLASS_STRING = 3,
    SW_TYPE_CLASS_COMPOUND = 4,
};
enum sw_storage {
    SW_STORAGE_OTHER = 0,
    SW_STORAGE_CONTIGUOUS = 1,
    SW_STORAGE_CHUNKED = 2,
    SW_STORAGE_COMPACT = 3,
    SW_STORAGE_FILTERED = 4, /* chunked, through filters such as compression */
};

/* A dataset (HDF5) or variable (PnetCDF, ADIOS2). numbers := extents[n_dims], maximum[n_dims]
 * (UINT64_MAX: unlimited), chunk[n_dims] (0: not chunked), followed by the name. */
struct sw_object_record {
    struct sw_record header;
    uint64_t file_id;
    uint32_t object; /* number in this process, from 1 */
    uint32_t element_bytes;
    uint8_t layer;
    uint8_t type_class; /* enum sw_type_class */
    uint8_t storage;    /* enum sw_storage */
    uint8_t n_dims;
    uint32_t name_bytes;
    uint64_t numbers[];
};

enum sw_shape_kind {
    SW_SHAPE_ALL = 1,     /* the whole extent */
    SW_SHAPE_REGULAR = 2, /* numbers: stride, count, block */
    SW_SHAPE_BOXES = 3,   /* numbers: boxes of an irregular hyperslab */
    SW_SHAPE_POINTS = 4,  /* numbers: boxes whose elements, in C order, are the points in order */
    SW_SHAPE_NONE = 5,    /* nothing is selected */
};
#define SW_SHAPE_TRUNCATED 0x1u /* not all boxes are listed */
#define SW_SHAPE_MOST_BOXES 64

/* Which elements a call moves, independent of their position. numbers := extents[n_dims], then
 * REGULAR: stride[n_dims], count[n_dims], block[n_dims]; BOXES, POINTS: n_boxes x (first[n_dims],
 * last[n_dims]), inclusive, relative to the lower corner of the bounding box, which is in `offset`
 * of the event. */
struct sw_shape_record {
    struct sw_record header;
    uint32_t shape; /* number in this process, from 1, shared with views */
    uint32_t object;
    uint8_t kind; /* enum sw_shape_kind */
    uint8_t n_dims;
    uint16_t flags; /* SW_SHAPE_* */
    uint32_t n_boxes;
    uint32_t memory; /* shape (of object 0) of the buffer if it has holes; 0: contiguous */
    uint32_t reserved;
    uint64_t total_boxes;
    uint64_t elements;
    uint64_t numbers[];
};

/* Pieces of a flattened datatype: pieces at i, j, l like the calls of a run. */
struct sw_piece {
    int64_t offset; /* bytes from the start of the filetype */
    uint64_t bytes;
    uint64_t count; /* total number of pieces */
    uint64_t inner[SW_RUN_LEVELS - 1];
    int64_t stride[SW_RUN_LEVELS];
};

#define SW_VIEW_TRUNCATED 0x1u  /* the datatype has more pieces than were examined */
#define SW_VIEW_MOST_PIECES 256 /* maximum number of entries, each folded */

struct sw_view_record {
    struct sw_record header;
    uint64_t file_id;
    uint32_t view; /* number in this process, from 1, shared with shapes */
    uint32_t flags;
    int64_t displacement; /* bytes */
    uint64_t etype_bytes;
    uint64_t filetype_bytes; /* of data in one filetype */
    int64_t filetype_lower;
    int64_t filetype_extent; /* distance to the next filetype */
    uint64_t total_pieces;
    uint32_t n_pieces;
    uint32_t reserved;
    struct sw_piece pieces[];
};

/*
 * Activity on one file in one layer in a span of time. A bin of width 2^width_log2 ns begins at a
 * multiple of its width; the width grows with the age of the process (at most 1/256 of it, at
 * least 2^SW_BIN_LEAST_LOG2 ns), and bins of different widths nest, so that a reader can sum them
 * exactly. A call that spans several bins adds its time to each bin it covers, and its bytes in
 * proportion. `busy_ns` is the sum over threads. Several entries may describe the same bin; they
 * are summed.
 */
#define SW_BIN_LEAST_LOG2 24 /* 17 ms */
#define SW_BINS_PER_RECORD 15

struct sw_bin {
    uint64_t start_ns;   /* as in struct sw_event */
    uint32_t width_log2; /* 0: not used yet; stored after start_ns */
    uint32_t calls;      /* that ended in it */
    uint64_t read_bytes;
    uint64_t write_bytes;
    uint64_t busy_ns;
};

struct sw_bins_record {
    struct sw_record header;
    uint64_t file_id;
    uint32_t layer;
    uint32_t n_bins;
    struct sw_bin bins[];
};

#endif
