/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of opening, steps and closing. */
#include <string.h>

#include "layers/adios2.h"
#include "layers/once.h"

struct sw_handle_table sw_ad_engines;

struct sw_file *sw_ad_file(const void *engine)
{
    struct sw_handle_entry entry;
    sw_handle_find(&sw_ad_engines, (uintptr_t)engine, &entry);
    return entry.file;
}

/* ---- calls and exceptions --------------------------------------------------------------- */

/* The innermost call of the thread. */
static __thread struct sw_ad_call *current __attribute__((tls_model("initial-exec")));

bool sw_ad_enter(struct sw_ad_call *call, const char *name)
{
    /* Stacks grow down: a frame at or below the new one was left by a jump, and its record of the
     * calls around it may be overwritten. */
    if ((uintptr_t)current <= (uintptr_t)call)
        current = NULL;
    call->outer = current;
    call->opening = NULL;
    call->counted = sw_enter_as(&call->call, SW_LAYER_ADIOS2, name);
    current = call;
    return call->counted;
}

void sw_ad_leave(struct sw_ad_call *call, struct sw_file *file, enum sw_op op)
{
    current = call->outer;
    if (call->counted)
        sw_leave(&call->call, file, op);
}

void sw_ad_leave_data(struct sw_ad_call *call, struct sw_file *file, enum sw_op op, int64_t bytes)
{
    current = call->outer;
    if (call->counted)
        sw_leave_data(&call->call, file, op, bytes, -1);
}

void sw_ad_abandon(uintptr_t stack)
{
    struct sw_ad_call *call = current;
    if (call != NULL && (uintptr_t)call < stack)
        current = NULL; /* it belongs to a frame that was left by a jump */
    if (call == NULL || (uintptr_t)call < stack)
        return;
    if (call->opening != NULL)
        sw_ad_undo(call->opening);
    sw_ad_leave(call, NULL, SW_OP_META);
}

/* ---- open ---------------------------------------------------------------------------------- */

#define MODE_READ_RANDOM_ACCESS 4

/* adios2::Mode (adios2/common/ADIOSTypes.h). */
static int64_t open_bits(int mode)
{
    enum { MODE_WRITE = 1, MODE_READ = 2, MODE_APPEND = 3 };
    switch (mode) {
    case MODE_WRITE:
        return SW_OPEN_WRITE | SW_OPEN_CREATE | SW_OPEN_TRUNCATE;
    case MODE_APPEND:
        return SW_OPEN_WRITE | SW_OPEN_CREATE | SW_OPEN_APPEND;
    case MODE_READ:
    case MODE_READ_RANDOM_ACCESS:
        return SW_OPEN_READ;
    default:
        return 0;
    }
}

static void begin(struct sw_ad_call *call, struct sw_ad_opening *opening, void *io,
                  const struct sw_cxx_string *name, int mode, const void *caller)
{
    if (!sw_ad_enter(call, "adios2::IO::Open"))
        return;
    call->call.position = open_bits(mode);
    call->opening = opening;
    memset(opening, 0, sizeof *opening);
    opening->io = io;
    opening->mode = mode;
    sw_process_flag(SW_PROCESS_ADIOS2);
    sw_inside_begin();
    opening->path = sw_cxx_text(name, caller);
    sw_ad_adopt(opening, caller);
    sw_inside_end();
}

static void record(struct sw_file *file, enum sw_settings_kind kind, const char *text)
{
    uint64_t id = sw_file_id(file);
    if (file != NULL && text[0] != '\0' && sw_once(id * 8 + 4 + (uint64_t)kind, text))
        sw_settings_add(SW_LAYER_ADIOS2, id, kind, text);
}

static void *end(struct sw_ad_call *call, void *engine)
{
    struct sw_ad_opening *opening = call->opening;
    if (!call->counted) {
        sw_ad_leave(call, NULL, SW_OP_OPEN);
        return engine;
    }
    struct sw_file *file =
        opening->path != NULL ? sw_file_get(SW_LAYER_ADIOS2, opening->path) : NULL;
    struct sw_handle_entry entry = {.handle = (uintptr_t)engine, .file = file};
    sw_handle_put(&sw_ad_engines, &entry);
    sw_inside_begin();
    sw_ad_undo(opening);
    sw_inside_end();
    record(file, SW_SETTINGS_PROGRAM, opening->own);
    record(file, SW_SETTINGS_APPLIED, opening->applied);
    sw_ad_leave(call, file, SW_OP_OPEN);
    return engine;
}

#define OPEN(name, mode, parameters, types, arguments)                                            \
    SW_EXPORT void *name parameters;                                                              \
    SW_EXPORT void *name parameters                                                               \
    {                                                                                             \
        SW_AD_UNWINDABLE;                                                                         \
        SW_REAL(void *, name, types);                                                             \
        struct sw_ad_call call;                                                                   \
        struct sw_ad_opening opening;                                                             \
        begin(&call, &opening, io, path, mode, __builtin_return_address(0));                      \
        return end(&call, real arguments);                                                        \
    }

#define OPEN_NAME(rest)                                                                           \
    _ZN6adios24core2IO4OpenERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE##rest

/* clang-format off */
OPEN(OPEN_NAME(NS_4ModeE), mode,
     (void *io, const struct sw_cxx_string *path, int mode),
     (void *, const struct sw_cxx_string *, int), (io, path, mode))
/* With a communicator: until 2.9, and later. */
OPEN(OPEN_NAME(NS_4ModeENS_6helper4CommE), mode,
     (void *io, const struct sw_cxx_string *path, int mode, void *comm),
     (void *, const struct sw_cxx_string *, int, void *), (io, path, mode, comm))
OPEN(OPEN_NAME(NS_4ModeENS_6helper4CommEPKcm), mode,
     (void *io, const struct sw_cxx_string *path, int mode, void *comm, const char *metadata,
      size_t bytes),
     (void *, const struct sw_cxx_string *, int, void *, const char *, size_t),
     (io, path, mode, comm, metadata, bytes))
/* With metadata that another process has read. */
OPEN(OPEN_NAME(PKcm), MODE_READ_RANDOM_ACCESS,
     (void *io, const struct sw_cxx_string *path, const char *metadata, size_t bytes),
     (void *, const struct sw_cxx_string *, const char *, size_t), (io, path, metadata, bytes))
/* clang-format on */

/* ---- close ----------------------------------------------------------------------------- */

SW_EXPORT void _ZN6adios24core6Engine5CloseEi(void *engine, int transport);
SW_EXPORT void _ZN6adios24core6Engine5CloseEi(void *engine, int transport)
{
    SW_AD_UNWINDABLE;
    SW_REAL(void, _ZN6adios24core6Engine5CloseEi, (void *, int));
    struct sw_ad_call call;
    bool counted = sw_ad_enter(&call, "adios2::Engine::Close");
    struct sw_file *file = counted ? sw_ad_file(engine) : NULL;
    real(engine, transport);
    if (counted && transport == -1)
        sw_handle_drop(&sw_ad_engines, (uintptr_t)engine);
    sw_ad_leave(&call, file, SW_OP_CLOSE);
}

/* ---- steps: virtual in the core, so they are wrapped at the interfaces -------------------- */

#define FAILURE 3 /* adios2_error_system_error: no ADIOS2 behind the call */

#define STEP(name, text, op, engine, parameters, types, arguments)                                \
    SW_EXPORT int name parameters;                                                                \
    SW_EXPORT int name parameters                                                                 \
    {                                                                                             \
        SW_AD_UNWINDABLE;                                                                         \
        SW_REAL(int, name, types);                                                                \
        struct sw_ad_call call;                                                                   \
        if (real == NULL)                                                                         \
            return FAILURE;                                                                       \
        struct sw_file *file = sw_ad_enter(&call, text) ? sw_ad_file(engine) : NULL;              \
        int result = real arguments;                                                              \
        sw_ad_leave(&call, file, op);                                                             \
        return result;                                                                            \
    }

/* clang-format off */
/* C interface, which Fortran calls. */
#define STEP_C(name, op) STEP(name, #name, op, engine, (void *engine), (void *), (engine))
STEP(adios2_begin_step, "adios2_begin_step", SW_OP_META, engine,
     (void *engine, int mode, float timeout, int *status), (void *, int, float, int *),
     (engine, mode, timeout, status))
STEP_C(adios2_end_step, SW_OP_META)
STEP_C(adios2_perform_puts, SW_OP_META)
STEP_C(adios2_perform_gets, SW_OP_META)
STEP_C(adios2_perform_data_write, SW_OP_META)
STEP_C(adios2_flush, SW_OP_SYNC)
STEP(adios2_flush_by_index, "adios2_flush_by_index", SW_OP_SYNC, engine, (void *engine, int transport), (void *, int),
     (engine, transport))

/* C++: the object's only member is the core's engine. Void functions return an int that nobody
 * reads. */
#define STEP_CXX(name, text, op) STEP(name, text, op, *self, (void **self), (void **), (self))
STEP_CXX(_ZN6adios26Engine9BeginStepEv, "adios2::Engine::BeginStep", SW_OP_META)
STEP(_ZN6adios26Engine9BeginStepENS_8StepModeEf, "adios2::Engine::BeginStep", SW_OP_META, *self,
     (void **self, int mode, float timeout), (void **, int, float), (self, mode, timeout))
STEP_CXX(_ZN6adios26Engine7EndStepEv, "adios2::Engine::EndStep", SW_OP_META)
STEP_CXX(_ZN6adios26Engine11PerformPutsEv, "adios2::Engine::PerformPuts", SW_OP_META)
STEP_CXX(_ZN6adios26Engine11PerformGetsEv, "adios2::Engine::PerformGets", SW_OP_META)
STEP_CXX(_ZN6adios26Engine16PerformDataWriteEv, "adios2::Engine::PerformDataWrite", SW_OP_META)
STEP(_ZN6adios26Engine5FlushEi, "adios2::Engine::Flush", SW_OP_SYNC, *self, (void **self, int transport), (void **, int),
     (self, transport))
/* clang-format on */
