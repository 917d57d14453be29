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
    bool timed;
    struct sw_meeting *meeting;
    enum sw_meet meet; /* where applications meet before the first step */
    struct sw_wall wall;
    int64_t n_steps; /* to do */
    int64_t n_done;
    double begun; /* MPI_Wtime of the first step, after all ranks have arrived */
    double ended;
    bool over; /* the time was over in this step, or before */
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

/* After a failure: returns true if the file must be left as it is. */
static bool abandon(struct pass *pass)
{
    pass->abandoned = pass->session.writing && !pass->options->backend->closes_after_failure;
    return pass->abandoned;
}

/* After an open that failed on some ranks: the file is closed if all ranks have it. A shared file
 * that only some have cannot be closed, since that is collective. */
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

/* Returns false if it is not open anywhere any more, or was abandoned. */
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
    if (backend->prepare != NULL)
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
    double start = MPI_Wtime();
    pass->options->backend->move(session, step, pass->buffer);
    seconds[SW_PHASE_TRANSFER] += MPI_Wtime() - start - pass->wall.waited;
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

/* Restarts the count of what is moved in this step. */
static void begin_count(struct pass *pass)
{
    pass->wall.bytes = 0;
    pass->wall.waited = 0.0;
    for (int v = 0; pass->wall.moved != NULL && v < pass->share.n_variables; v++)
        pass->wall.moved[v] = 0;
}

static bool run_step(struct pass *pass, int64_t step)
{
    const struct sw_options *options = pass->options;
    double *seconds = pass->seconds + step * SW_PHASE_COUNT;
    if (step > 0 && options->compute_seconds > 0.0)
        compute(options);
    if (pass->session.writing)
        sw_data_fill(options, &pass->share, step, pass->buffer);
    else if (pass->check)
        sw_data_clear(&pass->share, pass->buffer);
    begin_count(pass);
    if (step == 0)
        sw_meeting_at(pass->meeting, pass->meet);
    MPI_Barrier(pass->session.comm);
    if (step == 0)
        pass->begun = MPI_Wtime();
    if (options->transfer_bytes == 0)
        pass->wall.start = pass->begun;
    if (!phase_open(pass, step, seconds))
        return false;
    bool good = phase_transfer(pass, step, seconds);
    if (good && pass->session.writing && options->fsync)
        good = phase_sync(pass, seconds);
    pass->over = good && sw_wall_step(&pass->session, step);
    bool last = pass->over || step == pass->n_steps - 1;
    if (!good && abandon(pass))
        return false;
    if (!good || last || !options->open_once)
        good = phase_close(pass, seconds) && good;
    if (!good)
        abandon(pass);
    if (good && pass->check)
        sw_data_check(options, &pass->share, step, pass->buffer, pass->wall.moved, pass->mismatch);
    return good;
}

/* ---- one pass ----------------------------------------------------------------------------- */

/* Prepares the rank's share, its memory, and its place in the files. */
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
    pass->buffer = sw_memory(bytes + (int64_t)sizeof(int64_t)); /* a rank may own nothing */
    pass->seconds = calloc((size_t)pass->options->steps * SW_PHASE_COUNT, sizeof(double));
    bool counts = pass->session.wall != NULL && pass->options->transfer_bytes > 0;
    if (counts)
        pass->wall.moved = calloc((size_t)pass->share.n_variables, sizeof(int64_t));
    if (pass->buffer == NULL || pass->seconds == NULL || (counts && pass->wall.moved == NULL))
        sw_fail(&pass->session, "malloc",
                "out of memory for %lld bytes; give a smaller --size, --local or --halo",
                (long long)bytes);
    else
        sw_data_clear(&pass->share, pass->buffer);
}

/* ---- results of the writing pass with a time limit -------------------------------------------
 * */

/* With --stonewall: counts, and reads no more than was written. */
static void use_wall(struct pass *pass, const struct sw_result *result)
{
    const struct sw_options *options = pass->options;
    pass->n_steps = options->steps;
    pass->wall.budget = INT64_MAX;
    if (options->stonewall_seconds <= 0.0)
        return;
    pass->session.wall = &pass->wall;
    pass->wall.seconds = pass->timed ? options->stonewall_seconds : 0.0;
    if (pass->session.writing || result->written == NULL)
        return;
    pass->n_steps = result->written_steps;
    if (options->transfer_bytes > 0)
        pass->wall.budget = result->written[pass->session.as_rank];
}

/* Called after the writing pass, on all ranks. */
static bool keep_wall(struct pass *pass, struct sw_result *result)
{
    struct sw_session *session = &pass->session;
    result->written = calloc((size_t)result->n_ranks, sizeof *result->written);
    if (result->written == NULL)
        sw_fail(session, "calloc", "out of memory");
    if (!sw_agree(session->comm, session->failure))
        return false;
    result->written_steps = pass->n_done;
    MPI_Allgather(&pass->wall.count, 1, MPI_INT64_T, result->written, 1, MPI_INT64_T,
                  session->comm);
    return true;
}

/* ---- one pass ------------------------------------------------------------------------------- */

enum pass_kind { PASS_WRITE, PASS_READ, PASS_VERIFY };

static void drop_caches(struct pass *pass, struct sw_result *result)
{
    char own[SW_PATH_BYTES];
    struct sw_place place;
    struct sw_session *session = &pass->session;
    if (!sw_place_find(pass->options, session->comm, session->rank, 0, &place))
        sw_fail(session, "calloc", "out of memory");
    sw_place_path(pass->options, &place, own);
    result->counted_caches = true;
    result->cached_bytes = sw_cache_drop(session, own);
}

/* Before the first step: removes old files and drops caches. All ranks agree. */
static bool begin(struct pass *pass, struct sw_result *result)
{
    struct sw_session *session = &pass->session;
    if (!sw_agree(session->comm, session->failure)) /* only then is anything removed */
        return false;
    if (session->writing) {
        result->overwrote = true;
        sw_files_remove(session, pass->place.first);
    } else if (pass->timed && pass->options->drop_caches) {
        drop_caches(pass, result);
    }
    return sw_agree(session->comm, session->failure);
}

/* Adds the figures of a timed pass. */
static bool add_figures(struct pass *pass, struct sw_result *result)
{
    struct sw_session *session = &pass->session;
    const bool writing = session->writing;
    int64_t last_bytes = pass->share.owned_bytes;
    if (pass->wall.moved != NULL)
        last_bytes = pass->wall.bytes;
    MPI_Allreduce(MPI_IN_PLACE, &last_bytes, 1, MPI_INT64_T, MPI_SUM, session->comm);
    double seconds = pass->ended - pass->begun;
    MPI_Reduce(&seconds, &result->pass_seconds[writing], 1, MPI_DOUBLE, MPI_MAX, 0, session->comm);
    if (session->wall != NULL)
        sw_wall_reduce(session, &result->wall[writing]);
    if (!sw_statistics_add(result, session->comm, writing, pass->n_done, pass->seconds,
                           last_bytes)) {
        sw_fail(session, "malloc", "out of memory for the statistics");
        return false;
    }
    return !writing || session->wall == NULL || keep_wall(pass, result);
}

static bool run_steps(struct pass *pass, struct sw_result *result)
{
    bool good = true;
    for (int64_t step = 0; step < pass->n_steps && good && !pass->over; step++) {
        good = run_step(pass, step);
        pass->n_done += good;
    }
    const double zero = pass->meeting != NULL ? pass->meeting->start : 0.0;
    pass->ended = MPI_Wtime();
    if (pass->timed) {
        result->span[pass->session.writing][0] = pass->begun - zero;
        result->span[pass->session.writing][1] = pass->ended - zero;
    }
    return good;
}

/* Returns the rank whose data a rank moves. */
static int rank_of_data(const struct sw_options *options, enum pass_kind kind, int rank,
                        int n_ranks)
{
    int64_t shift = kind == PASS_WRITE ? 0 : options->read_shift;
    if (kind == PASS_VERIFY && shift == 0)
        shift = 1; /* reading what another rank wrote also shows that it is in the file */
    return (int)((rank + shift) % n_ranks);
}

static bool run_pass(const struct sw_options *options, MPI_Comm comm, enum pass_kind kind,
                     struct sw_meeting *meeting, struct sw_result *result,
                     struct sw_failure *failure, struct sw_mismatch *mismatch)
{
    int rank = sw_rank_in(comm);
    struct pass pass = {
        .options = options,
        .session = {.options = options,
                    .comm = comm,
                    .rank = rank,
                    .as_rank = rank_of_data(options, kind, rank, result->n_ranks),
                    .writing = kind == PASS_WRITE,
                    .failure = failure,
                    .reported = result->reported,
                    .reported_bytes = sizeof result->reported},
        .check = options->verify && kind != PASS_WRITE,
        .mismatch = mismatch,
        .timed = kind != PASS_VERIFY,
        .meeting = meeting,
        .meet = kind == PASS_VERIFY                   ? SW_MEET_END
                : kind == PASS_READ && options->write ? SW_MEET_SECOND
                                                      : SW_MEET_FIRST,
    };
    pass.session.share = &pass.share;
    pass.session.path = pass.path;
    use_wall(&pass, result);
    prepare_share(&pass, result->n_ranks);
    allocate(&pass);
    bool good = begin(&pass, result) && run_steps(&pass, result) &&
                (!pass.timed || add_figures(&pass, result));
    result->abandoned = pass.abandoned;
    sw_share_free(&pass.share);
    free(pass.buffer);
    free(pass.seconds);
    free(pass.wall.moved);
    return good;
}

static bool run_passes(const struct sw_options *options, MPI_Comm comm, struct sw_meeting *meeting,
                       struct sw_result *result, struct sw_failure *failure,
                       struct sw_mismatch *mismatch)
{
    bool again = options->verify && !options->read;
    sw_namelist_use(options, comm, failure, &result->namelist);
    if (!sw_agree(comm, failure))
        return false;
    if (options->write && !run_pass(options, comm, PASS_WRITE, meeting, result, failure, mismatch))
        return false;
    if (options->read && !run_pass(options, comm, PASS_READ, meeting, result, failure, mismatch))
        return false;
    return !again || run_pass(options, comm, PASS_VERIFY, meeting, result, failure, mismatch);
}

/* Wrong files are kept as evidence. */
static void clean_up(const struct sw_options *options, MPI_Comm comm, struct sw_failure *failure,
                     const struct sw_result *result)
{
    char path[SW_PATH_BYTES];
    struct sw_place place;
    int rank = sw_rank_in(comm);
    struct sw_session session = {
        .options = options, .comm = comm, .rank = rank, .path = path, .failure = failure};
    if (options->keep || result->verdict == SW_VERDICT_WRONG)
        return;
    sw_namelist_remove(options, comm, failure);
    if (!result->overwrote || !sw_place_find(options, comm, rank, 0, &place))
        return;
    sw_place_path(options, &place, path);
    sw_files_remove(&session, place.first);
}

int sw_run(const struct sw_options *options, MPI_Comm comm, struct sw_meeting *meeting,
           struct sw_result *result)
{
    char trouble[512];
    struct timespec now = {0};
    struct sw_mismatch mismatch = {0};
    struct sw_failure *failure = calloc(1, sizeof *failure);
    if (failure == NULL)
        MPI_Abort(comm,
                  SW_EXIT_FAILED); /* no room for a kilobyte: the ranks cannot agree any more */
    *result = (struct sw_result){.meeting = meeting};
    clock_gettime(CLOCK_REALTIME, &now);
    result->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    gethostname(result->host, sizeof result->host - 1);
    MPI_Comm_size(comm, &result->n_ranks);
    sw_share_make(options, -1, result->n_ranks, &result->share, trouble, sizeof trouble);
    double start = MPI_Wtime();
    bool done = run_passes(options, comm, meeting, result, failure, &mismatch);
    if (done && options->verify)
        sw_statistics_mismatch(result, comm, &mismatch);
    sw_meeting_at(meeting, SW_MEET_END); /* what follows disturbs nobody */
    clean_up(options, comm, failure, result);
    result->elapsed_seconds = MPI_Wtime() - start;
    bool good = sw_agree(comm, failure);
    if (!good)
        sw_statistics_failures(result, comm, failure);
    free(failure);
    return good && result->verdict != SW_VERDICT_WRONG ? SW_EXIT_OK : SW_EXIT_FAILED;
}

void sw_result_free(struct sw_result *result)
{
    free(result->steps);
    free(result->written);
    sw_share_free(&result->share);
}
