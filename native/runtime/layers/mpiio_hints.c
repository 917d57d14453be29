/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hints: the configuration's hints for a file, merged into the program's MPI_Info. */
#include <string.h>

#include "layers/mpiio.h"
#include "layers/once.h"

#define TEXT_BYTES 8192

static size_t lookup(enum sw_setting_group group, const char *path,
                     struct sw_hint hints[SW_MAX_SETTINGS])
{
    struct sw_setting settings[SW_MAX_SETTINGS];
    size_t count = sw_adopt_lookup(group, path, NULL, settings, SW_MAX_SETTINGS);
    for (size_t i = 0; i < count; i++)
        hints[i] = (struct sw_hint){
            .key = settings[i].key, .value = settings[i].value, .override = settings[i].override};
    return count;
}

/* Returns whether `key` is one of the "key=value\n" lines of `text`. */
static bool has_key(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == '=')
            return true;
    }
    return false;
}

static void merge(struct sw_mpi_hints *hints, const struct sw_hint *wanted, size_t count)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    sw_handle merged;
    if (plugin->info_merge(hints->own, wanted, count, &merged, hints->applied,
                           sizeof hints->applied) == SW_MPI_SUCCESS)
        hints->merged = merged;
    else
        sw_note("hints could not be merged into the program's MPI_Info; its own is used");
}

static void begin(struct sw_mpi_hints *hints, sw_handle info)
{
    hints->own = info;
    hints->merged = info;
    hints->overriding = false;
    hints->applied[0] = '\0';
}

void sw_mpi_hints_merge(struct sw_mpi_hints *hints, enum sw_setting_group group, const char *path,
                        sw_handle info)
{
    struct sw_hint wanted[SW_MAX_SETTINGS];
    begin(hints, info);
    if (!sw_adopt_any() || sw_mpi_plugin() == NULL)
        return;
    sw_inside_begin();
    size_t count = lookup(group, path, wanted);
    for (size_t i = 0; i < count; i++)
        hints->overriding |= wanted[i].override != 0;
    if (count > 0)
        merge(hints, wanted, count);
    sw_inside_end();
}

void sw_mpi_hints_remerge(struct sw_mpi_hints *hints, const char *path, sw_handle info)
{
    struct sw_hint wanted[SW_MAX_SETTINGS];
    char own[TEXT_BYTES];
    const struct sw_plugin *plugin = sw_mpi_plugin();
    begin(hints, info);
    if (path == NULL || plugin == NULL)
        return;
    sw_inside_begin();
    size_t count = lookup(SW_SETTING_MPIIO, path, wanted);
    size_t kept = 0;
    if (plugin->info_text(info, own, sizeof own) == SW_MPI_SUCCESS)
        for (size_t i = 0; i < count; i++)
            if (wanted[i].override && has_key(own, wanted[i].key))
                wanted[kept++] = wanted[i];
    if (kept > 0)
        merge(hints, wanted, kept);
    sw_inside_end();
}

bool sw_mpi_hints_extend(struct sw_mpi_hints *with, const struct sw_hint *wanted, size_t count)
{
    char *rest = with->applied + strlen(with->applied);
    sw_handle merged;
    if (sw_mpi_plugin()->info_merge(with->merged, wanted, count, &merged, rest,
                                    sizeof with->applied - (size_t)(rest - with->applied)) !=
        SW_MPI_SUCCESS)
        return false;
    if (rest[0] == '\0') {
        sw_mpi_plugin()->info_free(merged);
        return false;
    }
    with->merged = merged;
    return true;
}

void sw_mpi_hints_replace(struct sw_mpi_hints *hints, const struct sw_mpi_hints *with)
{
    sw_mpi_hints_done(hints);
    *hints = *with;
}

void sw_mpi_hints_done(struct sw_mpi_hints *hints)
{
    if (hints->merged == hints->own)
        return;
    sw_inside_begin();
    if (sw_mpi_plugin() != NULL)
        sw_mpi_plugin()->info_free(hints->merged);
    sw_inside_end();
}

struct sw_emulator *sw_mpi_hints_tell(const struct sw_mpi_hints *hints, const char *path,
                                      bool creates)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    char text[TEXT_BYTES];
    if (sw_emulators_used == 0)
        return NULL;
    sw_inside_begin();
    bool known = plugin != NULL && plugin->info_text(hints->merged, text, sizeof text) == 0;
    sw_inside_end();
    return sw_emulate_open_begin(path, creates, known ? text : "",
                                 plugin != NULL && strcmp(plugin->family, "openmpi") == 0);
}

/* ---- recording ----------------------------------------------------------------- */

/* A program that opens the same file in every step produces the same text each time: it is
 * recorded once. */
static void record(int layer, struct sw_file *file, enum sw_settings_kind kind, const char *text)
{
    uint64_t id = sw_file_id(file);
    uint64_t salt = (id * 4 + (uint64_t)kind) * SW_LAYER_COUNT + (uint64_t)layer;
    if (text[0] != '\0' && sw_once(salt, text))
        sw_settings_add(layer, id, kind, text);
}

void sw_mpi_info_record(int layer, struct sw_file *file, enum sw_settings_kind kind,
                        sw_handle info)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    char text[TEXT_BYTES];
    if (file == NULL || plugin == NULL || !sw_recording())
        return;
    sw_inside_begin();
    if (plugin->info_text(info, text, sizeof text) == SW_MPI_SUCCESS)
        record(layer, file, kind, text);
    sw_inside_end();
}

void sw_mpi_hints_requested(const struct sw_mpi_hints *hints, int layer, struct sw_file *file)
{
    sw_mpi_info_record(layer, file, SW_SETTINGS_PROGRAM, hints->own);
    if (file != NULL && sw_recording())
        record(layer, file, SW_SETTINGS_APPLIED, hints->applied);
}

void sw_mpi_hints_record(const struct sw_mpi_hints *hints, struct sw_file *file, sw_handle handle)
{
    const struct sw_plugin *plugin = sw_mpi_plugin();
    char text[TEXT_BYTES];
    if (file == NULL || plugin == NULL || !sw_recording())
        return;
    sw_mpi_hints_requested(hints, SW_LAYER_MPIIO, file);
    sw_inside_begin();
    if (handle != 0 && plugin->file_info_text(handle, text, sizeof text) == SW_MPI_SUCCESS)
        record(SW_LAYER_MPIIO, file, SW_SETTINGS_REPORTED, text);
    sw_inside_end();
}
