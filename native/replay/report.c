/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Times of a replay over all ranks: the longest and the sum. */
#include "replay.h"

#include "../kernels/json.h"

#include <string.h>

#define MEBIBYTE 1048576.0

struct totals {
    double longest[SW_PHASES];
    double sum[SW_PHASES];
    int64_t calls[SW_PHASES];
    int64_t bytes[2]; /* read, written */
    int64_t failures;
    double io_seconds; /* of the rank with most time in calls */
    char first_failure[256];
};

static void gather(const struct sw_replay_run *run, struct totals *totals)
{
    double io_seconds = 0.0;
    int64_t bytes[2] = {run->read_bytes, run->write_bytes};
    int none = run->failures == 0;
    int first[2] = {none, run->rank};
    MPI_Comm world = run->signals;
    for (int phase = 0; phase < SW_PHASE_COUNT; phase++)
        io_seconds += run->seconds[phase];
    MPI_Allreduce(run->seconds, totals->longest, SW_PHASES, MPI_DOUBLE, MPI_MAX, world);
    MPI_Allreduce(run->seconds, totals->sum, SW_PHASES, MPI_DOUBLE, MPI_SUM, world);
    MPI_Allreduce(run->calls, totals->calls, SW_PHASES, MPI_INT64_T, MPI_SUM, world);
    MPI_Allreduce(bytes, totals->bytes, 2, MPI_INT64_T, MPI_SUM, world);
    MPI_Allreduce(&run->failures, &totals->failures, 1, MPI_INT64_T, MPI_SUM, world);
    MPI_Allreduce(&io_seconds, &totals->io_seconds, 1, MPI_DOUBLE, MPI_MAX, world);
    MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_2INT, MPI_MINLOC, world);
    memcpy(totals->first_failure, run->first_failure, sizeof totals->first_failure);
    MPI_Bcast(totals->first_failure, sizeof totals->first_failure, MPI_CHAR, first[1], world);
}

static double rate(const struct totals *totals, double seconds)
{
    double bytes = (double)(totals->bytes[0] + totals->bytes[1]);
    return seconds > 0.0 ? bytes / seconds : 0.0;
}

static void put_phases(struct sw_json *json, const struct totals *totals)
{
    sw_json_begin(json, "phases", '{');
    for (int phase = 0; phase < SW_PHASES; phase++) {
        sw_json_begin(json, sw_replay_phases[phase], '{');
        sw_json_integer(json, "calls", totals->calls[phase]);
        sw_json_number(json, "seconds", totals->longest[phase]);
        sw_json_number(json, "rank_seconds", totals->sum[phase]);
        sw_json_end(json, '}');
    }
    sw_json_end(json, '}');
}

static void put_json(const struct sw_replay_run *run, FILE *stream, const struct totals *totals,
                     double elapsed)
{
    struct sw_json json = {.stream = stream, .empty = true};
    sw_json_begin(&json, NULL, '{');
    sw_json_text(&json, "program", SW_REPLAY_PROGRAM);
    sw_json_integer(&json, "n_ranks", run->plan->n_ranks);
    sw_json_integer(&json, "read_bytes", totals->bytes[0]);
    sw_json_integer(&json, "write_bytes", totals->bytes[1]);
    sw_json_integer(&json, "traced_read_bytes", run->plan->read_bytes);
    sw_json_integer(&json, "traced_write_bytes", run->plan->write_bytes);
    sw_json_number(&json, "elapsed_seconds", elapsed);
    sw_json_number(&json, "io_seconds", totals->io_seconds);
    sw_json_number(&json, "bandwidth_bytes_per_second", rate(totals, totals->io_seconds));
    sw_json_number(&json, "compute_factor", run->compute);
    put_phases(&json, totals);
    sw_json_integer(&json, "failures", totals->failures);
    sw_json_text(&json, "first_failure", totals->failures > 0 ? totals->first_failure : NULL);
    sw_json_end(&json, '}');
}

static void put_table(const struct sw_replay_run *run, const struct totals *totals, double elapsed)
{
    printf("replay of %lld ranks: %.3f s, I/O %.3f s, read %.1f MiB, written %.1f MiB, "
           "%.1f MiB/s\n",
           (long long)run->plan->n_ranks, elapsed, totals->io_seconds,
           (double)totals->bytes[0] / MEBIBYTE, (double)totals->bytes[1] / MEBIBYTE,
           rate(totals, totals->io_seconds) / MEBIBYTE);
    printf("  %-8s %10s %12s %14s\n", "phase", "calls", "longest (s)", "all ranks (s)");
    for (int phase = 0; phase < SW_PHASES; phase++)
        if (totals->calls[phase] > 0 || totals->sum[phase] > 0.0)
            printf("  %-8s %10lld %12.4f %14.4f\n", sw_replay_phases[phase],
                   (long long)totals->calls[phase], totals->longest[phase], totals->sum[phase]);
    if (totals->bytes[0] != run->plan->read_bytes || totals->bytes[1] != run->plan->write_bytes)
        printf("  warning: the program read %lld bytes and wrote %lld; the replay %lld and %lld\n",
               (long long)run->plan->read_bytes, (long long)run->plan->write_bytes,
               (long long)totals->bytes[0], (long long)totals->bytes[1]);
    if (totals->failures > 0)
        printf("  %lld calls failed that nothing depends on; the first: %s\n",
               (long long)totals->failures, totals->first_failure);
}

bool sw_replay_report(const struct sw_replay_run *run, FILE *json, double elapsed)
{
    struct totals totals = {0};
    gather(run, &totals);
    if (run->rank != 0)
        return true;
    if (json != NULL)
        put_json(run, json, &totals, elapsed);
    if (json != stdout)
        put_table(run, &totals, elapsed);
    bool good = json == NULL || json == stdout || fclose(json) == 0;
    return fflush(stdout) == 0 && good;
}
