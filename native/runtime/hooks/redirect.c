/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_REDIRECT, "FROM=TO:FROM=TO": paths below the directory FROM are looked up below TO. If
 * the last component of FROM contains "*" or "?", only files directly in its directory with a
 * matching name are redirected; those that are not in TO are used where they are. FROM and TO are
 * absolute. The first matching pair applies. What the program requests is counted under its
 * original name.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "hook.h"
#include "places.h"

#define MAX_PAIRS 16
#define PATH_ACTIONS (SW_ACTION_BIT(SW_DO_FIRST_DATA) - 1)

static char text[4096];  /* the program may change its environment */
static char reals[4096]; /* directories of patterns, with links resolved */
static struct pair {
    const char *from;
    const char *real; /* without links: what relative names become; NULL: same as `from` */
    const char *to;
    const char *pattern; /* for names in `from`; NULL: everything below it */
} pairs[MAX_PAIRS];
static size_t n_pairs;

/* ---- the variable ------------------------------------------------------------------------ */

static const char *real_of(const char *directory)
{
    static size_t used;
    char *out = reals + used;
    if (!sw_real_directory(directory, strlen(directory), out, sizeof reals - used) ||
        strcmp(out, directory) == 0)
        return NULL;
    used += strlen(out) + 1;
    return out;
}

/* Cuts off the last name of FROM if it is a pattern; returns false if its directory is one as
 * well. */
static bool take_pattern(struct pair *pair, char *from)
{
    char *slash = strrchr(from, '/');
    if (strpbrk(slash, "*?") == NULL)
        return true;
    *slash = '\0';
    pair->pattern = slash + 1;
    pair->real = *from != '\0' ? real_of(from) : NULL;
    return strpbrk(from, "*?") == NULL;
}

static bool add_pair(char *written)
{
    char *to = strchr(written, '=');
    if (to == NULL || written[0] != '/' || to[1] != '/' || n_pairs == MAX_PAIRS)
        return false;
    *to++ = '\0';
    struct pair pair = {.from = written, .to = to};
    if (!take_pattern(&pair, written))
        return false;
    pairs[n_pairs++] = pair;
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

/* ---- which pair fits --------------------------------------------------------------------- */

/* "*" matches any bytes, "?" a single one. */
static bool matches(const char *pattern, const char *name)
{
    const char *star = NULL;
    const char *tried = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            tried = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) { /* the last star matches one more */
            pattern = star + 1;
            name = ++tried;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

static bool fits(const struct pair *pair, const char *directory, const char *path)
{
    size_t bytes = strlen(directory);
    const char *rest = path + bytes;
    if (strncmp(path, directory, bytes) != 0)
        return false;
    if (pair->pattern == NULL)
        return *rest == '/' || *rest == '\0';
    return *rest == '/' && strchr(rest + 1, '/') == NULL && matches(pair->pattern, rest + 1);
}

/* *directory: that of the pair with which the path begins. */
static const struct pair *find(const char *path, bool is_directory, const char **directory)
{
    for (size_t i = 0; i < n_pairs; i++) {
        const struct pair *pair = &pairs[i];
        if (is_directory && pair->pattern != NULL)
            continue;
        *directory = pair->from;
        if (fits(pair, pair->from, path))
            return pair;
        *directory = pair->real;
        if (pair->real != NULL && fits(pair, pair->real, path))
            return pair;
    }
    return NULL;
}

/* ---- the other place --------------------------------------------------------------------- */

/* Returns S_IFREG and so on; 0 if there is no file. */
static mode_t type_of(const char *path)
{
    struct statx status;
    int saved_errno = errno;
    bool found = sw_sys_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_TYPE,
                              &status) == 0;
    errno = saved_errno;
    return found ? status.stx_mode & S_IFMT : 0;
}

/* Replaces in place; the room is known to be sufficient. */
static void exchange(char *path, const char *from, const char *to)
{
    char *rest = path + strlen(from);
    memmove(path + strlen(to), rest, strlen(rest) + 1);
    memcpy(path, to, strlen(to));
}

static void note_kept(void)
{
    static bool noted;
    if (!__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED))
        sw_note(SW_ENV_REDIRECT ": a file that the program goes on with was in its own directory "
                                "only: it stays there");
}

/* A file of a pattern that is only in its own directory, not in the other one, is used there,
 * unless it is created anew. */
static bool exchange_name(char *path, const char *from, const char *to,
                          enum sw_redirection purpose)
{
    bool asks = purpose == SW_REDIRECT_KEEP || purpose == SW_REDIRECT_STORAGE;
    mode_t here = asks ? type_of(path) : 0;
    if (purpose == SW_REDIRECT_STORAGE && S_ISDIR(here))
        return false;
    exchange(path, from, to);
    if (purpose == SW_REDIRECT_MAKE || type_of(path) != 0)
        return true;
    if (purpose == SW_REDIRECT_STORAGE)
        path[strlen(to)] = '\0'; /* the place where it will be */
    if (purpose == SW_REDIRECT_STORAGE || (purpose == SW_REDIRECT_KEEP && here == 0))
        return true;
    exchange(path, to, from);
    if (S_ISREG(here))
        note_kept();
    return false;
}

bool sw_redirected(char *path, size_t bytes, size_t room, enum sw_redirection purpose)
{
    const char *from;
    const struct pair *pair = find(path, purpose == SW_REDIRECT_DIRECTORY, &from);
    if (pair == NULL || bytes - strlen(from) + strlen(pair->to) + 1 > room)
        return false;
    if (pair->pattern != NULL)
        return exchange_name(path, from, pair->to, purpose);
    exchange(path, from, pair->to);
    return true;
}

/* ---- the member -------------------------------------------------------------------------- */

/* A program that opens its output with MPI-IO cannot state there that it starts anew. */
static enum sw_redirection purpose_of_open(int flags)
{
    bool is_mpiio = (sw_thread.active & 1u << SW_LAYER_MPIIO) != 0;
    if ((flags & O_CREAT) == 0)
        return SW_REDIRECT_FIND;
    return is_mpiio || (flags & (O_TRUNC | O_EXCL)) != 0 ? SW_REDIRECT_MAKE : SW_REDIRECT_KEEP;
}

static enum sw_redirection purpose_of(const struct sw_request *request)
{
    switch (request->action) {
    case SW_DO_OPEN:
        return purpose_of_open(request->flags);
    case SW_DO_STATFS:
        return SW_REDIRECT_STORAGE;
    case SW_DO_MKDIR:
    case SW_DO_RMDIR:
    case SW_DO_LIST:
        return SW_REDIRECT_DIRECTORY;
    default:
        return SW_REDIRECT_FIND;
    }
}

/* *stays: a pair matches, but the file is not there. */
static bool redirect(struct sw_request *request, struct sw_place *place, unsigned which,
                     enum sw_redirection purpose, bool *stays)
{
    const char *from;
    *stays = false;
    if (!sw_path_is_readable(place->path) || place->path[0] == '\0')
        return true;
    char *room = sw_request_room(request, which);
    if (room == NULL) {
        request->result = -1;
        request->error = ENOMEM;
        return false;
    }
    size_t bytes = sw_path_absolute(place->directory, place->path, room, PATH_MAX);
    if (bytes != 0 && sw_redirected(room, bytes, PATH_MAX, purpose))
        *place = (struct sw_place){AT_FDCWD, room};
    else
        *stays = bytes != 0 && find(room, false, &from) != NULL;
    return true;
}

/* The content of a symbolic link is only text. A file that stays where it is can get another name
 * there. */
static bool before(struct sw_request *request)
{
    bool is_text = request->action == SW_DO_SYMLINK && request->second.path != NULL;
    bool stays = false;
    return (is_text || redirect(request, &request->target, 0, purpose_of(request), &stays)) &&
           redirect(request, &request->second, 1, stays ? SW_REDIRECT_FIND : SW_REDIRECT_MAKE,
                    &stays);
}

const struct sw_hook sw_hook_redirect = {
    .name = "redirect",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
