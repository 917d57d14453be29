/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-metadata: measures the cost of metadata operations of a file system, from many
 * processes, operation by operation.
 *
 *   options --> job (ranks, nodes, clocks) --> run.c: repeats of phases --> report
 *                                               |
 *       operations.c: one function an operation, on the paths of names.c, timed by phase.c
 *
 * Everything is in one new directory below --directory, which contains a mark (job.h):
 *
 *   stripewise-metadata-HEX/.stripewise-mark
 *   stripewise-metadata-HEX/shared/...        tree of all ranks (--sharing shared)
 *   stripewise-metadata-HEX/rank.R/...        tree of one rank (--sharing own)
 *     tree.K/...                              directory K of the tree, 0 is the tree's root
 *     file.R.I, moved.R.I, directory.R.I      of rank R, number I
 *
 * A rank creates its files and directories in order, so that a number identifies which ones exist.
 */
#ifndef STRIPEWISE_METADATA_H
#define STRIPEWISE_METADATA_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "command.h"
#include "histogram.h"
#include "meeting.h"

#ifndef SW_METADATA_VERSION
#define SW_METADATA_VERSION "0.1.0"
#endif

#define SW_PATH_BYTES 4096
#define SW_MOST_FILES (INT64_C(1) << 40)
#define SW_MOST_DIRECTORIES 1000000 /* maximum of a tree */
#define SW_NO_WALL UINT64_MAX

/* In the order of a repeat; from stat on, existing files are queried (meeting.h).
 */
enum sw_operation {
    SW_CREATE_TREE,
    SW_CREATE_DIRECTORY,
    SW_STAT_DIRECTORY,
    SW_REMOVE_DIRECTORY,
    SW_CREATE,
    SW_STAT,
    SW_READ_FILE,
    SW_RENAME,
    SW_LIST,
    SW_REMOVE,
    SW_REMOVE_TREE,
    SW_OPERATIONS
};

/* The parsed options: the same on every rank. */
struct sw_options {
    int64_t files;        /* of each rank; with a stonewall, the maximum that it creates */
    int64_t file_bytes;   /* written to each file */
    int64_t depth, width; /* of the tree; depth 0: none */
    int64_t shift;        /* rank r uses what rank r + shift created; -1: chosen */
    int64_t node_ranks;   /* successive ranks that count as a node; 0: those with shared memory */
    int64_t repeats, seed;
    double stonewall_seconds; /* 0: none */
    bool shared;              /* one tree for all ranks */
    bool leaves;              /* only the leaves of the tree contain files */
    bool random;              /* stat, read and remove in random order */
    bool fsync;
    bool wanted[SW_OPERATIONS];
    const char *directory;
    const char *json; /* NULL: no JSON; "-": stdout instead of the table */
    bool quiet;       /* no table */
    bool help, version;
};

/* ---- options.c -------------------------------------------------------------------------------
 */

extern const struct sw_option_row sw_option_rows[]; /* name NULL at the end */

/* False with one line (what, value, remedy) in `trouble`. */
bool sw_options_parse(int argc, char **argv, struct sw_options *options, char *trouble,
                      size_t bytes);
bool sw_options_check(const struct sw_options *options, char *trouble, size_t bytes);

/* Communicator of all ranks of this application (meeting.h). */
extern MPI_Comm sw_ranks;

/* ---- job.c, run.c: ranks, nodes, clocks, the directory, failures
 * ---------------------------------------------- */

struct sw_job {
    int rank, n_ranks;
    int node, n_nodes;
    int most_node_ranks;
    int shift;                /* effective shift */
    int64_t offset_ns;        /* of this node's clock to that of rank 0 */
    double clock_uncertainty; /* seconds: half the round-trip time of a message */
    char host[64];
    char directory[SW_PATH_BYTES]; /* stripewise-metadata-HEX below --directory */
};

/* The first failed call of this rank. */
struct sw_failure {
    int failed;
    char call[32];
    char path[1024];
    char text[256];
};

void sw_job_find(const struct sw_options *options, struct sw_job *job);
/* Creates the directory on rank 0, and checks that all ranks see it. Collective. */
bool sw_job_begin(const struct sw_options *options, struct sw_job *job,
                  struct sw_failure *failure);
/* Removes the directory, which is empty except for the mark. */
void sw_job_end(const struct sw_job *job, struct sw_failure *failure);
/* Returns true if no rank has failed or received a signal. Collective. */
bool sw_agree(const struct sw_failure *failure);
/* Returns -1; `number` is an errno, 0: `text` is complete. */
int sw_fail(struct sw_failure *failure, const char *call, const char *path, int number,
            const char *text);

static inline uint64_t sw_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- names.c ---------------------------------------------------------------------------------
 */

/* The tree, the same for every rank: paths of its directories below its root. */
struct sw_tree {
    int64_t n_directories;
    int64_t first;         /* first directory with files */
    int64_t per_directory; /* files of a rank in one directory */
    size_t longest;
    char *text;
    size_t *starts; /* (n_directories + 1) */
};

/* Returns 0, or -1 if out of memory or if a path is too long. */
int sw_tree_make(const struct sw_options *options, struct sw_tree *tree);
void sw_tree_free(struct sw_tree *tree);
/* Returns the directories of a tree; more than SW_MOST_DIRECTORIES: too many. */
int64_t sw_tree_size(int64_t depth, int64_t width);

/* Paths in sequence; only the changed part is written anew. */
struct sw_names {
    const struct sw_tree *tree;
    size_t root;       /* bytes of the path of the tree's root */
    size_t stem;       /* bytes before the number */
    int64_t directory; /* of the path; -1: none */
    char label[64];    /* "/file.3." */
    char path[SW_PATH_BYTES];
};

void sw_names_begin(struct sw_names *names, const struct sw_tree *tree, const struct sw_job *job,
                    bool shared, const char *kind, int owner);
const char *sw_name_of(struct sw_names *names, int64_t number);
/* Returns the path of directory K of the tree itself. */
const char *sw_name_of_directory(struct sw_names *names, int64_t directory);

/* ---- operations.c ----------------------------------------------------------------------------
 */

/* State of a rank in one repeat. */
struct sw_rank {
    const struct sw_options *options;
    const struct sw_job *job;
    struct sw_tree tree;
    struct sw_failure *failure;
    struct sw_names names;      /* of the phase */
    struct sw_names others;     /* new names, for a rename */
    int64_t *order;             /* (files), random; NULL: ascending */
    char *buffer;               /* file_bytes */
    int owner;                  /* rank whose files the phase uses */
    int64_t files, directories; /* of each rank, once all have created theirs */
    bool renamed;               /* files have their second name */
    /* What this rank has created and may not have been removed yet, for clean-up. */
    int64_t made_files, made_directories, made_tree;
    bool renames; /* some files may have their second name */
    bool made_root;
    bool left; /* something could not be removed */
};

/* Returns 0, or -1 after sw_fail. */
typedef int sw_operate(struct sw_rank *rank, const char *path, int64_t number);

struct sw_operation_row {
    const char *name;
    const char *summary;
    bool is_default;
    bool shifts; /* --shift applies */
    bool draws;  /* --random applies */
    sw_operate *operate;
};
extern const struct sw_operation_row sw_operation_rows[SW_OPERATIONS];

/* ---- phase.c ----------------------------------------------------------------------------------
 */

struct sw_extreme {
    double seconds; /* from the start of its first operation to the end of its last one */
    int rank;
    int64_t operations;
    char host[64];
};

/* Results of a phase, on rank 0. */
struct sw_phase {
    enum sw_operation operation;
    int64_t repeat;
    int64_t operations;
    double seconds;      /* from the first rank's start to the last one's end */
    double begun, ended; /* MPI_Wtime on rank 0 */
    struct sw_histogram histogram;
    struct sw_extreme slowest, fastest;
    bool worn_out; /* the time limit was reached before a rank had created all */
    int64_t wall_operations, wall_least, wall_most; /* at the time limit */
    double wall_seconds;
};

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t sw_stopped;

/* Runs one phase on all ranks; returns false if it failed somewhere, or a signal was received.
 * Collective. */
bool sw_phase_make(struct sw_rank *rank, enum sw_operation operation, int64_t repeat,
                   struct sw_phase *phase);

/* ---- rank.c -----------------------------------------------------------------------------------
 */

/* Allocates memory, and makes the tree's paths; once per run. Returns -1 after sw_fail. */
int sw_rank_prepare(struct sw_rank *rank, const struct sw_options *options,
                    const struct sw_job *job, struct sw_failure *failure);
void sw_rank_free(struct sw_rank *rank);
/* Creates the root of its tree, untimed. Collective; returns false if it failed somewhere. */
bool sw_rank_begin(struct sw_rank *rank);
/* Makes a random order of so many files. */
void sw_rank_draw(struct sw_rank *rank, int64_t files, int64_t salt);
/* Removes what is left of a repeat, untimed; missing files are ignored. Collective. */
void sw_rank_clean(struct sw_rank *rank);

/* ---- run.c, report.c ---------------------------------------------------------------------------
 */

struct sw_result {
    int64_t n_phases;
    struct sw_phase *phases; /* (repeats x SW_OPERATIONS), rank 0 */
    double started;          /* seconds since 1970 */
    double elapsed_seconds;
    int n_failures, n_failures_told;
    char failures[4][1400];
    int64_t n_directories;
    int signal; /* signal that ended it */
    bool left;  /* something is left in the directory */
    const struct sw_meeting *meeting;
};

/* Returns an exit code, which is the same on all ranks; 128 + the signal if one ended the run. */
int sw_run(const struct sw_options *options, struct sw_job *job, struct sw_meeting *meeting,
           struct sw_result *result);
void sw_report_table(FILE *stream, const struct sw_options *options, const struct sw_job *job,
                     const struct sw_result *result);
void sw_report_json(FILE *stream, const struct sw_options *options, const struct sw_job *job,
                    const struct sw_result *result, int argc, char **argv);

#endif
