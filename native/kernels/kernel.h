/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-kernel: one benchmark program, patterns x back ends.
 *
 * A pattern defines which boxes of a global array a rank owns and how they are arranged in its
 * memory; a back end moves boxes between memory and files. Neither knows the other:
 *
 *   pattern, distribution --> sw_share (boxes, runs; share.h) --> run.c --> back end --> file
 *
 * Content of a file (equal for all back ends, so that they can be compared):
 *   - elements of one type (--type) in the machine's byte order;
 *   - a step contains all variables, one after the other, each a global array in C order (last
 *     dimension fastest). The number of an element, counted from 0 over all steps, is its position
 *     there, and its value is
 *         seed + 1 + number              int64: no other element of the run has it
 *         the same modulo 2^53, 2^24     double, float: integers that they represent exactly
 *     halos contain SW_SENTINEL and are never written;
 *   - shared, posix and mpiio: exactly these bytes;
 *   - shared, hdf5: dataset /step_SSSSSS/VARIABLE of the global shape;
 *   - shared, netcdf4 and pnetcdf: variable VARIABLE of the global shape with a leading dimension
 *     `step`, as long as there are steps (pnetcdf: CDF-5, whose elements are big-endian);
 *   - shared, adios2: a directory; variable VARIABLE of the global shape in each of its steps;
 *   - per-process: FILE.RRRRRR; step by step, variable by variable, the elements of the rank in
 *     ascending order of their place in the global array, without gaps;
 *   - per-node: FILE.nodeNNNNNN; a step contains, rank by rank, the content of a file per
 *     process.
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
#define SW_DIRECT_BYTES 4096 /* page size: lengths and offsets of direct I/O */
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

/* The parsed options: the same on every rank. */
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
    bool direct;    /* bypass the page cache */
    bool drop_caches;
    bool help;
    bool version;
    int n_size; /* count of numbers in --size, --local, --grid; 0: not given */
    int n_local;
    int n_grid;
    int64_t size[SW_MAX_DIMS];
    int64_t local[SW_MAX_DIMS];
    int64_t grid[SW_MAX_DIMS];
    int n_parts; /* count of words in --distribution; 0: the pattern's default */
    struct sw_part parts[SW_MAX_DIMS];
    enum sw_type type;  /* SW_TYPE_COUNT until defaults are set: the pattern's type */
    int64_t halo;       /* -1: the pattern's default */
    int64_t namelist;   /* bytes; -1: the pattern's default */
    int64_t node_ranks; /* per-node: successive ranks that count as a node; 0: shared memory */
    int64_t steps;
    int64_t seed;
    int64_t read_shift;       /* read what rank + shift has written */
    int64_t transfer_bytes;   /* maximum size of a call; 0: the back end's choice */
    double stonewall_seconds; /* 0: no wall */
    double compute_seconds;
    enum sw_compute compute;
    const char *file;
    char default_file[64];
    const char *namelist_file; /* NULL: FILE.namelist */
    const char *json;          /* NULL: no JSON; "-": stdout instead of the table */
    int n_hints;
    struct sw_hint_text hints[SW_MAX_HINTS];
    const char *engine; /* if the library has several; otherwise NULL */
    int n_parameters;   /* of that engine */
    struct sw_hint_text parameters[SW_MAX_HINTS];
};

/* ---- patterns ---------------------------------------------------------------------- */

/* A pattern (patterns.c). It is mostly a table; share.c makes the boxes from the distribution. */
struct sw_pattern {
    const char *name;
    const char *summary;
    const char *size_help; /* meaning of the numbers of --size */
    int n_dims;            /* count of numbers in --size, --local, --grid, --distribution */
    int components;        /* a last, undivided dimension that is not in --size; 0: none */
    enum sw_type default_type;
    struct sw_part default_distribution[SW_MAX_DIMS];
    int64_t default_local[SW_MAX_DIMS];
    int64_t default_halo;
    unsigned halo_dims;     /* bit d: there is a halo in dimension d */
    int64_t namelist_bytes; /* size of a small file that each rank reads first; 0: none */
    /* mpiio: the view of a rank with one run begins there and has no gaps, as in a program that
     * computes an offset. (ROMIO locks what it writes through a view with gaps.) */
    bool plain_view;
    int n_variables;
    int n_partial;                /* so many at the end do not have all dimensions, but */
    unsigned partial_dims;        /* bit d: the pattern's dimension d */
    const char *const *variables; /* names */
    /* NULL, or: the pattern distributes boxes itself and supports neither --grid nor
     * --distribution. Both functions are pure. */
    void (*grid)(int n_ranks, int64_t *grid);
    /* Makes the boxes of `rank`, by sw_domain_add, and domain->most_boxes, most_blocks; returns
     * false if out of memory. */
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

/* One pass over the files: either all writes, or all reads. */
struct sw_session {
    const struct sw_options *options;
    const struct sw_share *share;
    MPI_Comm comm;
    int rank;
    int as_rank; /* rank whose data is moved; differs from rank under --read-shift */
    bool writing;
    const char *path;
    /* For files with packed elements (per-process, per-node): the bytes of a step in this file,
     * and the offset of the rank's own data in it. */
    int64_t file_step_bytes;
    int64_t file_before;
    struct sw_failure *failure;
    struct sw_wall *wall; /* NULL: no time limit, and transfers are not counted */
    char *reported;       /* "key=value\n" lines of MPI_File_get_info, or "" */
    size_t reported_bytes;
    void *state; /* the back end's own */
};

/*
 * A back end: backends/NAME.c, registered in options.c; backends/null.c is the template.
 *
 * Functions return 0, or -1 after sw_fail*(). All are called on all ranks, in the same order. A
 * rank that has failed still makes the collective calls of the current function; the caller agrees
 * over all ranks after each function and only calls `close` once one has failed. `open` leaves
 * session->state NULL if there is nothing to close; `close` is called if it is set on all ranks.
 */
struct sw_backend {
    const char *name;
    const char *summary;
    const char *missing; /* NULL, or why it cannot be used in this build, with the remedy */
    const char *suffix;  /* of the default file name */
    bool stores;         /* false: nothing is written to a file or can be verified */
    bool hints;
    bool collective;
    bool transfers;         /* supports --transfer: it calls sw_wall_next before each */
    int most_transfer_dims; /* maximum dimensions of patterns that it can divide; 0: any */
    bool direct;            /* supports --direct */
    bool serial;            /* supports --mode serial: all data passes through rank 0 */
    bool per_process;
    bool per_node;
    bool removes_view; /* supports --no-view */
    bool engines;      /* supports --engine and --parameter */
    /* Whether the file can be closed and MPI finalised after a failed write. Otherwise the program
     * reports and then ends with MPI_Abort. */
    bool closes_after_failure;
    /* Opens the file; the first open of a writing pass creates it. */
    int (*open)(struct sw_session *session, bool create);
    /* Prepares what one step needs: groups, datasets. Counts as open. NULL: nothing to prepare. */
    int (*prepare)(struct sw_session *session, int64_t step);
    /* Writes or reads one step, depending on session->writing; writing does not change `buffer`,
     * which has share->memory_bytes. Variable `v` begins at variables[v].memory, box `b` of its
     * domain at element boxes[b].memory from there. */
    int (*move)(struct sw_session *session, int64_t step, char *buffer);
    int (*sync)(struct sw_session *session);
    int (*close)(struct sw_session *session);
    /* Removes session->path before a writing pass and after the run, on the ranks that own a file.
     * NULL: it is a regular file. */
    int (*remove)(struct sw_session *session);
    /* Gets name and version. NULL: it uses no library but MPI, whose version is always reported.
     * */
    void (*library)(char *text, size_t bytes);
};

extern const struct sw_pattern *const sw_patterns[]; /* terminated by NULL */
extern const struct sw_backend *const sw_backends[];
extern const struct sw_backend sw_backend_null, sw_backend_posix, sw_backend_mpiio,
    sw_backend_hdf5, sw_backend_netcdf4, sw_backend_pnetcdf, sw_backend_adios2;
const struct sw_pattern *sw_pattern_find(const char *name);

/* ---- options.c, check.c --------------------------------------------------------------- */

extern const struct sw_option_row sw_option_rows[]; /* terminated by name NULL */

/* Returns false with one line (what, value, remedy) in `trouble`. */
bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes);
bool sw_options_check(const struct sw_options *options, int rank, int n_ranks, char *trouble,
                      size_t bytes);
/* Checks whether the calls of a rank are possible with --direct (backends/posix.c). */
bool sw_direct_check(const struct sw_options *options, const struct sw_share *share, int rank,
                     char *trouble, size_t bytes);

/* ---- files.c ---------------------------------------------------------------------------- */

/* A rank's file and its offset there; step_bytes and before are for packed files. */
struct sw_place {
    int number; /* of the process or node; 0 for a shared file */
    bool first; /* this rank removes the file */
    int64_t step_bytes;
    int64_t before;
};

/* Finds the place of `of_rank`, whose share has `owned_bytes`. Collective; returns false if out of
 * memory. */
bool sw_place_find(const struct sw_options *options, MPI_Comm comm, int of_rank,
                   int64_t owned_bytes, struct sw_place *place);
/* `path` has SW_PATH_BYTES. */
void sw_place_path(const struct sw_options *options, const struct sw_place *place, char *path);
/* Removes a regular file, through symbolic links; devices and missing files are ignored. */
int sw_file_remove(const char *path);
/* Removes the session's file if it is `mine`, once all ranks have arrived. Collective. */
void sw_files_remove(struct sw_session *session, bool mine);

/*
 * For libraries that hang or report wrong results on a full disk: returns false with sw_fail on
 * all ranks if the file system has less room than the whole run writes. Collective; called before
 * the file is created.
 *
 * Source, measured: BP5 of ADIOS2 2.12 waits for ever for the rank whose write failed; PnetCDF
 * 1.12 over the OMPIO of Open MPI 4.1 reports success for data that was not written.
 */
bool sw_room_check(struct sw_session *session, const char *call);
/* Gets the directory of session->path, in SW_PATH_BYTES. */
void sw_room_directory(const struct sw_session *session, char *directory);

/* Drops the session's file from memory, and `own_path`, which this rank has written. Returns the
 * bytes that remain in memory over all ranks; -1: unknown. Collective. */
int64_t sw_cache_drop(struct sw_session *session, const char *own_path);

struct sw_spread {
    double min, median, max; /* over the ranks, seconds */
};

/* ---- namelist.c -------------------------------------------------------------------------- */

/* FILE.namelist, or --namelist-file: rank 0 creates it, untimed; then every rank opens, reads and
 * closes it, timed. */
void sw_namelist_use(const struct sw_options *options, MPI_Comm comm, struct sw_failure *failure,
                     struct sw_spread *spread);
void sw_namelist_remove(const struct sw_options *options, MPI_Comm comm,
                        struct sw_failure *failure);

/* ---- data.c ----------------------------------------------------------------------------- */

/* The first wrong element that this rank has found, and the number of wrong elements. */
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
/* `moved`: number of elements of each variable that were read, in file order; NULL: all. */
void sw_data_check(const struct sw_options *options, const struct sw_share *share, int64_t step,
                   const char *buffer, const int64_t *moved, struct sw_mismatch *mismatch);
/* Allocates page-aligned memory, for free(); NULL if there is none. */
char *sw_memory(int64_t bytes);

/* ---- session.c ---------------------------------------------------------------------------- */

int sw_fail(struct sw_session *session, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int sw_fail_errno(struct sw_session *session, const char *call);
int sw_fail_mpi(struct sw_session *session, const char *call, int code);
/* Returns true if no rank has failed. Collective. */
bool sw_agree(MPI_Comm comm, const struct sw_failure *failure);

/* Makes MPI_INFO_NULL without hints. Returns MPI_SUCCESS or an MPI error code. */
int sw_info_make(const struct sw_options *options, MPI_Info *info);
/* Stores the hints of MPI_File_get_info as "key=value\n" lines in session->reported. */
void sw_info_report(struct sw_session *session, MPI_File file);
/* The same for an MPI_Info, which still belongs to the caller. */
void sw_info_report_hints(struct sw_session *session, MPI_Info info);

/* ---- run.c, statistics.c
 * ------------------------------------------------------------------------ */

enum sw_phase { SW_PHASE_OPEN, SW_PHASE_TRANSFER, SW_PHASE_SYNC, SW_PHASE_CLOSE, SW_PHASE_COUNT };
extern const char *const sw_phase_names[SW_PHASE_COUNT];

struct sw_step_result {
    bool writing;
    int64_t step;
    int64_t bytes;  /* of all ranks */
    double seconds; /* largest sum of phases of a rank */
    struct sw_spread phase[SW_PHASE_COUNT];
};

enum sw_verdict { SW_VERDICT_NONE, SW_VERDICT_RIGHT, SW_VERDICT_WRONG };

struct sw_result {
    struct sw_spread namelist; /* seconds for opening, reading and closing it */
    int n_ranks;
    double started; /* seconds since 1970 */
    double elapsed_seconds;
    int64_t n_steps; /* only rank 0 has all of them */
    struct sw_step_result *steps;
    double io_seconds[2];       /* [writing]: largest sum over all steps of a rank */
    double pass_seconds[2];     /* [writing]: total time with agreements: largest of a rank */
    double unsynced_seconds[2]; /* the same without the sync phase */
    const struct sw_meeting *meeting; /* NULL: alone */
    struct sw_wall_result wall[2];
    int64_t *written; /* transfers of each rank before the wall of the writing pass; or NULL */
    int64_t written_steps; /* valid with `written` */
    bool counted_caches;
    int64_t cached_bytes;  /* still in memory before the read; -1: unknown */
    double span[2][2];     /* [writing]: begin and end since the common start, rank 0's clock */
    struct sw_share share; /* only shapes */
    bool overwrote;        /* a writing pass has begun: old output is lost */
    bool abandoned;        /* a file was left open that cannot be closed: end by MPI_Abort */
    enum sw_verdict verdict;
    struct sw_mismatch mismatch; /* over all ranks: the first in file order */
    int n_failures;              /* number of ranks that failed */
    int n_failures_told;
    char failures[4][1024]; /* lines: rank, call, file, text */
    char reported[8192];
    char host[256];
};

/* Runs all passes; fills `result` on rank 0. `meeting` may be NULL. Returns an exit code, which is
 * the same on all ranks. */
int sw_run(const struct sw_options *options, MPI_Comm comm, struct sw_meeting *meeting,
           struct sw_result *result);
void sw_result_free(struct sw_result *result);
/* Reduces `seconds` (n_rows times SW_PHASE_COUNT per rank) into rows on rank 0. Collective; adds
 * to the steps, io_seconds[writing] and unsynced_seconds[writing] of `result`. `last_bytes`: what
 * all ranks moved in the last row. */
bool sw_statistics_add(struct sw_result *result, MPI_Comm comm, bool writing, int64_t n_rows,
                       const double *seconds, int64_t last_bytes);
/* Computes the spread of one number over the ranks, on rank 0. Collective; returns false if out of
 * memory. */
bool sw_statistics_spread(MPI_Comm comm, double seconds, struct sw_spread *spread);
/* Sums failures and mismatches on rank 0. Collective. */
void sw_statistics_failures(struct sw_result *result, MPI_Comm comm,
                            const struct sw_failure *failure);
void sw_statistics_mismatch(struct sw_result *result, MPI_Comm comm,
                            const struct sw_mismatch *mismatch);
/* Returns the bytes of all steps in one direction. */
int64_t sw_statistics_bytes(const struct sw_result *result, bool writing);
/* "step 0, variable unk01, element (3, 0, 5): expected 7, found 0 (rank 2); 4 wrong" */
void sw_mismatch_text(const struct sw_result *result, char *text, size_t bytes);

/* ---- report.c: output of rank 0 about a run ---------------------------------------------- */

void sw_report_table(FILE *stream, const struct sw_options *options,
                     const struct sw_result *result);
void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_result *result,
                    int argc, char **argv);

#endif
