/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Which storage a name is on. */
#define _GNU_SOURCE
#include "emulator.h"
#include "../core/system.h"
#include "../hooks/places.h"

struct sw_emulator *sw_emulator_of(const char *path)
{
    for (unsigned i = 0; i < sw_emulators_used; i++) {
        const char *root = sw_emulators[i].header->root;
        size_t bytes = sw_emulators[i].root_bytes;
        if (strncmp(path, root, bytes) == 0 &&
            (path[bytes] == '/' || path[bytes] == '\0' || root[bytes - 1] == '/'))
            return &sw_emulators[i];
    }
    return NULL;
}

/* Links in the way are followed by the kernel.  Under the lock. */
static struct sw_emulator *behind_links(char *path)
{
    struct sw_emulator *found = NULL;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int fd =
        sw_sys_openat(AT_FDCWD, slash != path ? path : "/", O_PATH | O_CLOEXEC | O_DIRECTORY, 0);
    if (fd >= 0 && sw_real_path(fd, path, sizeof sw_scratch[0]) != 0)
        found = sw_emulator_of(path);
    if (fd >= 0)
        sw_sys_close(fd);
    return found;
}

static struct sw_emulator *look_up(const struct sw_place *place)
{
    char *path = sw_scratch[0];
    size_t bytes = sw_path_absolute(place->directory, place->path, path, sizeof sw_scratch[0]);
    if (bytes == 0)
        return NULL;
    struct sw_emulator *found = sw_emulator_of(path);
    if (found != NULL && strstr(path, "/..") == NULL)
        return found;
    if (sw_is_below(path, "/proc") || sw_is_below(path, "/sys") || sw_is_below(path, "/dev") ||
        sw_is_below(path, "/usr") || sw_is_below(path, "/etc"))
        return NULL;
    return behind_links(path);
}

struct sw_emulator *sw_emulator_at(const struct sw_place *place)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return NULL;
    struct sw_emulator *found = look_up(place);
    sw_unlock(&guarded);
    return found;
}
