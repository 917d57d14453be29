/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-replay: makes the calls that a plan lists, rank by rank, without the program that
 * made them originally.
 *
 *   plan (text; docs/reference/replay-plan.md) --> plan.c --> schedule.c --> verbs of each layer
 *
 * A layer is a table of verbs. A verb makes one call, or two if the trace has one record for them
 * (an attribute is created and written). It does not write the program's data, but the same bytes
 * of noise each time.
 */
#ifndef STRIPEWISE_REPLAY_H
#define STRIPEWISE_REPLAY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SW_REPLAY_VERSION 1 /* of the plan's format */
#define SW_REPLAY_PROGRAM "stripewise-replay"
#define SW_REPLAY_DIMS 32
#define SW_REPLAY_PATH 4096

enum sw_replay_exit { SW_EXIT_OK = 0, SW_EXIT_FAILED = 1, SW_EXIT_USAGE = 2 };

/* ---- the plan ---------------------------------------------------------------------- */

enum sw_replay_class {
    SW_CLASS_OTHER,
    SW_CLASS_INTEGER,
    SW_CLASS_FLOAT,
    SW_CLASS_STRING,
    SW_CLASS_COMPOUND
};
enum sw_replay_shape_kind { SW_ALL, SW_REGULAR, SW_BOXES, SW_POINTS, SW_NONE };
enum sw_replay_storage { SW_CONTIGUOUS, SW_CHUNKED, SW_COMPACT };

struct sw_replay_object {
    char kind; /* 'd'ataset, 'f'illed on creation, 'v'ariable, 'g'roup */
    enum sw_replay_class type_class;
    enum sw_replay_storage storage;
    int64_t element_bytes;
    int n_dims;
    int64_t *extents; /* followed by maximum (-1: unlimited) and chunk (0: none), n_dims each */
    char *name;
    int64_t n_members; /* of a compound whose members are moved apart, or converted; else 0 */
    int64_t *members;  /* bytes of each */
};

struct sw_replay_shape {
    enum sw_replay_shape_kind kind;
    int n_dims;
    int64_t elements;
    int64_t n_boxes;
    int64_t memory; /* index of the buffer's shape if that has holes, -1: contiguous */
    int64_t *extents;
    int64_t *numbers; /* REGULAR: stride, count, block; BOXES, POINTS: first, last of each */
};

struct sw_replay_piece {
    int64_t offset, bytes, count, inner[2], stride[3];
};

struct sw_replay_view {
    int64_t displacement, etype_bytes, filetype_bytes, lower, extent, n_pieces;
    struct sw_replay_piece *pieces;
};

struct sw_replay_input {
    int64_t file;
    char kind; /* 'b'ytes, 'h'df5, 'p'netcdf */
    int64_t size_bytes;
    int64_t n_objects;
    int64_t *objects;
};

/* Handles of one file in one layer; the latest open one is used. */
struct sw_replay_handle {
    struct sw_replay_handle *below;
    int64_t position; /* of the file pointer; in elementary types in MPI-IO */
    int64_t unit;     /* bytes of an elementary type */
    void *state;      /* of the layer */
};

enum sw_replay_layer { SW_POSIX, SW_STDIO, SW_MPIIO, SW_HDF5, SW_PNETCDF, SW_LAYERS };

struct sw_replay_file {
    char *path;
    int64_t n_hints;
    char **hints; /* key, value */
    int64_t n_properties;
    char **properties; /* of HDF5: key, value */
    int64_t n_variables;
    int64_t *variables;
    struct sw_replay_handle *handle[SW_LAYERS];
};

struct sw_replay_run;
struct sw_replay_call;
struct sw_replay_now;

enum sw_replay_phase {
    SW_PHASE_OPEN,
    SW_PHASE_READ,
    SW_PHASE_WRITE,
    SW_PHASE_SYNC,
    SW_PHASE_CLOSE,
    SW_PHASE_META,
    SW_PHASE_COUNT, /* the rest is not I/O */
    SW_PHASE_WAIT = SW_PHASE_COUNT,
    SW_PHASE_COMPUTE,
    SW_PHASES
};
extern const char *const sw_replay_phases[]; /* names */

struct sw_replay_verb {
    const char *name;
    enum sw_replay_phase phase;
    void (*call)(struct sw_replay_run *run, const struct sw_replay_now *now);
};

/* A folded run of calls; see TRACE_ROW in src/stripewise/evidence/trace/_trace.py. */
struct sw_replay_call {
    int64_t verb, op, flags, bytes, count, inner[2], stride[3], place, place_stride[3];
    int64_t file, object, detail, group, offset, gap, rest; /* of this rank */
    int64_t done;                                           /* number of calls made */
};
#define SW_REPLAY_CALL_NUMBERS 14
#define SW_REPLAY_COLUMNS 7

struct sw_replay_group {
    int64_t n_ranks;
    int64_t *ranks;
    MPI_Comm comm; /* MPI_COMM_NULL: this rank is not a member */
};

struct sw_replay_plan {
    int64_t n_ranks, read_bytes, write_bytes;
    int64_t n_verbs, n_files, n_objects, n_shapes, n_views, n_groups, n_inputs, n_calls;
    const struct sw_replay_verb **verbs;
    struct sw_replay_file *files;
    struct sw_replay_object *objects;
    struct sw_replay_shape *shapes;
    struct sw_replay_view *views;
    struct sw_replay_group *groups;
    struct sw_replay_input *inputs;
    struct sw_replay_call *calls; /* of this rank */
};

/* Reads the plan on rank 0 and sends it to all; each rank keeps its own part. Returns false with
 * the reason in `trouble`, on every rank. */
bool sw_replay_load(const char *path, const char *directory, struct sw_replay_plan *plan,
                    char *trouble, size_t room);

/* ---- a run -------------------------------------------------------------------------- */

#define SW_SLOTS 1024

struct sw_replay_slot {
    uint64_t name; /* of a dataset or variable, as a hash; 0: none */
    size_t at;
};

struct sw_replay_buffer {
    char *all;
    size_t room;
    size_t at;   /* of the present call */
    size_t next; /* of the next one without a place */
    struct sw_replay_slot slots[SW_SLOTS];
};

enum { SW_NOISE, SW_SINK };

struct sw_replay_run {
    struct sw_replay_plan *plan;
    int rank;
    MPI_Comm signals; /* copy of MPI_COMM_WORLD */
    double compute;   /* factor on the gaps */
    char *noise;      /* what the present call writes */
    char *sink;       /* destination of its reads */
    struct sw_replay_buffer buffers[2];
    double seconds[SW_PHASES];
    int64_t calls[SW_PHASES];
    int64_t read_bytes, write_bytes;
    int64_t moved;    /* bytes that the present call moves */
    int64_t failures; /* failed calls on which nothing depends */
    char first_failure[256];
};

/* The present call. */
struct sw_replay_now {
    const struct sw_replay_call *call;
    const struct sw_replay_verb *verb;
    int64_t offset; /* -1: unknown */
    struct sw_replay_file *file;
    const struct sw_replay_object *object; /* NULL: none */
    const struct sw_replay_shape *shape;   /* NULL: none, or the detail is a view */
};

#define SW_FLAG_SHARED 0x8
#define SW_FLAG_POINTER 0x10
#define SW_FLAG_NO_OFFSET 0x40
#define SW_FLAG_CONVERTED 0x200
#define SW_OP_READ 2
#define SW_OP_WRITE 3
#define SW_OP_READ_COLLECTIVE 4
#define SW_OP_WRITE_COLLECTIVE 5

static inline bool sw_replay_collective(const struct sw_replay_call *call)
{
    return call->op == SW_OP_READ_COLLECTIVE || call->op == SW_OP_WRITE_COLLECTIVE;
}

void sw_replay_execute(struct sw_replay_run *run);

/* Ends the run on all ranks, because the following calls depend on this one. */
_Noreturn void sw_replay_die(const struct sw_replay_now *now, const char *call, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
/* Counts a failed call on which nothing depends. */
void sw_replay_miss(struct sw_replay_run *run, const struct sw_replay_now *now, const char *call,
                    const char *why);
void *sw_replay_memory(size_t bytes); /* zeroed; never NULL */

/* ---- buffers -------------------------------------------------------------------------- */

/* Allocates what the calls need, before the first one: later, it would delay other ranks. */
void sw_replay_make_buffers(struct sw_replay_run *run);
void sw_replay_free_buffers(struct sw_replay_run *run);
/* Assigns a place in memory to the call. */
void sw_replay_take(struct sw_replay_run *run, const struct sw_replay_now *now);
/* Enlarges noise and sink at least to that size. */
void sw_replay_room(struct sw_replay_run *run, size_t bytes);

/* ---- handles and communicators -------------------------------------------------------- */

struct sw_replay_handle *sw_replay_push(const struct sw_replay_now *now,
                                        enum sw_replay_layer layer, void *state);
/* Returns the open handle; dies if there is none. */
struct sw_replay_handle *sw_replay_handle(const struct sw_replay_now *now,
                                          enum sw_replay_layer layer);
void sw_replay_pop(const struct sw_replay_now *now, enum sw_replay_layer layer);
MPI_Comm sw_replay_comm(const struct sw_replay_run *run, const struct sw_replay_now *now);
/* Creates the communicators of groups; collective. */
void sw_replay_make_groups(struct sw_replay_run *run);
/* Returns the program's hints for a file; to be freed unless MPI_INFO_NULL. */
MPI_Info sw_replay_info(const struct sw_replay_now *now);

/* Bits of the offset of an open. */
#define SW_OPEN_READ 0x1
#define SW_OPEN_WRITE 0x2
#define SW_OPEN_CREATE 0x4
#define SW_OPEN_TRUNCATE 0x8
#define SW_OPEN_APPEND 0x10
#define SW_OPEN_EXCLUSIVE 0x20

/* ---- layers -------------------------------------------------------------------------- */

extern const struct sw_replay_verb sw_replay_posix[], sw_replay_stdio[], sw_replay_mpiio[],
    sw_replay_hdf5[], sw_replay_pnetcdf[], sw_replay_sync[];

/* Dies with the text of an MPI error, if there is one. */
void sw_replay_check_mpi(const struct sw_replay_now *now, const char *call, int code);
/* Returns the layout of the buffer of an MPI-IO call, NULL: contiguous. */
const struct sw_replay_view *sw_replay_layout(const struct sw_replay_plan *plan,
                                              const struct sw_replay_call *call);
/* Converts a C order index to one number per dimension. */
void sw_replay_unravel(int64_t index, int n_dims, const int64_t *extents, int64_t *start);

/* Creates the files that the program reads, on rank 0. */
bool sw_replay_prepare(const struct sw_replay_plan *plan, const char *directory, char *trouble,
                       size_t room);
bool sw_replay_make_hdf5(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                         char *trouble, size_t room);
bool sw_replay_make_pnetcdf(const struct sw_replay_plan *plan, const struct sw_replay_input *input,
                            char *trouble, size_t room);

bool sw_replay_report(const struct sw_replay_run *run, FILE *json, double elapsed);

#endif
