/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Checks for options that are well formed but impossible. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

/* Returns what a back end does not support; NULL if everything is supported. */
static const char *backend_problem(const struct sw_options *options)
{
    const struct sw_backend *backend = options->backend;
    if (backend->missing != NULL)
        return backend->missing;
    if (options->mode == SW_MODE_COLLECTIVE && !backend->collective)
        return "it has no collective calls; leave out --mode collective, or use mpiio or hdf5";
    if (options->mode == SW_MODE_SERIAL && !backend->serial)
        return "it does not write through one rank; leave out --mode serial, or use posix";
    if (options->mode == SW_MODE_SERIAL && options->files != SW_FILES_SHARED)
        return "--mode serial writes one file; leave out --layout";
    if (options->files == SW_FILES_PER_PROCESS && !backend->per_process)
        return "it writes one shared file; leave out --layout per-process, or use posix";
    if (options->files == SW_FILES_PER_NODE && !backend->per_node)
        return "it writes one shared file; leave out --layout per-node, or use posix";
    if (options->n_hints > 0 && !backend->hints)
        return "it takes no hints; leave out --hint, or use mpiio or hdf5";
    if ((options->engine != NULL || options->n_parameters > 0) && !backend->engines)
        return "it has no engines; leave out --engine and --parameter, or use adios2";
    if (options->transfer_bytes > 0 && !backend->transfers)
        return "it moves a variable in one call; leave out --transfer, or use posix or mpiio";
    if (options->transfer_bytes > 0 && options->mode == SW_MODE_SERIAL)
        return "--mode serial has windows of its own; leave out --transfer";
    if (options->direct && !backend->direct)
        return "it has no direct I/O of its own; leave out --direct, or use posix (ROMIO takes "
               "--hint direct_write=true)";
    if (options->direct && options->mode == SW_MODE_SERIAL)
        return "--mode serial has windows of its own; leave out --direct";
    if (options->drop_caches && (!backend->stores || backend->remove != NULL))
        return "it makes no plain file that could be dropped; leave out --drop-caches";
    if (options->verify && !backend->stores)
        return "it stores nothing that could be verified; leave out --verify";
    if (!options->view && !backend->removes_view)
        return "it has no file views; leave out --no-view, or use mpiio";
    if (!options->view && options->mode == SW_MODE_COLLECTIVE)
        return "ranks have different numbers of pieces; --no-view needs --mode independent";
    return NULL;
}

static bool check_numbers(const struct sw_options *options, const char *name, int given,
                          char *trouble, size_t bytes)
{
    if (given == 0 || given == options->pattern->n_dims)
        return true;
    snprintf(trouble, bytes, "--%s has %d number(s); pattern %s needs %d (%s)", name, given,
             options->pattern->name, options->pattern->n_dims, options->pattern->size_help);
    return false;
}

/* Checks --grid and --distribution: as many as dimensions, and not for patterns with their own. */
static bool check_parts(const struct sw_options *options, const char *name, int given,
                        char *trouble, size_t bytes)
{
    if (given == 0 || options->pattern->boxes == NULL)
        return check_numbers(options, name, given, trouble, bytes);
    snprintf(trouble, bytes, "--%s: pattern %s makes its own; leave it out, or use array3d", name,
             options->pattern->name);
    return false;
}

/* Checks options about calls, and about when they end. */
static bool check_transfers(const struct sw_options *options, char *trouble, size_t bytes)
{
    int64_t element = sw_type_bytes(options->type);
    if (options->transfer_bytes % element != 0)
        snprintf(trouble, bytes, "--transfer %lld: it is not a multiple of the %lld bytes of %s",
                 (long long)options->transfer_bytes, (long long)element,
                 sw_type_name(options->type));
    else if (options->transfer_bytes > 0 && options->backend->most_transfer_dims > 0 &&
             options->pattern->n_dims > options->backend->most_transfer_dims)
        snprintf(trouble, bytes,
                 "--transfer: back end %s cuts patterns of one dimension alone; use blocks or "
                 "vpic, or leave it out",
                 options->backend->name);
    else if (options->stonewall_seconds > 0.0 && options->transfer_bytes == 0 &&
             options->steps == 1)
        snprintf(trouble, bytes,
                 "--stonewall %g: there is one transfer, and nothing to stop; add --transfer or "
                 "--steps",
                 options->stonewall_seconds);
    else if (options->drop_caches && !options->read)
        snprintf(trouble, bytes,
                 "--drop-caches: nothing is read; leave it out, or use --op read or write-read");
    else
        return true;
    return false;
}

static bool check_request(const struct sw_options *options, char *trouble, size_t bytes)
{
    const char *problem = backend_problem(options);
    if (problem != NULL) {
        snprintf(trouble, bytes, "--backend %s: %s", options->backend->name, problem);
        return false;
    }
    if (options->n_size > 0 && options->n_local > 0) {
        snprintf(trouble, bytes, "--size and --local exclude each other; leave one out");
        return false;
    }
    if (options->read_shift > 0 && !options->read && !options->verify) {
        snprintf(trouble, bytes,
                 "--read-shift %lld: nothing is read; add --op write-read or --verify",
                 (long long)options->read_shift);
        return false;
    }
    if (options->fsync && !options->write) {
        snprintf(trouble, bytes, "--fsync: nothing is written; leave it out, or use --op write");
        return false;
    }
    if (options->node_ranks > 0 && options->files != SW_FILES_PER_NODE) {
        snprintf(trouble, bytes, "--node-ranks %lld: it needs --layout per-node",
                 (long long)options->node_ranks);
        return false;
    }
    return check_transfers(options, trouble, bytes) &&
           check_numbers(options, "size", options->n_size, trouble, bytes) &&
           check_numbers(options, "local", options->n_local, trouble, bytes) &&
           check_parts(options, "grid", options->n_grid, trouble, bytes) &&
           check_parts(options, "distribution", options->n_parts, trouble, bytes);
}

/* Checks the calls of this rank for --direct. */
static bool check_direct(const struct sw_options *options, int rank, int n_ranks, char *trouble,
                         size_t bytes)
{
    struct sw_share share;
    if (!options->direct)
        return true;
    if (!sw_share_make(options, rank, n_ranks, &share, trouble, bytes))
        return false;
    bool good = sw_direct_check(options, &share, rank, trouble, bytes);
    sw_share_free(&share);
    return good;
}

bool sw_options_check(const struct sw_options *options, int rank, int n_ranks, char *trouble,
                      size_t bytes)
{
    struct sw_share share;
    if (!check_request(options, trouble, bytes) ||
        !sw_share_make(options, -1, n_ranks, &share, trouble, bytes))
        return false;
    sw_share_free(&share);
    return check_direct(options, rank, n_ranks, trouble, bytes);
}
