/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wall.h"

#include "kernel.h"

static bool collective(const struct sw_session *session)
{
    return session->options->mode == SW_MODE_COLLECTIVE;
}

static void stop(struct sw_wall *wall, double now)
{
    wall->stopped = true;
    wall->stop_seconds = now - wall->start;
    wall->stop_count = wall->count;
    wall->stop_bytes = wall->all_bytes;
}

/* Called once per section and rank: when it is stopped, or at the section's end. Returns when it
 * began. */
static double agree(struct sw_session *session)
{
    struct sw_wall *wall = session->wall;
    int64_t both[2] = {wall->stopped, wall->section};
    double before = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MAX, session->comm);
    wall->waited += MPI_Wtime() - before;
    wall->hit = both[0] != 0;
    wall->limit = both[1];
    return before;
}

/* Returns whether the time is over for this rank; every rank makes at least one transfer. */
static bool time_is_up(struct sw_session *session, double *now)
{
    const struct sw_wall *wall = session->wall;
    *now = MPI_Wtime();
    int up = wall->count > 0 && *now - wall->start >= wall->seconds;
    if (collective(session)) /* all ranks or none */
        MPI_Bcast(&up, 1, MPI_INT, 0, session->comm);
    return up != 0;
}

bool sw_wall_next(struct sw_session *session)
{
    struct sw_wall *wall = session->wall;
    double now = 0.0;
    if (wall == NULL)
        return true;
    if (wall->count >= wall->budget)
        return false;
    if (wall->hit)
        return !collective(session) && wall->section < wall->limit;
    if (wall->seconds <= 0.0)
        return true;
    if (wall->start == 0.0)
        wall->start = MPI_Wtime();
    if (!time_is_up(session, &now))
        return true;
    stop(wall, now);
    if (collective(session)) {
        wall->hit = true;
        return false;
    }
    agree(session);
    return wall->section < wall->limit;
}

void sw_wall_moved(struct sw_session *session, int variable, int64_t elements)
{
    struct sw_wall *wall = session->wall;
    if (wall == NULL)
        return;
    wall->count++;
    wall->section++;
    wall->bytes += elements * session->share->element_bytes;
    wall->all_bytes += elements * session->share->element_bytes;
    if (wall->moved != NULL)
        wall->moved[variable] += elements;
}

void sw_wall_section(struct sw_session *session)
{
    struct sw_wall *wall = session->wall;
    if (wall == NULL)
        return;
    if (wall->seconds > 0.0 && !wall->hit && !collective(session)) {
        double end = agree(session);
        if (wall->hit) /* stopped by others, at its own end */
            stop(wall, end);
    }
    if (wall->start > 0.0)
        wall->whole_seconds = MPI_Wtime() - wall->start;
    wall->section = 0;
    wall->limit = 0; /* no transfers in later sections */
}

bool sw_wall_step(struct sw_session *session, int64_t step)
{
    struct sw_wall *wall = session->wall;
    if (wall == NULL || wall->seconds <= 0.0)
        return false;
    if (session->options->transfer_bytes > 0)
        return wall->hit;
    wall->count = step + 1;
    wall->bytes = session->share->owned_bytes;
    wall->all_bytes += wall->bytes;
    wall->whole_seconds = MPI_Wtime() - wall->start;
    int up = wall->whole_seconds >= wall->seconds && step + 1 < session->options->steps;
    MPI_Bcast(&up, 1, MPI_INT, 0, session->comm); /* ranks are in the same step: rank 0 decides */
    wall->hit = up != 0;
    if (wall->hit)
        stop(wall, wall->start + wall->whole_seconds);
    return wall->hit;
}

void sw_wall_reduce(const struct sw_session *session, struct sw_wall_result *result)
{
    struct sw_wall own = *session->wall;
    if (!own.stopped) { /* everything was moved before the time was over */
        own.stop_seconds = own.whole_seconds;
        own.stop_count = own.count;
        own.stop_bytes = own.all_bytes;
    }
    *result = (struct sw_wall_result){
        .used = true,
        .hit = own.hit,
        .steps = session->options->transfer_bytes == 0,
    };
    MPI_Reduce(&own.stop_count, &result->most, 1, MPI_INT64_T, MPI_MAX, 0, session->comm);
    MPI_Reduce(&own.stop_count, &result->least, 1, MPI_INT64_T, MPI_MIN, 0, session->comm);
    MPI_Reduce(&own.stop_bytes, &result->bytes, 1, MPI_INT64_T, MPI_SUM, 0, session->comm);
    MPI_Reduce(&own.stop_seconds, &result->seconds, 1, MPI_DOUBLE, MPI_MAX, 0, session->comm);
    MPI_Reduce(&own.whole_seconds, &result->whole_seconds, 1, MPI_DOUBLE, MPI_MAX, 0,
               session->comm);
}
