/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passes: write all steps, read all steps, or read them again to verify.
 * Ranks start each step together and agree after each phase; neither is part of a time.
 */
#include "kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct pass {
    const struct sw_options *options;
    struct sw_session session;
    struct sw_share share;
    struct sw_place place;
    char path[SW_PATH_BYTES];
    char *buffer;
    double *seconds; /* (steps, SW_PHASE_COUNT) */
    bool check;
    struct sw_mismatch *mismatch;
    bool abandoned;
};

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

/* After a failure: true if the file has to be left as it is. */
static bool abandon(struct pass *pass)
{
    pass->abandoned = pass->session.writing && !pass->options->backend->closes_after_failure;
    return pass->abandoned;
}

/* After an open that failed on some ranks: the file is closed where all have it.  What only some
 * have of a shared file cannot be closed, which is collective. */
static void close_or_abandon(struct pass *pass)
{
    const struct sw_backend *backend = pass->options->backend;
    int have = pass->session.state != NULL || !backend->stores;
    int some_and_not_all[2] = {have, !have};
    MPI_Allreduce(MPI_IN_PLACE, some_and_not_all, 2, MPI_INT, MPI_MAX, pass->session.comm);
    if (!some_and_not_all[1])
        backend->close(&pass->session);
    else
        pass->abandoned =
            some_and_not_all[0] && backend->collective && pass->options->files == SW_FILES_SHARED;
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
            close_or_abandon(pass);
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
        sw_data_fill(options, &pass->share, step, pass->buffer);
    else if (pass->check)
        sw_data_clear(&pass->share, pass->buffer);
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
        sw_data_check(options, &pass->share, step, pass->buffer, pass->mismatch);
    return good;
}

/* ---- one pass ----------------------------------------------------------------------------- */

/* The rank's share, its memory, and its place in the files. */
static void prepare_share(struct pass *pass, int n_ranks)
{
    char trouble[512];
    struct sw_session *session = &pass->session;
    if (!sw_share_make(pass->options, session->as_rank, n_ranks, &pass->share, trouble,
                       sizeof trouble))
        sw_fail(session, "malloc", "%s", trouble);
    if (!sw_place_find(pass->options, session->comm, session->as_rank, pass->share.owned_bytes,
                       &pass->place))
        sw_fail(session, "calloc", "out of memory");
    sw_place_path(pass->options, &pass->place, pass->path);
    session->file_step_bytes = pass->place.step_bytes;
    session->file_before = pass->place.before;
}

static void allocate(struct pass *pass)
{
    int64_t bytes = pass->share.memory_bytes;
    if (pass->session.failure->failed)
        return;
    pass->buffer = malloc((size_t)bytes + sizeof(int64_t)); /* a rank may own nothing */
    pass->seconds = calloc((size_t)pass->options->steps * SW_PHASE_COUNT, sizeof(double));
    if (pass->buffer == NULL || pass->seconds == NULL)
        sw_fail(&pass->session, "malloc",
                "out of memory for %lld bytes; give a smaller --size, --local or --halo",
                (long long)bytes);
    else
        sw_data_clear(&pass->share, pass->buffer);
}

enum pass_kind { PASS_WRITE, PASS_READ, PASS_VERIFY };

static bool run_pass(const struct sw_options *options, MPI_Comm comm, enum pass_kind kind,
                     struct sw_result *result, struct sw_failure *failure,
                     struct sw_mismatch *mismatch)
{
    int rank = 0;
    int64_t shift = kind == PASS_WRITE ? 0 : options->read_shift;
    MPI_Comm_rank(comm, &rank);
    if (kind == PASS_VERIFY && shift == 0)
        shift = 1; /* what another rank wrote: also shows that it arrived in the file */
    int as_rank = (int)((rank + shift) % result->n_ranks);
    struct pass pass = {
        .options = options,
        .session = {.options = options,
                    .comm = comm,
                    .rank = rank,
                    .as_rank = as_rank,
                    .writing = kind == PASS_WRITE,
                    .failure = failure,
                    .reported = result->reported,
                    .reported_bytes = sizeof result->reported},
        .check = options->verify && kind != PASS_WRITE,
        .mismatch = mismatch,
    };
    pass.session.share = &pass.share;
    pass.session.path = pass.path;
    prepare_share(&pass, result->n_ranks);
    allocate(&pass);
    bool good = sw_agree(comm, failure); /* only then is anything removed */
    if (good && kind == PASS_WRITE) {
        result->written = true;
        sw_files_remove(&pass.session, pass.place.first);
        good = sw_agree(comm, failure);
    }
    for (int64_t step = 0; step < options->steps && good; step++)
        good = run_step(&pass, step);
    if (good && kind != PASS_VERIFY &&
        !sw_statistics_add(result, comm, kind == PASS_WRITE, options->steps, pass.seconds)) {
        sw_fail(&pass.session, "malloc", "out of memory for the statistics");
        good = false;
    }
    result->abandoned = pass.abandoned;
    sw_share_free(&pass.share);
    free(pass.buffer);
    free(pass.seconds);
    return good;
}

static bool run_passes(const struct sw_options *options, MPI_Comm comm, struct sw_result *result,
                       struct sw_failure *failure, struct sw_mismatch *mismatch)
{
    bool again = options->verify && !options->read;
    sw_namelist_use(options, comm, failure, &result->namelist);
    if (!sw_agree(comm, failure))
        return false;
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
    struct sw_place place;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct sw_session session = {
        .options = options, .comm = comm, .rank = rank, .path = path, .failure = failure};
    if (options->keep || result->verdict == SW_VERDICT_WRONG)
        return;
    sw_namelist_remove(options, comm, failure);
    if (!result->written || !sw_place_find(options, comm, rank, 0, &place))
        return;
    sw_place_path(options, &place, path);
    sw_files_remove(&session, place.first);
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
    sw_share_make(options, -1, result->n_ranks, &result->share, trouble, sizeof trouble);
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
