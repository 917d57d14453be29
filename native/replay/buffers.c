/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written, and the destination of reads. A program has its arrays at different addresses,
 * which have left the caches when it writes them; so calls cycle through memory that exceeds the
 * caches. Datasets and variables of one name, such as those of each time step, share one place.
 */
#include "replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROOM ((size_t)64 << 20) /* unless one call needs more */
#define LINE ((size_t)64)

static size_t in_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Makes noise, so that nothing below can save work for zeros; it also touches the pages. */
static char *make_noise(size_t bytes, int rank)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(rank + 1);
    char *noise = sw_replay_memory(bytes);
    for (size_t i = 0; i < bytes / 8; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((uint64_t *)(void *)noise)[i] = state;
    }
    return noise;
}

static char *place(struct sw_replay_run *run, struct sw_replay_buffer *buffer, size_t need)
{
    if (buffer->at + need > buffer->room)
        buffer->at = 0;
    if (need > buffer->room) {
        /* The old one is kept: nonblocking calls may still use it. */
        buffer->room = in_lines(need);
        buffer->all = make_noise(buffer->room, run->rank);
    }
    return buffer->all + buffer->at;
}

/* Gets the first byte and the end of a layout's data, which may differ from its bounds. */
static void reach_of(const struct sw_replay_view *view, int64_t *first, int64_t *end)
{
    *first = 0;
    *end = 0;
    for (int64_t p = 0; p < view->n_pieces; p++) {
        const struct sw_replay_piece *piece = &view->pieces[p];
        int64_t row = piece->inner[0] > 0 ? piece->inner[0] : piece->count;
        int64_t rows = (piece->count + row - 1) / row;
        int64_t plane = piece->inner[1] > 0 ? piece->inner[1] : rows;
        const int64_t steps[] = {row - 1, plane - 1, (rows + plane - 1) / plane - 1};
        int64_t low = piece->offset;
        int64_t high = piece->offset + piece->bytes;
        for (int level = 0; level < 3; level++) {
            int64_t way = steps[level] * piece->stride[level];
            low += way < 0 ? way : 0;
            high += way > 0 ? way : 0;
        }
        *first = low < *first ? low : *first;
        *end = high > *end ? high : *end;
    }
}

const struct sw_replay_view *sw_replay_layout(const struct sw_replay_plan *plan,
                                              const struct sw_replay_call *call)
{
    const char *verb = plan->verbs[call->verb]->name;
    if (strncmp(verb, "mpiio.", 6) != 0 || call->bytes <= 0 || call->detail < 0 ||
        call->detail >= plan->n_views)
        return NULL;
    const struct sw_replay_view *view = &plan->views[call->detail];
    int64_t first, end;
    reach_of(view, &first, &end);
    bool whole = view->filetype_bytes > 0 && first >= 0 && view->extent > 0 &&
                 call->bytes % view->filetype_bytes == 0 &&
                 call->bytes / view->filetype_bytes <= INT_MAX;
    return whole ? view : NULL;
}

/* Returns the bytes that a call needs, including holes. */
static size_t need_of(const struct sw_replay_plan *plan, const struct sw_replay_call *call)
{
    size_t bytes = (size_t)call->bytes;
    if (call->file < 0)
        return 0; /* a signal */
    const struct sw_replay_view *layout = sw_replay_layout(plan, call);
    if (layout != NULL) {
        int64_t first, end;
        reach_of(layout, &first, &end);
        return (size_t)((call->bytes / layout->filetype_bytes - 1) * layout->extent + end);
    }
    if (call->object < 0 || call->detail < 0 || call->detail >= plan->n_shapes)
        return bytes;
    const struct sw_replay_shape *shape = &plan->shapes[call->detail];
    if (shape->memory < 0)
        return bytes;
    const struct sw_replay_shape *memory = &plan->shapes[shape->memory];
    size_t holed = (size_t)plan->objects[call->object].element_bytes;
    for (int d = 0; d < memory->n_dims; d++)
        holed *= (size_t)(memory->extents[d] > 0 ? memory->extents[d] : 1);
    return holed > bytes ? holed : bytes;
}

void sw_replay_room(struct sw_replay_run *run, size_t bytes)
{
    run->noise = place(run, &run->buffers[SW_NOISE], bytes);
    run->sink = place(run, &run->buffers[SW_SINK], bytes);
}

/* Returns a hash of the last part of a name; 0 for none. */
static uint64_t name_of(const struct sw_replay_object *object)
{
    const char *slash = strrchr(object->name, '/');
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = slash != NULL ? slash + 1 : object->name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash | 1;
}

void sw_replay_take(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    enum sw_replay_phase phase = now->verb->phase;
    if (phase != SW_PHASE_READ && phase != SW_PHASE_WRITE)
        return;
    struct sw_replay_buffer *buffer = &run->buffers[phase == SW_PHASE_READ ? SW_SINK : SW_NOISE];
    size_t need = need_of(run->plan, now->call);
    if (need == 0)
        return;
    uint64_t name = now->object != NULL ? name_of(now->object) : 0;
    struct sw_replay_slot *slot = &buffer->slots[name % SW_SLOTS];
    bool known = name != 0 && slot->name == name;
    buffer->at = known ? slot->at : buffer->next;
    char *taken = place(run, buffer, need);
    if (!known) {
        *slot = (struct sw_replay_slot){.name = name, .at = buffer->at};
        buffer->next = buffer->at + in_lines(need);
    }
    if (phase == SW_PHASE_READ)
        run->sink = taken;
    else
        run->noise = taken;
}

void sw_replay_make_buffers(struct sw_replay_run *run)
{
    size_t most[2] = {LINE, LINE};
    size_t sum[2] = {0, 0};
    for (int64_t i = 0; i < run->plan->n_calls; i++) {
        const struct sw_replay_call *call = &run->plan->calls[i];
        enum sw_replay_phase phase = run->plan->verbs[call->verb]->phase;
        size_t need = in_lines(need_of(run->plan, call));
        for (int b = 0; b < 2; b++) {
            bool moves = phase == (b == SW_SINK ? SW_PHASE_READ : SW_PHASE_WRITE);
            most[b] = need > most[b] ? need : most[b];
            if (moves && sum[b] < MOST_ROOM)
                sum[b] += (size_t)call->count > MOST_ROOM / (need + 1)
                              ? MOST_ROOM
                              : need * (size_t)call->count;
        }
    }
    for (int b = 0; b < 2; b++) {
        size_t turns = sum[b] < MOST_ROOM ? sum[b] : MOST_ROOM;
        place(run, &run->buffers[b], turns > most[b] ? turns : most[b]);
    }
    sw_replay_room(run, LINE);
}

void sw_replay_free_buffers(struct sw_replay_run *run)
{
    for (int b = 0; b < 2; b++)
        free(run->buffers[b].all);
}
