/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_REDIRECT, "FROM=TO:FROM=TO": what is below the directory FROM is looked for below TO.
 * Both are absolute.  The first pair that fits counts.  What the program asks for is counted
 * under its own name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "hook.h"

#define MAX_PAIRS 16
#define PATH_ACTIONS (SW_ACTION_BIT(SW_DO_FIRST_DATA) - 1)

static char text[4096]; /* the program may change its environment */
static struct {
    const char *from;
    const char *to;
} pairs[MAX_PAIRS];
static size_t n_pairs;

static bool add_pair(char *pair)
{
    char *to = strchr(pair, '=');
    if (to == NULL || pair[0] != '/' || to[1] != '/' || n_pairs == MAX_PAIRS)
        return false;
    *to++ = '\0';
    pairs[n_pairs].from = pair;
    pairs[n_pairs++].to = to;
    return true;
}

static uint32_t load(void)
{
    const char *value = getenv(SW_ENV_REDIRECT);
    if (value == NULL || *value == '\0')
        return 0;
    bool good = strlen(value) < sizeof text;
    char *rest = good ? strcpy(text, value) : NULL;
    for (char *pair = strsep(&rest, ":"); good && pair != NULL; pair = strsep(&rest, ":"))
        good = add_pair(pair);
    if (!good)
        sw_note(SW_ENV_REDIRECT " is not /FROM=/TO:..., or has too many of them");
    return n_pairs != 0 ? PATH_ACTIONS : 0;
}

/* `path` in `room` with TO for FROM; false if no pair fits, or it does not fit in there. */
static bool replace(char *path, size_t bytes, size_t room)
{
    for (size_t i = 0; i < n_pairs; i++) {
        size_t from = strlen(pairs[i].from);
        size_t to = strlen(pairs[i].to);
        if (strncmp(path, pairs[i].from, from) != 0 || (path[from] != '/' && path[from] != '\0'))
            continue;
        if (bytes - from + to + 1 > room)
            return false;
        memmove(path + to, path + from, bytes - from + 1);
        memcpy(path, pairs[i].to, to);
        return true;
    }
    return false;
}

static bool redirect(struct sw_request *request, struct sw_place *place, unsigned which)
{
    if (!sw_path_is_readable(place->path) || place->path[0] == '\0')
        return true;
    char *room = sw_request_room(request, which);
    if (room == NULL) {
        request->result = -1;
        request->error = ENOMEM;
        return false;
    }
    size_t bytes = sw_path_absolute(place->directory, place->path, room, PATH_MAX);
    if (bytes != 0 && replace(room, bytes, PATH_MAX))
        *place = (struct sw_place){AT_FDCWD, room};
    return true;
}

/* What a symbolic link holds is a text. */
static bool before(struct sw_request *request)
{
    return (request->action == SW_DO_SYMLINK || redirect(request, &request->target, 0)) &&
           redirect(request, &request->second, 1);
}

const struct sw_hook sw_hook_redirect = {
    .name = "redirect",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
