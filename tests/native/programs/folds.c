/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the calls "KEY OFFSET SEQUENCE" of a script and prints the runs in the order in which they
 * are logged: "key offset sequence count inner0 inner1 stride0..2 sequence_stride0..2 durations",
 * the last one added up over the histogram.  Each call takes OFFSET modulo 5000 ns.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/fold.c"

void sw_event_fill(struct sw_event *event, const struct sw_tracer *tracer,
                   const struct sw_happened *happened)
{
    event->thread = (uint16_t)tracer->thread;
    event->bytes = happened->key.bytes;
    event->offset = happened->offset;
    event->sequence = happened->sequence;
    event->duration_ns = happened->end_ns - happened->start_ns;
}

void sw_log_run(struct sw_tracer *tracer, const struct sw_run *run)
{
    uint64_t durations = 0;
    for (int i = 0; i < SW_DURATION_BINS; i++)
        durations += run->durations[i];
    printf("%" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
           run->first.bytes, run->first.offset, run->first.sequence, run->count, run->inner[0],
           run->inner[1]);
    for (int i = 0; i < SW_RUN_LEVELS; i++)
        printf(" %" PRId64, run->stride[i]);
    for (int i = 0; i < SW_RUN_LEVELS; i++)
        printf(" %" PRId64, run->sequence_stride[i]);
    printf(" %" PRIu64 " %" PRIu64 "\n", durations, run->first.duration_ns + tracer->thread);
}

int main(int count, char **arguments)
{
    static struct sw_tracer tracer;
    static struct sw_run runs[SW_TRACER_SLOTS];
    struct sw_happened happened = {.key = {.name = 1}};
    FILE *script = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (script == NULL)
        return 1;
    tracer.runs = runs;
    while (fscanf(script, "%" SCNu64 " %" SCNd64 " %" SCNu64, &happened.key.bytes,
                  &happened.offset, &happened.sequence) == 3) {
        happened.start_ns = happened.sequence * 10000;
        happened.end_ns = happened.start_ns + (uint64_t)happened.offset % 5000;
        sw_fold(&tracer, &happened);
    }
    sw_fold_close(&tracer);
    return fclose(script);
}
