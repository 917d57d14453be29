/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Computes figures of the run from those of each rank, on rank 0. */
#include "kernel.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sw_phase_names[SW_PHASE_COUNT] = {
    [SW_PHASE_OPEN] = "open",
    [SW_PHASE_TRANSFER] = "transfer",
    [SW_PHASE_SYNC] = "sync",
    [SW_PHASE_CLOSE] = "close",
};

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static struct sw_spread spread_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return (struct sw_spread){
        .min = values[0],
        .median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0,
        .max = values[n - 1],
    };
}

static double sum_of(const double *seconds, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += seconds[i];
    return sum;
}

/* Computes one step from `gathered`, SW_PHASE_COUNT seconds per rank; `scratch` has one number per
 * rank. */
static void reduce_step(struct sw_step_result *step, int n_ranks, const double *gathered,
                        double *scratch)
{
    for (int p = 0; p < SW_PHASE_COUNT; p++) {
        for (int r = 0; r < n_ranks; r++)
            scratch[r] = gathered[r * SW_PHASE_COUNT + p];
        step->phase[p] = spread_of(scratch, n_ranks);
    }
    step->seconds = 0.0;
    for (int r = 0; r < n_ranks; r++) {
        double sum = sum_of(gathered + r * SW_PHASE_COUNT, SW_PHASE_COUNT);
        step->seconds = sum > step->seconds ? sum : step->seconds;
    }
}

/* Allocates room on rank 0; all ranks agree. */
static bool make_room(struct sw_result *result, MPI_Comm comm, int rank, int64_t n_rows,
                      double **gathered)
{
    int good = 1;
    if (rank == 0) {
        size_t rows = (size_t)(result->n_steps + n_rows);
        struct sw_step_result *steps = realloc(result->steps, rows * sizeof *steps);
        if (steps != NULL)
            result->steps = steps;
        *gathered = malloc((size_t)result->n_ranks * (SW_PHASE_COUNT + 1) * sizeof **gathered);
        good = steps != NULL && *gathered != NULL;
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, comm);
    return good != 0;
}

bool sw_statistics_add(struct sw_result *result, MPI_Comm comm, bool writing, int64_t n_rows,
                       const double *seconds, int64_t last_bytes)
{
    double *gathered = NULL;
    double own = sum_of(seconds, n_rows * SW_PHASE_COUNT);
    double unsynced = own;
    for (int64_t row = 0; row < n_rows; row++)
        unsynced -= seconds[row * SW_PHASE_COUNT + SW_PHASE_SYNC];
    int rank = sw_rank_in(comm);
    if (!make_room(result, comm, rank, n_rows, &gathered)) {
        free(gathered);
        return false;
    }
    MPI_Reduce(&own, &result->io_seconds[writing], 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(&unsynced, &result->unsynced_seconds[writing], 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    for (int64_t row = 0; row < n_rows; row++) {
        MPI_Gather(seconds + row * SW_PHASE_COUNT, SW_PHASE_COUNT, MPI_DOUBLE, gathered,
                   SW_PHASE_COUNT, MPI_DOUBLE, 0, comm);
        if (rank != 0)
            continue;
        struct sw_step_result *step = &result->steps[result->n_steps++];
        *step = (struct sw_step_result){
            .writing = writing,
            .step = row,
            .bytes = row < n_rows - 1 ? result->share.step_bytes : last_bytes,
        };
        reduce_step(step, result->n_ranks, gathered,
                    gathered + (size_t)result->n_ranks * SW_PHASE_COUNT);
    }
    free(gathered);
    return true;
}

bool sw_statistics_spread(MPI_Comm comm, double seconds, struct sw_spread *spread)
{
    int rank = sw_rank_in(comm);
    int n_ranks = sw_size_of(comm);
    double *all = rank == 0 ? malloc((size_t)n_ranks * sizeof *all) : NULL;
    int good = rank != 0 || all != NULL;
    MPI_Bcast(&good, 1, MPI_INT, 0, comm);
    if (!good)
        return false;
    MPI_Gather(&seconds, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, comm);
    if (rank == 0)
        *spread = spread_of(all, n_ranks);
    free(all);
    return true;
}

/* "rank 3: pwrite(out.dat): No space left on device" */
static void tell(void *data, int rank, const void *record)
{
    struct sw_result *result = data;
    const struct sw_failure *failure = record;
    size_t room = sizeof result->failures / sizeof result->failures[0];
    result->n_failures++;
    if ((size_t)result->n_failures_told >= room)
        return;
    snprintf(result->failures[result->n_failures_told++], sizeof result->failures[0],
             "rank %d: %s(%.300s): %s", rank, failure->call, failure->file, failure->text);
}

void sw_statistics_failures(struct sw_result *result, MPI_Comm comm,
                            const struct sw_failure *failure)
{
    sw_failures_gather(comm, failure, failure->failed, sizeof *failure, tell, result);
}

/* Compares in the order of the file: step, variable, element. */
static bool before(const struct sw_mismatch *a, const struct sw_mismatch *b)
{
    if (a->step != b->step)
        return a->step < b->step;
    if (a->variable != b->variable)
        return a->variable < b->variable;
    return a->index < b->index;
}

void sw_statistics_mismatch(struct sw_result *result, MPI_Comm comm,
                            const struct sw_mismatch *mismatch)
{
    int64_t wrong = 0;
    struct sw_mismatch own = *mismatch;
    int rank = sw_rank_in(comm);
    own.rank = rank;
    MPI_Allreduce(&own.wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, comm);
    result->verdict = wrong == 0 ? SW_VERDICT_RIGHT : SW_VERDICT_WRONG;
    if (wrong == 0)
        return;
    int any = own.wrong > 0;
    int from = rank;
    if (rank != 0) {
        MPI_Send(&any, 1, MPI_INT, 0, 2, comm);
        if (any)
            MPI_Send(&own, (int)sizeof own, MPI_BYTE, 0, 3, comm);
        return;
    }
    result->mismatch = own;
    for (from = 1; from < result->n_ranks; from++) {
        struct sw_mismatch other;
        int wrong_there = 0;
        MPI_Recv(&wrong_there, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
        if (!wrong_there)
            continue;
        MPI_Recv(&other, (int)sizeof other, MPI_BYTE, from, 3, comm, MPI_STATUS_IGNORE);
        if (!any || before(&other, &result->mismatch))
            result->mismatch = other;
        any = 1;
    }
    result->mismatch.wrong = wrong;
}

int64_t sw_statistics_bytes(const struct sw_result *result, bool writing)
{
    int64_t bytes = 0;
    for (int64_t s = 0; s < result->n_steps; s++)
        if (result->steps[s].writing == writing)
            bytes += result->steps[s].bytes;
    return bytes;
}

void sw_mismatch_text(const struct sw_result *result, char *text, size_t bytes)
{
    const struct sw_mismatch *m = &result->mismatch;
    const struct sw_variable *variable = &result->share.variables[m->variable];
    const struct sw_domain *shape = variable->domain;
    const char *name = variable->name;
    char place[128] = "";
    int64_t divisor = shape->elements;
    int64_t rest = m->index;
    for (int d = 0; d < shape->n_dims && m->index >= 0; d++) {
        size_t used = strlen(place);
        divisor /= shape->extent[d];
        snprintf(place + used, sizeof place - used, "%s%lld", d > 0 ? ", " : "",
                 (long long)(rest / divisor));
        rest %= divisor;
    }
    if (m->index < 0)
        snprintf(text, bytes,
                 "step %lld, variable %s: the read changed memory outside of its "
                 "boxes on rank %lld; %lld wrong",
                 (long long)m->step, name, (long long)m->rank, (long long)m->wrong);
    else
        snprintf(text, bytes,
                 "step %lld, variable %s, element (%s): expected %s, found %s (rank %lld); "
                 "%lld wrong",
                 (long long)m->step, name, place, m->expected, m->found, (long long)m->rank,
                 (long long)m->wrong);
}
