/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The small file of parameters that every rank of many codes reads at its start: harmless on one
 * node, a storm of opens on a thousand. Its time is reported separately from the steps. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536 /* of one read, as with the large buffers of Fortran libraries */

static bool used(const struct sw_options *options)
{
    return options->namelist > 0 && options->backend->stores;
}

static void path_of(const struct sw_options *options, char *path)
{
    if (options->namelist_file != NULL)
        snprintf(path, SW_PATH_BYTES, "%s", options->namelist_file);
    else
        snprintf(path, SW_PATH_BYTES, "%s.namelist", options->file);
}

/* Writes comment lines that any reader of namelists skips. */
static void make(struct sw_session *session)
{
    static const char line[] = "! parameters of a run that nobody needs\n";
    int64_t left = session->options->namelist;
    if (sw_file_remove(session->path) != 0) {
        sw_fail_errno(session, "unlink");
        return;
    }
    FILE *stream = fopen(session->path, "w");
    if (stream == NULL) {
        sw_fail_errno(session, "fopen");
        return;
    }
    for (; left > 0; left -= (int64_t)sizeof line - 1) {
        size_t now = left < (int64_t)sizeof line - 1 ? (size_t)left : sizeof line - 1;
        if (fwrite(line, 1, now, stream) != now)
            break;
    }
    if (fclose(stream) != 0 || left > 0)
        sw_fail_errno(session, "fwrite");
}

static void read_all(struct sw_session *session)
{
    char buffer[READ_BYTES];
    int64_t found = 0;
    ssize_t done = 0;
    int fd = open(session->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        sw_fail_errno(session, "open");
        return;
    }
    while ((done = read(fd, buffer, sizeof buffer)) != 0 && (done > 0 || errno == EINTR))
        found += done > 0 ? done : 0;
    if (done < 0)
        sw_fail_errno(session, "read");
    else if (found != session->options->namelist)
        sw_fail(session, "read", "%lld of %lld bytes were read", (long long)found,
                (long long)session->options->namelist);
    close(fd);
}

void sw_namelist_use(const struct sw_options *options, MPI_Comm comm, struct sw_failure *failure,
                     struct sw_spread *spread)
{
    char path[SW_PATH_BYTES];
    struct sw_session session = {
        .options = options, .comm = comm, .path = path, .failure = failure};
    if (!used(options))
        return;
    path_of(options, path);
    if (sw_rank_in(comm) == 0)
        make(&session);
    if (!sw_agree(comm, failure))
        return;
    double start = MPI_Wtime();
    read_all(&session);
    if (!sw_statistics_spread(comm, MPI_Wtime() - start, spread))
        sw_fail(&session, "malloc", "out of memory for the statistics");
}

void sw_namelist_remove(const struct sw_options *options, MPI_Comm comm,
                        struct sw_failure *failure)
{
    char path[SW_PATH_BYTES];
    struct sw_session session = {.path = path, .failure = failure};
    if (!used(options) || sw_rank_in(comm) != 0)
        return;
    path_of(options, path);
    if (sw_file_remove(path) != 0)
        sw_fail_errno(&session, "unlink");
}
