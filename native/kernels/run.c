/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passes: write all steps, read all steps, or read them again to verify.
 * Ranks start each step together and agree after each phase; neither is part of a time.
 */
#include "kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct pass {
    const struct sw_options *options;
    struct sw_session session;
    struct sw_domain domain;
    int64_t *buffer;
    double *seconds; /* (steps, SW_PHASE_COUNT) */
    bool check;
    struct sw_mismatch *mismatch;
    bool abandoned;
};

/* ---- files --------------------------------------------------------------------------- */

static void path_of(const struct sw_options *options, int rank, char *path)
{
    if (options->files == SW_FILES_PER_PROCESS)
        snprintf(path, SW_PATH_BYTES, "%s.%06d", options->file, rank);
    else
        snprintf(path, SW_PATH_BYTES, "%s", options->file);
}

/* Remove a regular file, through symbolic links; devices and absent files are left alone. */
static int remove_file(const char *path)
{
    char target[PATH_MAX];
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISREG(status.st_mode))
        return 0;
    return realpath(path, target) != NULL ? unlink(target) : -1;
}

/* All files of the run: a shared one by rank 0, others by their own ranks. */
static void remove_files(const struct sw_options *options, MPI_Comm comm,
                         struct sw_session *session)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    bool mine = rank == 0 || options->files == SW_FILES_PER_PROCESS;
    MPI_Barrier(comm);
    if (options->backend->stores && mine && remove_file(session->path) != 0)
        sw_fail_errno(session, "unlink");
}

/* ---- one step --------------------------------------------------------------------------- */

static void compute(const struct sw_options *options)
{
    double seconds = options->compute_seconds;
    double end = MPI_Wtime() + seconds;
    if (options->compute == SW_COMPUTE_SLEEP) {
        struct timespec rest = {.tv_sec = (time_t)seconds};
        rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
        while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
            continue;
        return;
    }
    while (MPI_Wtime() < end)
        continue;
}

static bool all_have_state(const struct pass *pass)
{
    int have = pass->session.state != NULL || !pass->options->backend->stores;
    MPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_MIN, pass->session.comm);
    return have != 0;
}

/* After a failure: true if the file has to be left as it is. */
static bool abandon(struct pass *pass)
{
    pass->abandoned = pass->session.writing && !pass->options->backend->closes_after_failure;
    return pass->abandoned;
}

/* False: not open anywhere any more, or abandoned. */
static bool phase_open(struct pass *pass, int64_t step, double *seconds)
{
    struct sw_session *session = &pass->session;
    const struct sw_backend *backend = pass->options->backend;
    if (step == 0 || !pass->options->open_once) {
        double start = MPI_Wtime();
        backend->open(session, session->writing && step == 0);
        seconds[SW_PHASE_OPEN] += MPI_Wtime() - start;
        if (!sw_agree(session->comm, session->failure)) {
            if (all_have_state(pass))
                backend->close(session);
            return false;
        }
    }
    double start = MPI_Wtime();
    backend->prepare(session, step);
    seconds[SW_PHASE_OPEN] += MPI_Wtime() - start;
    if (sw_agree(session->comm, session->failure))
        return true;
    if (!abandon(pass))
        backend->close(session);
    return false;
}

static bool phase_transfer(struct pass *pass, int64_t step, double *seconds)
{
    struct sw_session *session = &pass->session;
    const struct sw_backend *backend = pass->options->backend;
    double start = MPI_Wtime();
    if (session->writing)
        backend->write(session, step, pass->buffer);
    else
        backend->read(session, step, pass->buffer);
    seconds[SW_PHASE_TRANSFER] += MPI_Wtime() - start;
    return sw_agree(session->comm, session->failure);
}

static bool phase_sync(struct pass *pass, double *seconds)
{
    struct sw_session *session = &pass->session;
    double start = MPI_Wtime();
    pass->options->backend->sync(session);
    seconds[SW_PHASE_SYNC] += MPI_Wtime() - start;
    return sw_agree(session->comm, session->failure);
}

static bool phase_close(struct pass *pass, double *seconds)
{
    struct sw_session *session = &pass->session;
    double start = MPI_Wtime();
    pass->options->backend->close(session);
    seconds[SW_PHASE_CLOSE] += MPI_Wtime() - start;
    return sw_agree(session->comm, session->failure);
}

static bool run_step(struct pass *pass, int64_t step)
{
    const struct sw_options *options = pass->options;
    double *seconds = pass->seconds + step * SW_PHASE_COUNT;
    bool last = step == options->steps - 1;
    if (step > 0 && options->compute_seconds > 0.0)
        compute(options);
    if (pass->session.writing)
        sw_data_fill(options, &pass->domain, step, pass->buffer);
    else if (pass->check)
        sw_data_clear(&pass->domain, pass->buffer);
    MPI_Barrier(pass->session.comm);
    if (!phase_open(pass, step, seconds))
        return false;
    bool good = phase_transfer(pass, step, seconds);
    if (good && pass->session.writing && options->fsync)
        good = phase_sync(pass, seconds);
    if (!good && abandon(pass))
        return false;
    if (!good || last || !options->open_once)
        good = phase_close(pass, seconds) && good;
    if (!good)
        abandon(pass);
    if (good && pass->check)
        sw_data_check(options, &pass->domain, step, pass->buffer, pass->mismatch);
    return good;
}

/* ---- one pass ----------------------------------------------------------------------------- */

/* Memory for the rank's share and the times. */
static void allocate(struct pass *pass, int n_ranks)
{
    char trouble[512];
    size_t elements = 0;
    if (!sw_domain_make(pass->options, pass->session.as_rank, n_ranks, &pass->domain, trouble,
                        sizeof trouble)) {
        sw_fail(&pass->session, "malloc", "%s", trouble);
        return;
    }
    bool fits =
        !__builtin_mul_overflow(pass->domain.allocated, pass->domain.n_variables, &elements) &&
        elements < SIZE_MAX / SW_ELEMENT_BYTES;
    if (fits)
        pass->buffer = malloc((elements + 1) * SW_ELEMENT_BYTES);
    pass->seconds = calloc((size_t)pass->options->steps * SW_PHASE_COUNT, sizeof(double));
    if (pass->buffer == NULL || pass->seconds == NULL)
        sw_fail(&pass->session, "malloc",
                "out of memory for %zu elements; give a smaller --size, --local or --halo",
                elements);
    else
        sw_data_clear(&pass->domain, pass->buffer);
}

enum pass_kind { PASS_WRITE, PASS_READ, PASS_VERIFY };

static bool run_pass(const struct sw_options *options, MPI_Comm comm, enum pass_kind kind,
                     struct sw_result *result, struct sw_failure *failure,
                     struct sw_mismatch *mismatch)
{
    char path[SW_PATH_BYTES];
    int rank = 0;
    int64_t shift = kind == PASS_WRITE ? 0 : options->read_shift;
    MPI_Comm_rank(comm, &rank);
    if (kind == PASS_VERIFY && shift == 0)
        shift = 1; /* what another rank wrote: also shows that it arrived in the file */
    int as_rank = (int)((rank + shift) % result->n_ranks);
    path_of(options, as_rank, path);
    struct pass pass = {
        .options = options,
        .session = {.options = options,
                    .comm = comm,
                    .rank = rank,
                    .as_rank = as_rank,
                    .writing = kind == PASS_WRITE,
                    .path = path,
                    .failure = failure,
                    .reported = result->reported,
                    .reported_bytes = sizeof result->reported},
        .check = options->verify && kind != PASS_WRITE,
        .mismatch = mismatch,
    };
    pass.session.domain = &pass.domain;
    allocate(&pass, result->n_ranks);
    if (kind == PASS_WRITE)
        remove_files(options, comm, &pass.session);
    bool good = sw_agree(comm, failure);
    for (int64_t step = 0; step < options->steps && good; step++)
        good = run_step(&pass, step);
    if (good && kind != PASS_VERIFY &&
        !sw_statistics_add(result, comm, kind == PASS_WRITE, options->steps, pass.seconds)) {
        sw_fail(&pass.session, "malloc", "out of memory for the statistics");
        good = false;
    }
    result->abandoned = pass.abandoned;
    sw_domain_free(&pass.domain);
    free(pass.buffer);
    free(pass.seconds);
    return good;
}

static bool run_passes(const struct sw_options *options, MPI_Comm comm, struct sw_result *result,
                       struct sw_failure *failure, struct sw_mismatch *mismatch)
{
    bool again = options->verify && !options->read;
    if (options->write && !run_pass(options, comm, PASS_WRITE, result, failure, mismatch))
        return false;
    if (options->read && !run_pass(options, comm, PASS_READ, result, failure, mismatch))
        return false;
    return !again || run_pass(options, comm, PASS_VERIFY, result, failure, mismatch);
}

/* Wrong files are kept: they are the evidence. */
static void clean_up(const struct sw_options *options, MPI_Comm comm, struct sw_failure *failure,
                     const struct sw_result *result)
{
    char path[SW_PATH_BYTES];
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    path_of(options, rank, path);
    struct sw_session session = {
        .options = options, .comm = comm, .rank = rank, .path = path, .failure = failure};
    if (options->write && !options->keep && result->verdict != SW_VERDICT_WRONG)
        remove_files(options, comm, &session);
}

int sw_run(const struct sw_options *options, MPI_Comm comm, struct sw_result *result)
{
    char trouble[512];
    struct timespec now = {0};
    struct sw_mismatch mismatch = {0};
    struct sw_failure *failure = calloc(1, sizeof *failure);
    if (failure == NULL)
        MPI_Abort(comm, SW_EXIT_FAILED); /* no room for a kilobyte: nothing can be agreed on */
    *result = (struct sw_result){0};
    clock_gettime(CLOCK_REALTIME, &now);
    result->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    gethostname(result->host, sizeof result->host - 1);
    MPI_Comm_size(comm, &result->n_ranks);
    sw_domain_make(options, -1, result->n_ranks, &result->shape, trouble, sizeof trouble);
    double start = MPI_Wtime();
    bool done = run_passes(options, comm, result, failure, &mismatch);
    if (done && options->verify)
        sw_statistics_mismatch(result, comm, &mismatch);
    clean_up(options, comm, failure, result);
    result->elapsed_seconds = MPI_Wtime() - start;
    bool good = sw_agree(comm, failure);
    if (!good)
        sw_statistics_failures(result, comm, failure);
    free(failure);
    return good && result->verdict != SW_VERDICT_WRONG ? SW_EXIT_OK : SW_EXIT_FAILED;
}
