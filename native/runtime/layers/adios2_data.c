/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and Get of the core, for every element type except text: bytes are counted here, from the
 * variable's selection. Calls by a variable's name arrive here from inside the core. The selection
 * is queried before the call and outside of its time. For a selected block, the core looks up its
 * size, and throws if there is no such block: so will the program's own call.
 */
#include "layers/adios2.h"

/* `found`: the elements of a variable's selection, a member function of its type. */
static int64_t bytes_of(sw_ad_counter **found, const char *name, const void *caller,
                        const void *variable, size_t element_bytes)
{
    if (!sw_recording())
        return 0;
    sw_ad_counter *size = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (size == NULL) {
        size = (sw_ad_counter *)sw_resolve(name, caller);
        __atomic_store_n(found, size, __ATOMIC_RELAXED);
    }
    if (size == NULL)
        return 0;
    sw_inside_begin();
    size_t elements = sw_ad_ask(size, variable);
    sw_inside_end();
    return (int64_t)(elements * element_bytes);
}

#define OP_NAME(op) ((op) == SW_OP_WRITE ? "adios2::Engine::Put" : "adios2::Engine::Get")
#define DATA(name, op, bytes, parameters, types, arguments)                                       \
    SW_EXPORT uintptr_t name parameters;                                                          \
    SW_EXPORT uintptr_t name parameters                                                           \
    {                                                                                             \
        SW_AD_UNWINDABLE;                                                                         \
        SW_REAL(uintptr_t, name, types);                                                          \
        struct sw_ad_call call;                                                                   \
        int64_t moved = bytes;                                                                    \
        struct sw_file *file = sw_ad_enter(&call, OP_NAME(op)) ? sw_ad_file(engine) : NULL;       \
        uintptr_t done = real arguments;                                                          \
        sw_ad_leave_data(&call, file, op, moved);                                                 \
        return done;                                                                              \
    }

/* Void functions return a word that nobody reads. */
#define MOVE(name, op, bytes, pointer)                                                            \
    DATA(name, op, bytes, (void *engine, void *variable, pointer data, int mode),                 \
         (void *, void *, pointer, int), (engine, variable, data, mode))

#define SELECTED(tag, type, element_bytes)                                                        \
    bytes_of(&size_##tag, "_ZNK6adios24core8VariableI" type "E13SelectionSizeEv",                 \
             __builtin_return_address(0), variable, element_bytes)

/* `mangled`: the type in a name, `text` the same as a string; `s`: the number of the substitution
 * for the type in what follows (Itanium C++ ABI, 5.1.10). */
#define TYPE(tag, mangled, text, s, element_bytes)                                                           \
    static sw_ad_counter *size_##tag;                                                                        \
    MOVE(_ZN6adios24core6Engine3PutI##mangled##EEvRNS0_8VariableIT_EEPKS##s##_NS_4ModeE,                     \
         SW_OP_WRITE, SELECTED(tag, text, element_bytes), const void *)                                      \
    MOVE(_ZN6adios24core6Engine3PutI##mangled##EEvRNS0_8VariableIT_EERKS##s##_NS_4ModeE,                     \
         SW_OP_WRITE, (int64_t)(element_bytes), const void *)                                                \
    MOVE(_ZN6adios24core6Engine3GetI##mangled##EEvRNS0_8VariableIT_EEPS##s##_NS_4ModeE,                      \
         SW_OP_READ, SELECTED(tag, text, element_bytes), void *)                                             \
    MOVE(_ZN6adios24core6Engine3GetI##mangled##EEvRNS0_8VariableIT_EERS##s##_NS_4ModeE,                      \
         SW_OP_READ, (int64_t)(element_bytes), void *)                                                       \
    MOVE(                                                                                                    \
        _ZN6adios24core6Engine3GetI##mangled##EEvRNS0_8VariableIT_EERSt6vectorIS##s##_SaIS##s##_EENS_4ModeE, \
        SW_OP_READ, SELECTED(tag, text, element_bytes), void *)

/* clang-format off */
TYPE(char, c, "c", 4, 1)
TYPE(int8, a, "a", 4, 1)
TYPE(uint8, h, "h", 4, 1)
TYPE(int16, s, "s", 4, 2)
TYPE(uint16, t, "t", 4, 2)
TYPE(int32, i, "i", 4, 4)
TYPE(uint32, j, "j", 4, 4)
TYPE(int64, l, "l", 4, 8)
TYPE(uint64, m, "m", 4, 8)
TYPE(float, f, "f", 4, 4)
TYPE(double, d, "d", 4, 8)
TYPE(long_double, e, "e", 4, sizeof(long double))
TYPE(complex_float, St7complexIfE, "St7complexIfE", 6, 8)
TYPE(complex_double, St7complexIdE, "St7complexIdE", 6, 16)
/* clang-format on */
