/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI-IO.  Data calls move bytes (MPI_BYTE) from contiguous memory, or what the program's
 * datatype was from a buffer with holes; where they go is what view and offset say, as in the
 * program.
 */
#include "replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REQUESTS 65536

struct open_file {
    MPI_File file;
    int n_requests;
    int oldest; /* of those that were not waited for */
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
        amode = MPI_MODE_RDWR | MPI_MODE_CREATE; /* not known */
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
        return; /* a test that found nothing ready */
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
        sw_replay_view_types(view, &etype, &filetype);
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

static void set_size(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_set_size",
                        MPI_File_set_size(state_of(now)->file, now->offset));
}

static void preallocate(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_preallocate",
                        MPI_File_preallocate(state_of(now)->file, now->offset));
}

static void get_size(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    MPI_Offset size = 0;
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_get_size", MPI_File_get_size(state_of(now)->file, &size));
}

static void get_shared(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    MPI_Offset position = 0;
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_get_position_shared",
                        MPI_File_get_position_shared(state_of(now)->file, &position));
}

/* The pointer is put to its place where it is used. */
static void seek(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_seek", MPI_File_seek(state_of(now)->file, 0, MPI_SEEK_CUR));
}

static void seek_shared(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    MPI_Offset offset = now->offset > 0 ? now->offset : 0;
    sw_replay_check_mpi(now, "MPI_File_seek_shared",
                        MPI_File_seek_shared(state_of(now)->file, offset, MPI_SEEK_SET));
}

static void sync_file(struct sw_replay_run *run, const struct sw_replay_now *now)
{
    (void)run;
    sw_replay_check_mpi(now, "MPI_File_sync", MPI_File_sync(state_of(now)->file));
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Memory of a call: so many bytes, or so many of a type that holds them. */
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

/* The program's buffer, if the trace has its layout. */
static struct memory buffer_of(const struct sw_replay_run *run, const struct sw_replay_call *call)
{
    const struct sw_replay_view *layout = sw_replay_layout(run->plan, call);
    struct memory memory;
    MPI_Datatype byte;
    if (layout == NULL)
        return memory_of(call->bytes);
    sw_replay_view_types(layout, &byte, &memory.type);
    memory.count = (int)(call->bytes / layout->filetype_bytes);
    return memory;
}

static void forget(struct memory *memory)
{
    if (memory->type != MPI_BYTE)
        MPI_Type_free(&memory->type);
}

/* Puts the individual pointer where the program's was. */
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

#define BEGIN_DATA                                                                                \
    struct open_file *state = state_of(now);                                                      \
    struct memory memory = buffer_of(run, now->call)
#define END_DATA(name, result)                                                                    \
    sw_replay_check_mpi(now, name, result);                                                       \
    forget(&memory)

#define AT(verb, buffer)                                                                          \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        END_DATA("MPI_File_" #verb,                                                               \
                 MPI_File_##verb(state->file, now->offset, run->buffer, memory.count,             \
                                 memory.type, MPI_STATUS_IGNORE));                                \
    }
#define POST_AT(verb, buffer)                                                                     \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        END_DATA("MPI_File_" #verb, MPI_File_##verb(state->file, now->offset, run->buffer,        \
                                                    memory.count, memory.type, request(now)));    \
    }
#define PLAIN(verb, buffer, place)                                                                \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        place;                                                                                    \
        END_DATA("MPI_File_" #verb, MPI_File_##verb(state->file, run->buffer, memory.count,       \
                                                    memory.type, MPI_STATUS_IGNORE));             \
    }
#define POST(verb, buffer, place)                                                                 \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        place;                                                                                    \
        END_DATA("MPI_File_" #verb, MPI_File_##verb(state->file, run->buffer, memory.count,       \
                                                    memory.type, request(now)));                  \
    }
#define BEGIN_AT(verb, buffer)                                                                    \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        END_DATA("MPI_File_" #verb, MPI_File_##verb(state->file, now->offset, run->buffer,        \
                                                    memory.count, memory.type));                  \
    }
#define BEGIN(verb, buffer, place)                                                                \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        BEGIN_DATA;                                                                               \
        place;                                                                                    \
        END_DATA("MPI_File_" #verb,                                                               \
                 MPI_File_##verb(state->file, run->buffer, memory.count, memory.type));           \
    }
#define END(verb, buffer)                                                                         \
    static void verb(struct sw_replay_run *run, const struct sw_replay_now *now)                  \
    {                                                                                             \
        sw_replay_check_mpi(                                                                      \
            now, "MPI_File_" #verb,                                                               \
            MPI_File_##verb(state_of(now)->file, run->buffer, MPI_STATUS_IGNORE));                \
    }

#define NOWHERE (void)0
AT(read_at, sink)
AT(write_at, noise)
AT(read_at_all, sink)
AT(write_at_all, noise)
POST_AT(iread_at, sink)
POST_AT(iwrite_at, noise)
POST_AT(iread_at_all, sink)
POST_AT(iwrite_at_all, noise)
PLAIN(read, sink, point(now))
PLAIN(write, noise, point(now))
PLAIN(read_all, sink, point(now))
PLAIN(write_all, noise, point(now))
PLAIN(read_shared, sink, NOWHERE)
PLAIN(write_shared, noise, NOWHERE)
PLAIN(read_ordered, sink, NOWHERE)
PLAIN(write_ordered, noise, NOWHERE)
POST(iread, sink, point(now))
POST(iwrite, noise, point(now))
POST(iread_all, sink, point(now))
POST(iwrite_all, noise, point(now))
POST(iread_shared, sink, NOWHERE)
POST(iwrite_shared, noise, NOWHERE)
BEGIN_AT(read_at_all_begin, sink)
BEGIN_AT(write_at_all_begin, noise)
BEGIN(read_all_begin, sink, point(now))
BEGIN(write_all_begin, noise, point(now))
BEGIN(read_ordered_begin, sink, NOWHERE)
BEGIN(write_ordered_begin, noise, NOWHERE)
END(read_at_all_end, sink)
END(write_at_all_end, noise)
END(read_all_end, sink)
END(write_all_end, noise)
END(read_ordered_end, sink)
END(write_ordered_end, noise)

#define READ(verb) {"mpiio." #verb, SW_PHASE_READ, verb}
#define WRITE(verb) {"mpiio." #verb, SW_PHASE_WRITE, verb}
#define META(verb) {"mpiio." #verb, SW_PHASE_META, verb}

const struct sw_replay_verb sw_replay_mpiio[] = {
    {"mpiio.open", SW_PHASE_OPEN, open_file},
    {"mpiio.close", SW_PHASE_CLOSE, close_file},
    {"mpiio.delete", SW_PHASE_META, delete_file},
    {"mpiio.sync", SW_PHASE_SYNC, sync_file},
    {"mpiio.get_position_shared", SW_PHASE_META, get_shared},
    {"mpiio.wait", SW_PHASE_META, wait_one},
    {"mpiio.waitall", SW_PHASE_META, wait_all},
    META(set_view),
    META(set_size),
    META(preallocate),
    META(get_size),
    META(seek),
    META(seek_shared),
    READ(read_at),
    WRITE(write_at),
    READ(read_at_all),
    WRITE(write_at_all),
    READ(iread_at),
    WRITE(iwrite_at),
    READ(iread_at_all),
    WRITE(iwrite_at_all),
    READ(read),
    WRITE(write),
    READ(read_all),
    WRITE(write_all),
    READ(read_shared),
    WRITE(write_shared),
    READ(read_ordered),
    WRITE(write_ordered),
    READ(iread),
    WRITE(iwrite),
    READ(iread_all),
    WRITE(iwrite_all),
    READ(iread_shared),
    WRITE(iwrite_shared),
    READ(read_at_all_begin),
    WRITE(write_at_all_begin),
    READ(read_all_begin),
    WRITE(write_all_begin),
    READ(read_ordered_begin),
    WRITE(write_ordered_begin),
    META(read_at_all_end),
    META(write_at_all_end),
    META(read_all_end),
    META(write_all_end),
    META(read_ordered_end),
    META(write_ordered_end),
    {NULL, 0, NULL},
};
