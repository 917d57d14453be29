/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ADIOS2 layer, without its headers. The interfaces for all languages call the core library's
 * C++ functions across a library boundary; these are wrapped here, under their mangled names.
 * Objects are addresses; references and class arguments that are not trivial are passed as
 * addresses too (Itanium C++ ABI). Source: headers of ADIOS2 2.8 to 2.12.
 */
#ifndef STRIPEWISE_ADIOS2_H
#define STRIPEWISE_ADIOS2_H

#include "core/capture.h"
#include "layers/handles.h"

/* ---- values of the C++ library -------------------------------------------------------- */

/* The layout of libstdc++ objects is known only in adios2_values.c, and only used if the
 * configuration has an ADIOS2 setting for the file. Counting only calls exported functions. */
struct sw_cxx_string; /* std::string, the one whose functions have __cxx11 in their names */
struct sw_cxx_map;    /* std::map<std::string, std::string> */

/* Calls the C++ library's own function; NULL if it is not found. */
const char *sw_cxx_text(const struct sw_cxx_string *string, const void *caller);

typedef void sw_cxx_visit(void *context, const char *key, const char *value);
void sw_cxx_each(const struct sw_cxx_map *map, sw_cxx_visit *visit, void *context);

/* ---- an IO object ----------------------------------------------------------------------- */

/* Former parameters: `count` pairs of texts, one after the other. */
struct sw_ad_saved {
    size_t count;
    char *text;
};

/* Finds the functions of the core library, once. Returns false if no settings can be adopted. */
bool sw_ad_found(const void *caller);
const struct sw_cxx_map *sw_ad_parameters(void *io);
void sw_ad_set_parameter(void *io, const char *key, const char *value);
void sw_ad_set_engine(void *io, const char *engine);
/* Returns the chosen engine, "" for none; NULL if unknown. */
const char *sw_ad_engine(void *io);
bool sw_ad_save(void *io, struct sw_ad_saved *saved);
void sw_ad_restore(void *io, struct sw_ad_saved *saved);

/* ---- settings ---------------------------------------------------------------------------- */

struct sw_ad_opening {
    void *io;
    const char *path; /* NULL: unknown */
    int mode;
    bool changed;
    char engine[16]; /* to restore, "" for none */
    struct sw_ad_saved saved;
    char own[2048];
    char applied[2048];
};

/* Applies the configuration's settings for the file; undo reverts them, since the program may open
 * other files with the same object. */
void sw_ad_adopt(struct sw_ad_opening *opening, const void *caller);
void sw_ad_undo(struct sw_ad_opening *opening);

/* ---- calls ---------------------------------------------------------------------------------- */

/* State of a wrapped call, in the wrapper's frame. Those of a thread form a stack. */
struct sw_ad_call {
    struct sw_call call;
    struct sw_ad_opening *opening; /* NULL: another call, or an uncounted one */
    struct sw_ad_call *outer;
    bool counted;
};

/* Begins a call; `name` is recorded in the trace, without mangling and types. Returns whether the
 * call is counted; sw_ad_leave must be called in any case. */
bool sw_ad_enter(struct sw_ad_call *call, const char *name);
void sw_ad_leave(struct sw_ad_call *call, struct sw_file *file, enum sw_op op);
void sw_ad_leave_data(struct sw_ad_call *call, struct sw_file *file, enum sw_op op, int64_t bytes);

/* Ends the call of one of our frames that is gone, whose stack ended at that address. */
void sw_ad_abandon(uintptr_t stack);

/* Engines, by address. */
extern struct sw_handle_table sw_ad_engines;
struct sw_file *sw_ad_file(const void *engine);

/*
 * A wrapper may be left by a C++ exception. This names the function that the unwinder calls for
 * the wrapper's frame: it ends the frame's call and lets the exception continue. It must come
 * first in every wrapper.
 */
#define SW_AD_UNWINDABLE __asm__ volatile(".cfi_personality 0x1b, sw_ad_unwound")

/* Calls a member function that counts elements and may throw; an exception ends here and gives 0.
 * */
typedef size_t sw_ad_counter(const void *object);
size_t sw_ad_ask(sw_ad_counter *counter, const void *object);

#endif
