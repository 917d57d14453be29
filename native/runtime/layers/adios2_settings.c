/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine parameters: set on the program's IO object just before it opens the file, and reverted
 * just afterwards, when the engine has read them.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "layers/adios2.h"
#include "layers/once.h"

#define MODE_WRITE 1
#define ENGINE "engine"

static void append(char *text, size_t room, const char *key, const char *value)
{
    size_t used = strlen(text);
    int more = snprintf(text + used, room - used, "%s=%s\n", key, value);
    if (more < 0 || used + (size_t)more >= room)
        text[used] = '\0';
}

static void refuse(const struct sw_ad_opening *opening, const struct sw_setting *setting,
                   const char *why)
{
    char note[512];
    snprintf(note, sizeof note, "ADIOS2 %s=%s is not applied to %s: %s", setting->key,
             setting->value, opening->path, why);
    if (sw_once(SW_LAYER_ADIOS2, note))
        sw_note(note);
}

static bool one_of(const char *text, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcasecmp(text, *names) == 0)
            return true;
    return false;
}

/* ---- the engine ---------------------------------------------------------------------- */

static bool is_undecided(const char *engine)
{
    static const char *const names[] = {"", "file", "bpfile", "bp", NULL};
    return one_of(engine, names);
}

static bool writes_bp(const char *engine)
{
    static const char *const names[] = {"bp3", "bp4", "bp5", NULL};
    return one_of(engine, names);
}

/* Names for which the library chooses an engine other than BP. */
static bool names_other_format(const char *path)
{
    static const char *const endings[] = {".h5", ".aca", ".ats", NULL};
    const char *dot = strrchr(path, '.');
    return dot != NULL && one_of(dot, endings);
}

static const char *engine_problem(const struct sw_ad_opening *opening, const char *now,
                                  const struct sw_setting *setting)
{
    if (!writes_bp(setting->value))
        return "only BP3, BP4 and BP5 can be chosen";
    if (!is_undecided(now) && !writes_bp(now))
        return "the program uses another kind of engine";
    if (is_undecided(now) && names_other_format(opening->path))
        return "the name asks for another format";
    return NULL;
}

static void set_engine(struct sw_ad_opening *opening, const struct sw_setting *setting)
{
    const char *now = sw_ad_engine(opening->io);
    if (opening->mode != MODE_WRITE) /* the engine is that of the existing file */
        return;
    const char *why = engine_problem(opening, now, setting);
    if (why != NULL) {
        refuse(opening, setting, why);
        return;
    }
    if (!is_undecided(now) && !setting->override)
        return;
    snprintf(opening->engine, sizeof opening->engine, "%s", now[0] != '\0' ? now : "File");
    sw_ad_set_engine(opening->io, setting->value);
    append(opening->applied, sizeof opening->applied, ENGINE, setting->value);
}

/* ---- parameters ------------------------------------------------------------------------ */

struct search {
    const char *key;
    char spelling[128]; /* engines ignore case; the map does not */
};

static void compare(void *context, const char *key, const char *value)
{
    struct search *search = context;
    (void)value;
    if (strcasecmp(key, search->key) == 0 && strlen(key) < sizeof search->spelling)
        strcpy(search->spelling, key);
}

/* Nobody checks parameters of other engines (HDF5, SST). */
static const char *parameter_problem(const struct sw_ad_opening *opening)
{
    const char *now = sw_ad_engine(opening->io);
    if (writes_bp(now))
        return NULL;
    if (!is_undecided(now))
        return "the program uses another kind of engine";
    return names_other_format(opening->path) ? "the name asks for another format" : NULL;
}

static void set_parameter(struct sw_ad_opening *opening, const struct sw_setting *setting)
{
    const char *why = parameter_problem(opening);
    if (why != NULL) {
        refuse(opening, setting, why);
        return;
    }
    struct search search = {.key = setting->key};
    sw_cxx_each(sw_ad_parameters(opening->io), compare, &search);
    bool own = search.spelling[0] != '\0';
    if (own && !setting->override)
        return;
    sw_ad_set_parameter(opening->io, own ? search.spelling : setting->key, setting->value);
    append(opening->applied, sizeof opening->applied, setting->key, setting->value);
}

static void add_own(void *context, const char *key, const char *value)
{
    struct sw_ad_opening *opening = context;
    append(opening->own, sizeof opening->own, key, value);
}

static void record_own(struct sw_ad_opening *opening, const char *engine)
{
    if (!is_undecided(engine))
        append(opening->own, sizeof opening->own, ENGINE, engine);
    sw_cxx_each(sw_ad_parameters(opening->io), add_own, opening);
}

/* Objects of the C++ library are only accessed if there is a setting, so never unless the user
 * requested it. */
void sw_ad_adopt(struct sw_ad_opening *opening, const void *caller)
{
    struct sw_setting settings[SW_MAX_SETTINGS];
    if (opening->path == NULL || !sw_adopt_any())
        return;
    size_t count =
        sw_adopt_lookup(SW_SETTING_ADIOS2, opening->path, NULL, settings, SW_MAX_SETTINGS);
    if (count == 0 || !sw_ad_found(caller))
        return;
    const char *engine = sw_ad_engine(opening->io);
    if (engine == NULL) {
        refuse(opening, &settings[0], "this version of ADIOS2 keeps its objects differently");
        return;
    }
    record_own(opening, engine);
    if (!sw_ad_save(opening->io, &opening->saved))
        return;
    opening->changed = true;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(settings[i].key, ENGINE) == 0)
            set_engine(opening, &settings[i]);
        else
            set_parameter(opening, &settings[i]);
    }
}

void sw_ad_undo(struct sw_ad_opening *opening)
{
    if (!opening->changed)
        return;
    opening->changed = false;
    if (opening->engine[0] != '\0')
        sw_ad_set_engine(opening->io, opening->engine);
    sw_ad_restore(opening->io, &opening->saved);
}
