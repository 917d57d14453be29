/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Values of settings as text, and reports about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/hdf5.h"
#include "layers/once.h"

size_t sw_h5_numbers(const char *text, uint64_t *numbers, size_t room)
{
    size_t count = 0;
    while (count < room) {
        char *end;
        if (*text < '0' || *text > '9')
            return 0;
        numbers[count++] = strtoull(text, &end, 10);
        if (*end == '\0')
            return count;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

int sw_h5_choice(const char *text, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

void sw_h5_applied(char *text, size_t bytes, const char *object, const char *key,
                   const char *value)
{
    size_t used = strlen(text);
    int more =
        snprintf(text + used, bytes - used, "%s%s%s=%s\n", object, *object ? ":" : "", key, value);
    if (more < 0 || used + (size_t)more >= bytes)
        text[used] = '\0';
}

void sw_h5_refused(const char *object, const char *key, const char *value, const char *why)
{
    char note[512];
    if (why == NULL)
        why = "HDF5 refuses the value";
    snprintf(note, sizeof note, "%s: %s", key, why);
    if (!sw_once(SW_LAYER_HDF5, note))
        return;
    snprintf(note, sizeof note, "HDF5 %s=%s is not applied to %s: %s", key, value,
             object[0] != '\0' ? object : "a dataset without a name", why);
    sw_note(note);
}

/* ---- HDF5's error reporting belongs to the program, and is restored ----------------------- */

#define DEFAULT_STACK 0

void sw_h5_quiet_begin(const struct sw_h5 *h5, struct sw_h5_quiet *quiet)
{
    unsigned version_2 = 1;
    sw_inside_begin();
    *quiet = (struct sw_h5_quiet){0};
    if (h5->H5Eauto_is_v2 != NULL && h5->H5Eset_auto1 != NULL && h5->H5Eget_auto1 != NULL)
        (void)h5->H5Eauto_is_v2(DEFAULT_STACK, &version_2);
    quiet->version_1 = version_2 == 0;
    if (quiet->version_1) {
        (void)h5->H5Eget_auto1(&quiet->function, &quiet->data);
        (void)h5->H5Eset_auto1(NULL, NULL);
    } else {
        (void)h5->H5Eget_auto2(DEFAULT_STACK, &quiet->function, &quiet->data);
        (void)h5->H5Eset_auto2(DEFAULT_STACK, NULL, NULL);
    }
}

void sw_h5_quiet_end(const struct sw_h5 *h5, const struct sw_h5_quiet *quiet)
{
    if (quiet->version_1)
        (void)h5->H5Eset_auto1(quiet->function, quiet->data);
    else
        (void)h5->H5Eset_auto2(DEFAULT_STACK, quiet->function, quiet->data);
    sw_inside_end();
}

sw_hid sw_h5_errors_save(const struct sw_h5 *h5, bool failed)
{
    if (!failed)
        return -1;
    sw_inside_begin();
    sw_hid saved = h5->H5Eget_current_stack();
    sw_inside_end();
    return saved;
}

void sw_h5_errors_restore(const struct sw_h5 *h5, sw_hid saved)
{
    if (saved < 0)
        return;
    sw_inside_begin();
    (void)h5->H5Eset_current_stack(saved);
    sw_inside_end();
}
