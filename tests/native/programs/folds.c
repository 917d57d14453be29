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

static struct sw_run narrow[SW_TRACER_FIRST_SLOTS];
static struct sw_run wide[SW_TRACER_SLOTS];
static char room[51 * sizeof(struct sw_run)]; /* behind the slots of a narrow block */

bool sw_tracer_map_wide(struct sw_tracer *tracer)
{
    tracer->runs = wide;
    tracer->n_slots = SW_TRACER_SLOTS;
    return true;
}

void sw_log_run(struct sw_tracer *tracer, const struct sw_run *run)
{
    if (sw_tracer_is_narrow(tracer))
        tracer->log += sizeof *run;
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
    struct sw_happened happened = {.key = {.name = 1}};
    FILE *script = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (script == NULL)
        return 1;
    tracer.runs = narrow;
    tracer.n_slots = SW_TRACER_FIRST_SLOTS;
    tracer.log = room;
    tracer.log_end = room + sizeof room;
    while (fscanf(script, "%" SCNu64 " %" SCNd64 " %" SCNu64, &happened.key.bytes,
                  &happened.offset, &happened.sequence) == 3) {
        happened.start_ns = happened.sequence * 10000;
        happened.end_ns = happened.start_ns + (uint64_t)happened.offset % 5000;
        sw_fold(&tracer, &happened);
    }
    sw_fold_close(&tracer);
    for (int slot = 0; slot < SW_TRACER_FIRST_SLOTS; slot++) {
        if (narrow[slot].count != 0) /* left there */
            sw_log_run(&tracer, &narrow[slot]);
    }
    return fclose(script);
}
