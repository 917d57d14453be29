/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-kernel: one benchmark program, patterns x back ends.
 *
 * A pattern says which boxes of a global array a rank owns and how they lie in its memory;
 * a back end moves boxes between memory and files.  Neither knows the other:
 *
 *   pattern, distribution --> sw_share (boxes, runs; share.h) --> run.c --> back end --> file
 *
 * What a file holds (all back ends alike, so that they can be compared):
 *   - elements of one type (--type) in the machine's byte order;
 *   - a step holds all variables, one after the other, each a global array in C order (last
 *     dimension fastest).  The number of an element, counted from 0 over all steps, is its place
 *     there, and it has the value
 *         seed + 1 + number              int64: no other element of the run has it
 *         the same modulo 2^53, 2^24     double, float: whole numbers that they hold exactly
 *     halos hold SW_SENTINEL and are never written;
 *   - shared, posix and mpiio: these bytes and no others;
 *   - shared, hdf5: dataset /step_SSSSSS/VARIABLE of the global shape;
 *   - shared, netcdf4 and pnetcdf: variable VARIABLE of the global shape with a leading dimension
 *     `step`, as long as there are steps (pnetcdf: CDF-5, whose elements are big-endian);
 *   - shared, adios2: a directory; variable VARIABLE of the global shape in each of its steps;
 *   - per-process: FILE.RRRRRR; step by step, variable by variable, the elements of the rank in
 *     ascending order of their place in the global array, without gaps;
 *   - per-node: FILE.nodeNNNNNN; a step holds, rank by rank, what a file per process would.
 */
#ifndef STRIPEWISE_KERNEL_H
#define STRIPEWISE_KERNEL_H

#include "command.h"
#include "meeting.h"
#include "share.h"
#include "wall.h"

#include <stdio.h>

#ifndef SW_KERNEL_VERSION
#define SW_KERNEL_VERSION "0.1.0"
#endif

#define SW_MAX_HINTS 64
#define SW_PATH_BYTES 4096
#define SW_DIRECT_BYTES 4096 /* of a page: lengths and places of direct I/O */
#define SW_SENTINEL (-1)     /* in halos, and everywhere before a read */

enum sw_mode { SW_MODE_INDEPENDENT, SW_MODE_COLLECTIVE, SW_MODE_SERIAL };
enum sw_files { SW_FILES_SHARED, SW_FILES_PER_PROCESS, SW_FILES_PER_NODE };
extern const char *const sw_mode_names[];  /* "independent", ...; NULL at the end */
extern const char *const sw_files_names[]; /* "shared", ... */
enum sw_compute { SW_COMPUTE_BUSY, SW_COMPUTE_SLEEP };

struct sw_pattern;
struct sw_backend;

struct sw_hint_text {
    char key[MPI_MAX_INFO_KEY + 1];
    char value[MPI_MAX_INFO_VAL + 1];
};

/* The request, as parsed: the same on every rank. */
struct sw_options {
    const struct sw_pattern *pattern;
    const struct sw_backend *backend;
    enum sw_mode mode;
    enum sw_files files;
    bool write;
    bool read;
    bool verify;
    bool fsync;
    bool keep;
    bool view;      /* mpiio: one call through a file view; false: one call per piece */
    bool open_once; /* file stays open over all steps */
    bool direct;    /* past the page cache */
    bool drop_caches;
    bool help;
    bool version;
    int n_size; /* how many numbers --size, --local, --grid had; 0: not given */
    int n_local;
    int n_grid;
    int64_t size[SW_MAX_DIMS];
    int64_t local[SW_MAX_DIMS];
    int64_t grid[SW_MAX_DIMS];
    int n_parts; /* how many words --distribution had; 0: the pattern's own */
    struct sw_part parts[SW_MAX_DIMS];
    enum sw_type type;  /* SW_TYPE_COUNT until the defaults are set: the pattern's own */
    int64_t halo;       /* -1: the pattern's own */
    int64_t namelist;   /* bytes; -1: the pattern's own */
    int64_t node_ranks; /* per-node: successive ranks that count as a node; 0: shared memory */
    int64_t steps;
    int64_t seed;
    int64_t read_shift;       /* read what rank + shift wrote */
    int64_t transfer_bytes;   /* of a call, at most; 0: as the back end likes it */
    double stonewall_seconds; /* 0: no wall */
    double compute_seconds;
    enum sw_compute compute;
    const char *file;
    char default_file[64];
    const char *namelist_file; /* NULL: FILE.namelist */
    const char *json;          /* NULL: no JSON; "-": stdout instead of the table */
    int n_hints;
    struct sw_hint_text hints[SW_MAX_HINTS];
    const char *engine; /* of a library that has several; NULL elsewhere */
    int n_parameters;   /* of that engine */
    struct sw_hint_text parameters[SW_MAX_HINTS];
};

/* ---- patterns ---------------------------------------------------------------------- */

/* A pattern (patterns.c).  Mostly a table; share.c makes the boxes from the distribution. */
struct sw_pattern {
    const char *name;
    const char *summary;
    const char *size_help; /* what the numbers of --size are */
    int n_dims;            /* numbers that --size, --local, --grid, --distribution take */
    int components;        /* a last, uncut dimension that --size does not have; 0: none */
    enum sw_type default_type;
    struct sw_part default_distribution[SW_MAX_DIMS];
    int64_t default_local[SW_MAX_DIMS];
    int64_t default_halo;
    unsigned halo_dims;     /* bit d: the halo lies around dimension d */
    int64_t namelist_bytes; /* of a small file that each rank reads first; 0: none */
    /* mpiio: the view of a rank with one run begins there and has no gaps, as that of a program
     * which computes an offset.  (ROMIO locks what it writes through a view with gaps.) */
    bool plain_view;
    int n_variables;
    int n_partial;                /* the last of them do not have all dimensions, but */
    unsigned partial_dims;        /* bit d: the pattern's dimension d */
    const char *const *variables; /* names */
    /* NULL, or: the pattern deals out boxes by itself and takes neither --grid nor
     * --distribution.  Both are pure. */
    void (*grid)(int n_ranks, int64_t *grid);
    /* The boxes of `rank`, through sw_domain_add, and domain->most_boxes, most_blocks; false:
     * out of memory. */
    bool (*boxes)(const struct sw_options *options, int rank, int n_ranks,
                  const struct sw_share *share, struct sw_domain *domain);
};

/* ---- failures -------------------------------------------------------------------- */

/* The first failed call of this rank. */
struct sw_failure {
    int failed;
    char call[64];
    char file[SW_PATH_BYTES];
    char text[512];
};

/* ---- back ends -------------------------------------------------------------------- */

/* One pass over the files: all writes, or all reads. */
struct sw_session {
    const struct sw_options *options;
    const struct sw_share *share;
    MPI_Comm comm;
    int rank;
    int as_rank; /* whose data this rank moves; differs from rank under --read-shift */
    bool writing;
    const char *path;
    /* Files that hold packed elements (per-process, per-node): the bytes of a step in this
     * file, and where the rank's own begin in it. */
    int64_t file_step_bytes;
    int64_t file_before;
    struct sw_failure *failure;
    struct sw_wall *wall; /* NULL: nothing stops, and nobody counts */
    char *reported;       /* "key=value\n" lines of MPI_File_get_info, or "" */
    size_t reported_bytes;
    void *state; /* the back end's own */
};

/*
 * A back end: backends/NAME.c, registered in options.c; backends/null.c is the template.
 *
 * Functions return 0, or -1 after sw_fail*().  All are called on all ranks, in the same order.
 * A rank that failed goes on with the collective calls of the function it is in; the caller
 * agrees over all ranks after each function and calls none but `close` once one has failed.
 * `open` leaves session->state NULL where there is nothing to close; `close` is called when it
 * is set on all ranks.
 */
struct sw_backend {
    const char *name;
    const char *summary;
    const char *missing; /* NULL, or why it cannot be used in this build and the remedy */
    const char *suffix;  /* of the default file name */
    bool stores;         /* false: nothing reaches a file, nothing can be verified */
    bool hints;
    bool collective;
    bool transfers;         /* --transfer has a meaning: it asks sw_wall_next before each */
    int most_transfer_dims; /* of patterns that it can cut; 0: any */
    bool direct;            /* --direct has a meaning */
    bool serial;            /* --mode serial: all data passes through rank 0 */
    bool per_process;
    bool per_node;
    bool removes_view; /* --no-view has a meaning */
    bool engines;      /* --engine and --parameter have a meaning */
    /* After a failed write the file can still be closed and MPI finalised.  Otherwise the
     * program reports and then ends with MPI_Abort. */
    bool closes_after_failure;
    /* Open the file; the first open of a writing pass creates it. */
    int (*open)(struct sw_session *session, bool create);
    /* Make ready what one step needs: groups, datasets.  Counts as open.  NULL: nothing. */
    int (*prepare)(struct sw_session *session, int64_t step);
    /* Write or read one step, as session->writing says; a pass that writes changes nothing in
     * `buffer`: share->memory_bytes; variable `v` begins at variables[v].memory, box `b` of its
     * domain at element boxes[b].memory from there. */
    int (*move)(struct sw_session *session, int64_t step, char *buffer);
    int (*sync)(struct sw_session *session);
    int (*close)(struct sw_session *session);
    /* Remove session->path before a writing pass and after the run; on the ranks that own a
     * file.  NULL: it is a regular file. */
    int (*remove)(struct sw_session *session);
    /* Name and version.  NULL: it has no library but MPI, whose version is always reported. */
    void (*library)(char *text, size_t bytes);
};

extern const struct sw_pattern *const sw_patterns[]; /* NULL at the end */
extern const struct sw_backend *const sw_backends[];
extern const struct sw_backend sw_backend_null, sw_backend_posix, sw_backend_mpiio,
    sw_backend_hdf5, sw_backend_netcdf4, sw_backend_pnetcdf, sw_backend_adios2;
const struct sw_pattern *sw_pattern_find(const char *name);

/* ---- options.c, check.c --------------------------------------------------------------- */

extern const struct sw_option_row sw_option_rows[]; /* name NULL at the end */

/* False with one line (what, value, remedy) in `trouble`. */
bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes);
bool sw_options_check(const struct sw_options *options, int rank, int n_ranks, char *trouble,
                      size_t bytes);
/* Whether the calls of a rank suit --direct (backends/posix.c). */
bool sw_direct_check(const struct sw_options *options, const struct sw_share *share, int rank,
                     char *trouble, size_t bytes);

/* ---- files.c ---------------------------------------------------------------------------- */

/* A rank's file and its place there; step_bytes and before count for packed files. */
struct sw_place {
    int number; /* of the process or node; 0 for a shared file */
    bool first; /* this rank removes the file */
    int64_t step_bytes;
    int64_t before;
};

/* The place of `of_rank`, whose share has `owned_bytes`.  Collective; false: out of memory. */
bool sw_place_find(const struct sw_options *options, MPI_Comm comm, int of_rank,
                   int64_t owned_bytes, struct sw_place *place);
/* `path` has SW_PATH_BYTES. */
void sw_place_path(const struct sw_options *options, const struct sw_place *place, char *path);
/* Remove a regular file, through symbolic links; devices and absent files are left alone. */
int sw_file_remove(const char *path);
/* Remove the session's file if it is `mine`, once all ranks are here.  Collective. */
void sw_files_remove(struct sw_session *session, bool mine);

/*
 * For libraries that a full disk makes hang or lie: false with sw_fail on all ranks where the
 * file system has less room than the whole run writes.  Collective; before the file is made.
 *
 * Source, measured: BP5 of ADIOS2 2.12 waits for ever for the rank whose write failed; PnetCDF
 * 1.12 over the OMPIO of Open MPI 4.1 reports success for what was not written.
 */
bool sw_room_check(struct sw_session *session, const char *call);
/* The directory of session->path, in SW_PATH_BYTES. */
void sw_room_directory(const struct sw_session *session, char *directory);

/* Drop the session's file from memory, and `own_path`, which this rank wrote.  The bytes that are
 * still there on all ranks; -1: not known.  Collective. */
int64_t sw_cache_drop(struct sw_session *session, const char *own_path);

struct sw_spread {
    double min, median, max; /* over the ranks, seconds */
};

/* ---- namelist.c -------------------------------------------------------------------------- */

/* FILE.namelist, or --namelist-file: rank 0 makes it, untimed; then every rank opens, reads and
 * closes it, timed. */
void sw_namelist_use(const struct sw_options *options, MPI_Comm comm, struct sw_failure *failure,
                     struct sw_spread *spread);
void sw_namelist_remove(const struct sw_options *options, MPI_Comm comm,
                        struct sw_failure *failure);

/* ---- data.c ----------------------------------------------------------------------------- */

/* The first wrong element that this rank found, and how many are wrong. */
struct sw_mismatch {
    int64_t wrong;
    int64_t step;
    int64_t variable;
    int64_t index; /* linear, in the global array; -1: an element of the halo was changed */
    char expected[32];
    char found[32];
    int64_t rank;
};

void sw_data_fill(const struct sw_options *options, const struct sw_share *share, int64_t step,
                  char *buffer);
void sw_data_clear(const struct sw_share *share, char *buffer);
/* `moved`: of each variable so many elements were read, the first in file order; NULL: all. */
void sw_data_check(const struct sw_options *options, const struct sw_share *share, int64_t step,
                   const char *buffer, const int64_t *moved, struct sw_mismatch *mismatch);
/* Memory that begins at a page, for free(); NULL if there is none. */
char *sw_memory(int64_t bytes);

/* ---- session.c ---------------------------------------------------------------------------- */

int sw_fail(struct sw_session *session, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int sw_fail_errno(struct sw_session *session, const char *call);
int sw_fail_mpi(struct sw_session *session, const char *call, int code);
/* True if no rank has failed.  Collective. */
bool sw_agree(MPI_Comm comm, const struct sw_failure *failure);

/* MPI_INFO_NULL without hints.  MPI_SUCCESS or an MPI error code. */
int sw_info_make(const struct sw_options *options, MPI_Info *info);
/* What MPI_File_get_info says, as "key=value\n" lines in session->reported. */
void sw_info_report(struct sw_session *session, MPI_File file);
/* The same of an MPI_Info, which stays the caller's. */
void sw_info_report_hints(struct sw_session *session, MPI_Info info);

/* ---- run.c, statistics.c
 * ------------------------------------------------------------------------ */

enum sw_phase { SW_PHASE_OPEN, SW_PHASE_TRANSFER, SW_PHASE_SYNC, SW_PHASE_CLOSE, SW_PHASE_COUNT };
extern const char *const sw_phase_names[SW_PHASE_COUNT];

struct sw_step_result {
    bool writing;
    int64_t step;
    int64_t bytes;  /* of all ranks */
    double seconds; /* largest sum of phases over the ranks */
    struct sw_spread phase[SW_PHASE_COUNT];
};

enum sw_verdict { SW_VERDICT_NONE, SW_VERDICT_RIGHT, SW_VERDICT_WRONG };

struct sw_result {
    struct sw_spread namelist; /* seconds to open, read and close it */
    int n_ranks;
    double started; /* seconds since 1970 */
    double elapsed_seconds;
    int64_t n_steps; /* complete on rank 0 only */
    struct sw_step_result *steps;
    double io_seconds[2];   /* [writing]: largest sum over all steps over the ranks */
    double pass_seconds[2]; /* [writing]: begin to end, agreements and all: largest of a rank */
    double unsynced_seconds[2];       /* the same without the sync phase */
    const struct sw_meeting *meeting; /* NULL: alone */
    struct sw_wall_result wall[2];
    int64_t *written; /* transfers of each rank before the wall of the writing pass; or NULL */
    int64_t written_steps; /* with `written` */
    bool counted_caches;
    int64_t cached_bytes;  /* still in memory before the read; -1: not known */
    double span[2][2];     /* [writing]: begin and end since the common start, rank 0's clock */
    struct sw_share share; /* shapes alone */
    bool overwrote;        /* a writing pass has begun: old output is gone */
    bool abandoned;        /* a file was left open that cannot be closed: end by MPI_Abort */
    enum sw_verdict verdict;
    struct sw_mismatch mismatch; /* of all ranks: the first in file order */
    int n_failures;              /* ranks that failed */
    int n_failures_told;
    char failures[4][1024]; /* lines: rank, call, file, text */
    char reported[8192];
    char host[256];
};

/* Runs all passes; fills `result` on rank 0.  `meeting` may be NULL.  Returns an exit code, the
 * same on all ranks. */
int sw_run(const struct sw_options *options, MPI_Comm comm, struct sw_meeting *meeting,
           struct sw_result *result);
void sw_result_free(struct sw_result *result);
/* Reduce `seconds` (n_rows times SW_PHASE_COUNT per rank) into rows on rank 0.  Collective;
 * the steps, io_seconds[writing] and unsynced_seconds[writing] of `result` grow.  `last_bytes`:
 * what all ranks moved in the last row. */
bool sw_statistics_add(struct sw_result *result, MPI_Comm comm, bool writing, int64_t n_rows,
                       const double *seconds, int64_t last_bytes);
/* The spread of one number over the ranks, on rank 0.  Collective; false: out of memory. */
bool sw_statistics_spread(MPI_Comm comm, double seconds, struct sw_spread *spread);
/* Sum up failures and mismatches on rank 0.  Collective. */
void sw_statistics_failures(struct sw_result *result, MPI_Comm comm,
                            const struct sw_failure *failure);
void sw_statistics_mismatch(struct sw_result *result, MPI_Comm comm,
                            const struct sw_mismatch *mismatch);
/* Totals of one direction: bytes of all its steps. */
int64_t sw_statistics_bytes(const struct sw_result *result, bool writing);
/* "step 0, variable unk01, element (3, 0, 5): expected 7, found 0 (rank 2); 4 wrong" */
void sw_mismatch_text(const struct sw_result *result, char *text, size_t bytes);

/* ---- report.c: what rank 0 tells about a run -------------------------------------------- */

void sw_report_table(FILE *stream, const struct sw_options *options,
                     const struct sw_result *result);
void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_result *result,
                    int argc, char **argv);

#endif
