/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings and maps of libstdc++, and the members of an IO object, in the compiler's memory layout.
 * The names of the functions that are found prove the ABI of the strings; sw_ad_engine, which is
 * called first, proves the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/adios2.h"

#define STRING_CLASS "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
#define STRING "N" STRING_CLASS "E"

static struct {
    struct sw_cxx_map *(*parameters)(void *);
    void (*set_parameter)(void *, struct sw_cxx_string *, struct sw_cxx_string *);
    void (*clear_parameters)(void *);
    void (*set_engine)(void *, struct sw_cxx_string *);
    void *(*allocate)(size_t);
    void (*release)(void *);
    bool found;
} core;

bool sw_ad_found(const void *caller)
{
    static bool asked;
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
        return core.found;
    core.parameters = (struct sw_cxx_map * (*)(void *))
        sw_resolve("_ZN6adios24core2IO13GetParametersB5cxx11Ev", caller);
    core.set_parameter =
        (void (*)(void *, struct sw_cxx_string *, struct sw_cxx_string *))sw_resolve(
            "_ZN6adios24core2IO12SetParameterE" STRING "S7_", caller);
    core.clear_parameters =
        (void (*)(void *))sw_resolve("_ZN6adios24core2IO15ClearParametersEv", caller);
    core.set_engine = (void (*)(void *, struct sw_cxx_string *))sw_resolve(
        "_ZN6adios24core2IO9SetEngineE" STRING, caller);
    core.allocate = (void *(*)(size_t))sw_resolve("_Znwm", caller);
    core.release = (void (*)(void *))sw_resolve("_ZdlPv", caller);
    core.found = core.parameters && core.set_parameter && core.clear_parameters &&
                 core.set_engine && core.allocate && core.release;
    __atomic_store_n(&asked, true, __ATOMIC_RELEASE);
    return core.found;
}

/* ---- strings ------------------------------------------------------------------------- */

struct sw_cxx_string {
    char *text;
    size_t bytes;
    union {
        char local[16];
        size_t room;
    };
};

const char *sw_cxx_text(const struct sw_cxx_string *string, const void *caller)
{
    typedef const char *function(const struct sw_cxx_string *);
    static function *known;
    function *text = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (text == NULL) {
        text = (function *)sw_resolve("_ZNK" STRING_CLASS "5c_strEv", caller);
        __atomic_store_n(&known, text, __ATOMIC_RELAXED);
    }
    return text != NULL ? text(string) : NULL;
}

static void construct(struct sw_cxx_string *string, const char *text)
{
    string->bytes = strlen(text);
    string->text = string->local;
    if (string->bytes >= sizeof string->local) {
        string->text = core.allocate(string->bytes + 1);
        string->room = string->bytes;
    }
    memcpy(string->text, text, string->bytes + 1);
}

/* Also destroys a string that was moved from: the caller of a function destroys its arguments. */
static void destroy(struct sw_cxx_string *string)
{
    if (string->text != string->local)
        core.release(string->text);
}

void sw_ad_set_parameter(void *io, const char *key, const char *value)
{
    struct sw_cxx_string key_string;
    struct sw_cxx_string value_string;
    construct(&key_string, key);
    construct(&value_string, value);
    core.set_parameter(io, &key_string, &value_string);
    destroy(&value_string);
    destroy(&key_string);
}

void sw_ad_set_engine(void *io, const char *engine)
{
    struct sw_cxx_string string;
    construct(&string, engine);
    core.set_engine(io, &string);
    destroy(&string);
}

/* ---- maps ---------------------------------------------------------------------------- */

struct tree {
    int color;
    const struct tree *parent;
    const struct tree *left;
    const struct tree *right;
};

struct node {
    struct tree tree;
    struct sw_cxx_string key;
    struct sw_cxx_string value;
};

struct sw_cxx_map {
    char compare[8];
    struct tree header; /* left: the first; parent: the root */
    size_t count;
};

/* What follows the map of parameters in an IO object. */
struct io_tail {
    struct sw_cxx_map parameters;
    void *transports[3]; /* std::vector */
    struct sw_cxx_string engine;
};

static const struct tree *next(const struct tree *at)
{
    if (at->right != NULL) {
        at = at->right;
        while (at->left != NULL)
            at = at->left;
        return at;
    }
    const struct tree *up = at->parent;
    while (at == up->right) {
        at = up;
        up = up->parent;
    }
    return at->right != up ? up : at;
}

void sw_cxx_each(const struct sw_cxx_map *map, sw_cxx_visit *visit, void *context)
{
    const struct tree *at = map->header.left;
    for (size_t i = 0; i < map->count; i++, at = next(at)) {
        const struct node *node = (const struct node *)at;
        visit(context, node->key.text, node->value.text);
    }
}

const struct sw_cxx_map *sw_ad_parameters(void *io)
{
    return core.parameters(io);
}

/* All names of engines are short enough to be stored inside the string: anything else means that
 * the object has another layout. */
const char *sw_ad_engine(void *io)
{
    const struct io_tail *tail = (const struct io_tail *)core.parameters(io);
    const struct sw_cxx_string *engine = &tail->engine;
    if (engine->text != engine->local || engine->bytes >= sizeof engine->local ||
        strnlen(engine->local, sizeof engine->local) != engine->bytes)
        return NULL;
    return engine->local;
}

/* ---- all parameters -------------------------------------------------------------------- */

static void add_bytes(void *context, const char *key, const char *value)
{
    *(size_t *)context += strlen(key) + strlen(value) + 2;
}

static void add_pair(void *context, const char *key, const char *value)
{
    char **end = context;
    *end = stpcpy(*end, key) + 1;
    *end = stpcpy(*end, value) + 1;
}

bool sw_ad_save(void *io, struct sw_ad_saved *saved)
{
    const struct sw_cxx_map *map = core.parameters(io);
    size_t bytes = 1;
    sw_cxx_each(map, add_bytes, &bytes);
    saved->count = map->count;
    saved->text = malloc(bytes);
    char *end = saved->text;
    if (end != NULL)
        sw_cxx_each(map, add_pair, &end);
    return saved->text != NULL;
}

void sw_ad_restore(void *io, struct sw_ad_saved *saved)
{
    const char *at = saved->text;
    core.clear_parameters(io);
    for (size_t i = 0; i < saved->count; i++) {
        const char *value = at + strlen(at) + 1;
        sw_ad_set_parameter(io, at, value);
        at = value + strlen(value) + 1;
    }
    free(saved->text);
    saved->text = NULL;
}
