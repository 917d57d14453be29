/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What stripewise-kernel and stripewise-metadata have in common around their runs. */
#ifndef STRIPEWISE_KERNEL_PROGRAM_H
#define STRIPEWISE_KERNEL_PROGRAM_H

#include "meeting.h"

#include <stdio.h>

/* Requests of a command line. */
struct sw_request {
    bool help, version; /* nothing is to be measured */
    struct sw_plan plan;
};

/* Its functions are called in this order. */
struct sw_program {
    const char *name;
    const char *version;
    const char *json_remedy; /* appended to the reason why --json cannot be written */
    /* Parses and checks the command line, on each rank of `comm`; returns false with one line
     * (what, value, remedy) in `trouble`. */
    bool (*understand)(int argc, char **argv, MPI_Comm comm, struct sw_request *request,
                       char *trouble, size_t bytes);
    void (*print_help)(void);
    int (*run)(struct sw_meeting *meeting); /* returns an exit code, the same on all ranks */
    /* Prints the result, on rank 0; not called if JSON replaces the table. */
    void (*print_table)(FILE *stream);
    void (*print_json)(FILE *stream, int argc, char **argv);
    void (*tell_errors)(void);
    void (*end)(MPI_Comm comm, int code); /* called after all output; may not return */
};

/* Runs the program; returns the exit code, which is the same on every rank. */
int sw_program_main(const struct sw_program *program, int argc, char **argv);

/* Calls `tell` on rank 0 for each rank that failed, in their order, with its record of so many
 * bytes. Collective. */
void sw_failures_gather(MPI_Comm comm, const void *failure, bool failed, size_t bytes,
                        void (*tell)(void *result, int rank, const void *failure), void *result);

#endif
