/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO calls. Data calls move bytes (MPI_BYTE) from contiguous memory, or the layout of the
 * program's datatype from a buffer with holes; view and offset determine the position in the file,
 * as in the program.
 */
#include "replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REQUESTS 65536

struct open_file {
    MPI_File file;
    int n_requests;
    int oldest; /* of those not waited for */
    MPI_Request *requests;
    int room;
};

static struct open_file *state_of(const struct sw_replay_now *now)
{
    return sw_replay_handle(now, SW_MPIIO)->state;
}

/* ---- open, close ------------------------------------------------------------------------- */

static int amode_of(int64_t bits)
{
    int amode = (bits & SW_OPEN_WRITE) == 0  ? MPI_MODE_RDONLY
                : (bits & SW_OPEN_READ) == 0 ? MPI_MODE_WRONLY
                                             : MPI_MODE_RDWR;
    if ((bits & (SW_OPEN_READ | SW_OPEN_WRITE)) == 0)
        amode = MPI_MODE_RDWR | MPI_MODE_CREATE; /* unknown */
    amode |= (bits & SW_OPEN_CREATE) != 0 ? MPI_MODE_CREATE : 0;
    amode |= (bits & SW_OPEN_APPEND) != 0 ? MPI_MODE_APPEND : 0;
    amode |= (bits & SW_OPEN_EXCLUSIVE) != 0 ? MPI_MODE_EXCL : 0;
    return amode;
}

static void open_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = sw_replay_memory(sizeof *state);
    MPI_Info info = sw_replay_info(now);
    int amode = amode_of(now->offset > 0 ? now->offset : 0);
    sw_replay_check_mpi(
        now, "MPI_File_open",
        MPI_File_open(sw_replay_comm(run, now), now->file->path, amode, info, &state->file));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    sw_replay_push(now, SW_MPIIO, state);
}

static void wait_all(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    if (now->file == NULL || now->file->handle[SW_MPIIO] == NULL)
        return;
    struct open_file *state = state_of(now);
    int count = state->n_requests - state->oldest;
    MPI_Status *statuses = sw_replay_memory((size_t)count * sizeof *statuses);
    sw_replay_check_mpi(now, "MPI_Waitall",
                        MPI_Waitall(count, state->requests + state->oldest, statuses));
    free(statuses);
    state->n_requests = 0;
    state->oldest = 0;
}

static void wait_one(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    if (now->file == NULL || now->file->handle[SW_MPIIO] == NULL)
        return;
    struct open_file *state = state_of(now);
    if (state->oldest == state->n_requests)
        return; /* a test that found nothing completed */
    sw_replay_check_mpi(now, "MPI_Wait",
                        MPI_Wait(&state->requests[state->oldest++], MPI_STATUS_IGNORE));
    if (state->oldest == state->n_requests)
        state->oldest = state->n_requests = 0;
}

static void close_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    wait_all(run, now);
    sw_replay_check_mpi(now, "MPI_File_close", MPI_File_close(&state->file));
    free(state->requests);
    free(state);
    sw_replay_pop(now, SW_MPIIO);
}

static void delete_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    if (MPI_File_delete(now->file->path, MPI_INFO_NULL) != MPI_SUCCESS)
        sw_replay_miss(run, now, "MPI_File_delete", "the file is not there");
}

/* ---- types of views ------------------------------------------------------------------------ */

/* A file view is made from its folded pieces, as vectors of vectors, so that it stays as small as
 * they are. */

/* Makes `bytes` contiguous bytes, of elementary types if they fit. */
static MPI_Datatype row_of(int64_t bytes, MPI_Datatype etype, int64_t etype_bytes)
{
    MPI_Datatype row;
    bool fits = bytes % etype_bytes == 0 && bytes / etype_bytes <= INT_MAX;
    if (fits)
        MPI_Type_contiguous((int)(bytes / etype_bytes), etype, &row);
    else
        MPI_Type_contiguous((int)bytes, MPI_BYTE, &row);
    return row;
}

/* Makes `count` of a type at a distance; frees the type. */
static MPI_Datatype vector_of(MPI_Datatype type, int64_t count, int64_t distance)
{
    MPI_Datatype vector;
    if (count == 1)
        return type;
    MPI_Type_create_hvector((int)count, 1, (MPI_Aint)distance, type, &vector);
    MPI_Type_free(&type);
    return vector;
}

/* Makes the first `count` pieces of an entry, as one type. */
static MPI_Datatype pieces_of(const struct sw_replay_piece *piece, int64_t count,
                              MPI_Datatype etype, int64_t etype_bytes)
{
    int64_t first = piece->inner[0] > 0 && piece->inner[0] < count ? piece->inner[0] : count;
    int64_t turns = count / first;
    int64_t second = piece->inner[1] > 0 && piece->inner[1] < turns ? piece->inner[1] : turns;
    MPI_Datatype type = row_of(piece->bytes, etype, etype_bytes);
    type = vector_of(type, first, piece->stride[0]);
    type = vector_of(type, second, piece->stride[1]);
    return vector_of(type, turns / second, piece->stride[2]);
}

/* Returns how many of `count` pieces are complete cycles of all levels. */
static int64_t whole_turns(const struct sw_replay_piece *piece, int64_t count)
{
    int64_t first = piece->inner[0] > 0 ? piece->inner[0] : count;
    int64_t second = piece->inner[1] > 0 ? piece->inner[1] : 1;
    if (count >= first * second)
        return count / (first * second) * (first * second);
    return count >= first ? count / first * first : count;
}

static int64_t place_of(const struct sw_replay_piece *piece, int64_t k)
{
    int64_t first = piece->inner[0] > 0 ? piece->inner[0] : INT64_MAX;
    int64_t second = piece->inner[1] > 0 ? piece->inner[1] : INT64_MAX;
    int64_t outer = k / first;
    return k % first * piece->stride[0] + outer % second * piece->stride[1] +
           outer / second * piece->stride[2];
}

/* Sets bounds; frees the type, whose pieces are relative to the lower bound. ROMIO (MPICH 4.0,
 * Open MPI 4.1) shifts a type twice if it is resized to begin elsewhere than at 0: this one is
 * resized at 0, and then moved. */
static MPI_Datatype bounded(MPI_Datatype type, int64_t lower, int64_t extent)
{
    const int once = 1;
    const MPI_Aint place = (MPI_Aint)lower;
    MPI_Datatype at_zero;
    MPI_Datatype placed;
    MPI_Type_create_resized(type, 0, (MPI_Aint)extent, &at_zero);
    MPI_Type_free(&type);
    if (lower == 0)
        return at_zero;
    MPI_Type_create_hindexed(1, &once, &place, at_zero, &placed);
    MPI_Type_free(&at_zero);
    return placed;
}

/* Gets the filetype of a view, committed, and its elementary type. */
static void view_types(const struct sw_replay_view *view, MPI_Datatype *etype,
                       MPI_Datatype *filetype)
{
    /* An entry has at most three parts: complete cycles, complete rows, the rest. */
    size_t room = 3 * (size_t)view->n_pieces + 1;
    int *lengths = sw_replay_memory(room * sizeof *lengths);
    MPI_Aint *places = sw_replay_memory(room * sizeof *places);
    MPI_Datatype *types = sw_replay_memory(room * sizeof(MPI_Datatype));
    MPI_Datatype joined;
    int n = 0;
    *etype = MPI_BYTE;
    if (view->etype_bytes > 1) {
        MPI_Type_contiguous((int)view->etype_bytes, MPI_BYTE, etype);
        MPI_Type_commit(etype);
    }
    for (int64_t p = 0; p < view->n_pieces; p++) {
        const struct sw_replay_piece *piece = &view->pieces[p];
        for (int64_t done = 0; done < piece->count && (size_t)n < room;) {
            int64_t count = whole_turns(piece, piece->count - done);
            lengths[n] = 1;
            places[n] = (MPI_Aint)(piece->offset + place_of(piece, done) - view->lower);
            types[n++] = pieces_of(piece, count, *etype, view->etype_bytes);
            done += count;
        }
    }
    MPI_Type_create_struct(n, lengths, places, types, &joined);
    *filetype = bounded(joined, view->lower, view->extent);
    MPI_Type_commit(filetype);
    for (int i = 0; i < n; i++)
        MPI_Type_free(&types[i]);
    free(lengths);
    free(places);
    free(types);
}

/* ---- view, size, pointers ------------------------------------------------------------------ */

static void set_view(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_MPIIO);
    struct open_file *state = handle->state;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    MPI_Offset displacement = 0;
    MPI_Info info = sw_replay_info(now);
    int64_t number = now->call->detail;
    handle->unit = 1;
    if (number >= 0 && number < run->plan->n_views) {
        const struct sw_replay_view *view = &run->plan->views[number];
        view_types(view, &etype, &filetype);
        displacement = view->displacement;
        handle->unit = view->etype_bytes;
    }
    sw_replay_check_mpi(
        now, "MPI_File_set_view",
        MPI_File_set_view(state->file, displacement, etype, filetype, "native", info));
    if (filetype != etype && filetype != MPI_BYTE)
        MPI_Type_free(&filetype);
    if (etype != MPI_BYTE)
        MPI_Type_free(&etype);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    handle->position = 0;
}

static void seek_shared(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    MPI_Offset offset = now->offset > 0 ? now->offset : 0;
    sw_replay_check_mpi(now, "MPI_File_seek_shared",
                        MPI_File_seek_shared(state_of(now)->file, offset, MPI_SEEK_SET));
}

#define SIMPLE(function, name, ...)                                                               \
    static void function(struct sw_replay_run *run, const struct sw_replay_now *now)              \
    {                                                                                             \
        (void)run;                                                                                \
        sw_replay_check_mpi(now, #name, name(state_of(now)->file, __VA_ARGS__));                  \
    }
SIMPLE(set_size, MPI_File_set_size, now->offset)
SIMPLE(preallocate, MPI_File_preallocate, now->offset)
/* The pointer is set where it is used. */
SIMPLE(seek, MPI_File_seek, 0, MPI_SEEK_CUR)
SIMPLE(get_size, MPI_File_get_size, &(MPI_Offset){0})
SIMPLE(get_position_shared, MPI_File_get_position_shared, &(MPI_Offset){0})

static void sync_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_sync", MPI_File_sync(state_of(now)->file));
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Memory of a call: so many bytes, or so many of a type that contains them. */
struct memory {
    int count;
    MPI_Datatype type;
};

static struct memory memory_of(int64_t bytes)
{
    struct memory memory = {.count = (int)bytes, .type = MPI_BYTE};
    if (bytes <= INT_MAX)
        return memory;
    const int chunk = 1 << 30;
    MPI_Datatype chunks;
    MPI_Datatype whole;
    MPI_Type_contiguous(chunk, MPI_BYTE, &whole);
    MPI_Type_contiguous((int)(bytes / chunk), whole, &chunks);
    int lengths[] = {1, (int)(bytes % chunk)};
    MPI_Aint places[] = {0, bytes / chunk * chunk};
    MPI_Datatype parts[] = {chunks, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, parts, &memory.type);
    MPI_Type_commit(&memory.type);
    MPI_Type_free(&chunks);
    MPI_Type_free(&whole);
    memory.count = 1;
    return memory;
}

/* Returns the program's buffer, if the trace has its layout. */
static struct memory buffer_of(const struct sw_replay_run *run, const struct sw_replay_call *call)
{
    const struct sw_replay_view *layout = sw_replay_layout(run->plan, call);
    struct memory memory;
    MPI_Datatype byte;
    if (layout == NULL)
        return memory_of(call->bytes);
    view_types(layout, &byte, &memory.type);
    memory.count = (int)(call->bytes / layout->filetype_bytes);
    return memory;
}

static void forget(struct memory *memory)
{
    if (memory->type != MPI_BYTE)
        MPI_Type_free(&memory->type);
}

/* Sets the individual pointer to the program's position. */
static void point(const struct sw_replay_now *now)
{
    struct sw_replay_handle *handle = sw_replay_handle(now, SW_MPIIO);
    if (now->offset >= 0 && now->offset != handle->position) {
        struct open_file *state = handle->state;
        sw_replay_check_mpi(now, "MPI_File_seek",
                            MPI_File_seek(state->file, now->offset, MPI_SEEK_SET));
        handle->position = now->offset;
    }
    handle->position += now->call->bytes / handle->unit;
}

static MPI_Request *request(const struct sw_replay_now *now)
{
    struct open_file *state = state_of(now);
    if (state->n_requests == state->room) {
        state->room = state->room > 0 ? 2 * state->room : 16;
        state->requests = realloc(state->requests, (size_t)state->room * sizeof *state->requests);
        if (state->requests == NULL || state->room > MOST_REQUESTS)
            sw_replay_die(now, now->verb->name, "too many requests that nobody waits for");
    }
    return &state->requests[state->n_requests++];
}

#define NOWHERE (void)0
#define SINK run->sink, memory.count, memory.type
#define NOISE run->noise, memory.count, memory.type

/* X(verb, phase, before the call, arguments after the file...) */
#define CALLS(X)                                                                                  \
    X(read_at, READ, NOWHERE, now->offset, SINK, MPI_STATUS_IGNORE)                               \
    X(write_at, WRITE, NOWHERE, now->offset, NOISE, MPI_STATUS_IGNORE)                            \
    X(read_at_all, READ, NOWHERE, now->offset, SINK, MPI_STATUS_IGNORE)                           \
    X(write_at_all, WRITE, NOWHERE, now->offset, NOISE, MPI_STATUS_IGNORE)                        \
    X(iread_at, READ, NOWHERE, now->offset, SINK, request(now))                                   \
    X(iwrite_at, WRITE, NOWHERE, now->offset, NOISE, request(now))                                \
    X(iread_at_all, READ, NOWHERE, now->offset, SINK, request(now))                               \
    X(iwrite_at_all, WRITE, NOWHERE, now->offset, NOISE, request(now))                            \
    X(read, READ, point(now), SINK, MPI_STATUS_IGNORE)                                            \
    X(write, WRITE, point(now), NOISE, MPI_STATUS_IGNORE)                                         \
    X(read_all, READ, point(now), SINK, MPI_STATUS_IGNORE)                                        \
    X(write_all, WRITE, point(now), NOISE, MPI_STATUS_IGNORE)                                     \
    X(read_shared, READ, NOWHERE, SINK, MPI_STATUS_IGNORE)                                        \
    X(write_shared, WRITE, NOWHERE, NOISE, MPI_STATUS_IGNORE)                                     \
    X(read_ordered, READ, NOWHERE, SINK, MPI_STATUS_IGNORE)                                       \
    X(write_ordered, WRITE, NOWHERE, NOISE, MPI_STATUS_IGNORE)                                    \
    X(iread, READ, point(now), SINK, request(now))                                                \
    X(iwrite, WRITE, point(now), NOISE, request(now))                                             \
    X(iread_all, READ, point(now), SINK, request(now))                                            \
    X(iwrite_all, WRITE, point(now), NOISE, request(now))                                         \
    X(iread_shared, READ, NOWHERE, SINK, request(now))                                            \
    X(iwrite_shared, WRITE, NOWHERE, NOISE, request(now))                                         \
    X(read_at_all_begin, READ, NOWHERE, now->offset, SINK)                                        \
    X(write_at_all_begin, WRITE, NOWHERE, now->offset, NOISE)                                     \
    X(read_all_begin, READ, point(now), SINK)                                                     \
    X(write_all_begin, WRITE, point(now), NOISE)                                                  \
    X(read_ordered_begin, READ, NOWHERE, SINK)                                                    \
    X(write_ordered_begin, WRITE, NOWHERE, NOISE)

#define CALL(verb, phase, place, ...)                                                             \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        struct open_file *state = state_of(now);                                                  \
        struct memory memory = buffer_of(run, now->call);                                         \
        place;                                                                                    \
        sw_replay_check_mpi(now, "MPI_File_" #verb, MPI_File_##verb(state->file, __VA_ARGS__));   \
        forget(&memory);                                                                          \
    }
CALLS(CALL)

/* X(verb, buffer): the ends of split calls */
#define ENDS(X)                                                                                   \
    X(read_at_all_end, sink)                                                                      \
    X(write_at_all_end, noise)                                                                    \
    X(read_all_end, sink)                                                                         \
    X(write_all_end, noise)                                                                       \
    X(read_ordered_end, sink)                                                                     \
    X(write_ordered_end, noise)

#define END(verb, buffer)                                                                         \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        sw_replay_check_mpi(                                                                      \
            now, "MPI_File_" #verb,                                                               \
            MPI_File_##verb(state_of(now)->file, run->buffer, MPI_STATUS_IGNORE));                \
    }
ENDS(END)

#define ROW(verb, phase, ...) {"mpiio." #verb, SW_PHASE_##phase, verb},
#define END_ROW(verb, buffer) ROW(verb, META)

const struct sw_replay_verb sw_replay_mpiio[] = {
    {"mpiio.open", SW_PHASE_OPEN, open_file},
    {"mpiio.close", SW_PHASE_CLOSE, close_file},
    {"mpiio.delete", SW_PHASE_META, delete_file},
    {"mpiio.sync", SW_PHASE_SYNC, sync_file},
    {"mpiio.wait", SW_PHASE_META, wait_one},
    {"mpiio.waitall", SW_PHASE_META, wait_all},
    /* clang-format off */
    ROW(get_position_shared, META)
    ROW(set_view, META)
    ROW(set_size, META)
    ROW(preallocate, META)
    ROW(get_size, META)
    ROW(seek, META)
    ROW(seek_shared, META)
    CALLS(ROW)
    ENDS(END_ROW)
    /* clang-format on */
    {NULL, 0, NULL},
};
