/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Names of files: their absolute form, and which ones are recorded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "internal.h"
#include "system.h"

const char *sw_path_without_prefix(const char *path)
{
    static const char *const prefixes[] = {
        "ufs:",   "nfs:",    "xfs:",    "gpfs:",   "lustre:",     "panfs:",
        "pvfs2:", "pfs:",    "testfs:", "daos:",   "ime:",        "quobyte:",
        "piofs:", "zoidfs:", "sfs:",    "beegfs:", "bglockless:",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], length) == 0)
            return path + length;
    }
    return path;
}

/* ---- the working directory --------------------------------------------------------------- */

/* Read without a lock, whenever names are used; `sequence` is odd while it is written. */
static struct {
    uint32_t sequence;
    uint32_t changes; /* the value of `changes` for which it is valid */
    size_t bytes;     /* 0: none */
    char path[PATH_MAX];
} cwd;
static uint32_t changes = 1;
static uint32_t unsteady;

void sw_cwd_changed(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_ACQ_REL);
}

void sw_cwd_unsteady(int more)
{
    __atomic_fetch_add(&unsteady, (uint32_t)more, __ATOMIC_ACQ_REL);
    sw_cwd_changed();
}

uint32_t sw_cwd_version(void)
{
    return __atomic_load_n(&unsteady, __ATOMIC_RELAXED) == 0
               ? __atomic_load_n(&changes, __ATOMIC_ACQUIRE)
               : 0;
}

static bool is_known(void)
{
    return cwd.bytes != 0 && cwd.changes == __atomic_load_n(&changes, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&unsteady, __ATOMIC_RELAXED) == 0;
}

static size_t known_cwd(char *out, size_t room)
{
    uint32_t sequence = __atomic_load_n(&cwd.sequence, __ATOMIC_ACQUIRE);
    size_t bytes = cwd.bytes;
    if (sequence % 2 != 0 || !is_known() || bytes >= room)
        return 0;
    memcpy(out, cwd.path, bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&cwd.sequence, __ATOMIC_RELAXED) == sequence ? bytes : 0;
}

static size_t ask_cwd(char *out, size_t room)
{
    long length = syscall(SYS_getcwd, out, room); /* counts the terminating zero */
    return length > 1 && out[0] == '/' ? (size_t)length - 1 : 0;
}

void sw_cwd_remember(void)
{
    if (is_known() || !sw_own_process())
        return;
    uint32_t seen = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(&cwd.sequence, 1, __ATOMIC_ACQ_REL);
    cwd.bytes = ask_cwd(cwd.path, sizeof cwd.path);
    cwd.changes = seen;
    __atomic_fetch_add(&cwd.sequence, 1, __ATOMIC_ACQ_REL);
}

/* Writes the path of a directory descriptor to `out`; returns its length or 0. */
static size_t directory_path(int directory, char *out, size_t room)
{
    if (directory == AT_FDCWD) {
        size_t bytes = known_cwd(out, room);
        return bytes != 0 ? bytes : ask_cwd(out, room);
    }
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = sw_sys_readlinkat(AT_FDCWD, link, out, room);
    return length > 0 && (size_t)length < room && out[0] == '/' ? (size_t)length : 0;
}

/* Appends the components of `path`, without "." and empty ones. ".." is kept: its meaning depends
 * on symbolic links. */
static size_t append_components(const char *path, char *out, size_t length, size_t room)
{
    while (*path != '\0') {
        size_t component = strcspn(path, "/");
        if (component != 0 && !(component == 1 && path[0] == '.')) {
            if (length + component + 2 > room)
                return 0;
            out[length++] = '/';
            memcpy(out + length, path, component);
            length += component;
        }
        path += component;
        path += *path == '/';
    }
    out[length] = '\0';
    return length;
}

size_t sw_path_absolute_quick(int directory, const char *path, char *out, size_t room)
{
    size_t length = 0;
    if (path[0] != '/') {
        length = directory == AT_FDCWD ? known_cwd(out, room) : 0;
        if (length == 0)
            return 0;
        if (length == 1)
            length = 0; /* "/" */
    }
    return append_components(path, out, length, room);
}

size_t sw_path_absolute(int directory, const char *path, char *out, size_t room)
{
    size_t length = 0;
    if (path[0] != '/') {
        length = directory_path(directory, out, room);
        if (length == 0)
            return 0;
        if (length == 1)
            length = 0; /* "/" */
    }
    return append_components(path, out, length, room);
}

/* ---- which ones are recorded ---------------------------------------------------------- */

#define MAX_PREFIXES 64
static struct {
    const char *text[MAX_PREFIXES];
    size_t bytes[MAX_PREFIXES];
    size_t count;
} included, excluded;

/* Splits a copy of the value of a variable: the pieces point into it. */
static void load_prefixes(const char *variable, const char **text, size_t *bytes, size_t *count)
{
    const char *value = getenv(variable);
    while (value != NULL && *value != '\0' && *count < MAX_PREFIXES) {
        size_t length = strcspn(value, ":");
        if (length != 0) {
            text[*count] = value;
            bytes[(*count)++] = length;
        }
        value += length;
        value += *value == ':';
    }
}

/* The program may change its environment, so our own copies of the two lists are kept. */
static char kept[2][4096];

static void keep(int slot, const char **text, const size_t *bytes, size_t *count)
{
    size_t used = 0;
    size_t fitting = 0;
    for (size_t i = 0; i < *count; i++) {
        if (used + bytes[i] > sizeof kept[slot])
            break;
        memcpy(kept[slot] + used, text[i], bytes[i]);
        text[i] = kept[slot] + used;
        used += bytes[i];
        fitting++;
    }
    *count = fitting;
}

/* Session directories of Open MPI, with its own shared memory and locks. */
static char sessions[2][80];

/* Interpreters of Python read code as files; for other programs, such as cp, it is data. */
static bool runs_python;

void sw_filter_load(void)
{
    struct utsname system;
    if (uname(&system) == 0) {
        snprintf(sessions[0], sizeof sessions[0], "/ompi.%s.", system.nodename);
        snprintf(sessions[1], sizeof sessions[1], "/prte.%s.", system.nodename);
    }
    load_prefixes(SW_ENV_INCLUDE, included.text, included.bytes, &included.count);
    load_prefixes(SW_ENV_EXCLUDE, excluded.text, excluded.bytes, &excluded.count);
    runs_python = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL;
    keep(0, included.text, included.bytes, &included.count);
    keep(1, excluded.text, excluded.bytes, &excluded.count);
}

/* A prefix ends at a component: "/lib" is not a prefix of "/libraries". */
static bool has_prefix(const char *path, const char *prefix, size_t bytes)
{
    while (bytes > 1 && prefix[bytes - 1] == '/')
        bytes--;
    return strncmp(path, prefix, bytes) == 0 &&
           (path[bytes] == '/' || path[bytes] == '\0' || bytes == 1);
}

static bool in_system_directory(const char *path)
{
#define SW_PREFIX(text) {text, sizeof text - 1}
    static const struct {
        const char *text;
        size_t bytes;
    } prefixes[] = {
        SW_PREFIX("/usr"),   SW_PREFIX("/etc"),   SW_PREFIX("/proc"),   SW_PREFIX("/sys"),
        SW_PREFIX("/dev"),   SW_PREFIX("/bin"),   SW_PREFIX("/sbin"),   SW_PREFIX("/lib"),
        SW_PREFIX("/lib32"), SW_PREFIX("/lib64"), SW_PREFIX("/libx32"), SW_PREFIX("/opt"),
        SW_PREFIX("/boot"),  SW_PREFIX("/run"),
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (path[1] == prefixes[i].text[1] &&
            has_prefix(path, prefixes[i].text, prefixes[i].bytes))
            return true;
    }
    return has_prefix(path, "/var", 4) && !has_prefix(path, "/var/tmp", 8);
}

static bool in_session_directory(const char *path)
{
    return (sessions[0][0] != '\0' && strstr(path, sessions[0]) != NULL) ||
           (sessions[1][0] != '\0' && strstr(path, sessions[1]) != NULL);
}

/* Returns whether ".so.N" is anywhere in the name. */
static bool is_numbered_library(const char *name, size_t length)
{
    for (size_t i = 0; i + 4 < length; i++) {
        if (name[i] == '.' && name[i + 1] == 's' && name[i + 2] == 'o' && name[i + 3] == '.')
            return name[i + 4] >= '0' && name[i + 4] <= '9';
    }
    return false;
}

static bool ends_with(const char *name, size_t length, const char *suffix, size_t bytes)
{
    return length >= bytes && memcmp(name + length - bytes, suffix, bytes) == 0;
}

static bool has_suffix_of_code(const char *name, size_t length)
{
    switch (length > 0 ? name[length - 1] : '\0') {
    case 'y':
        return ends_with(name, length, ".py", 3);
    case 'c':
        return ends_with(name, length, ".pyc", 4);
    case 'h':
        return ends_with(name, length, ".pth", 4);
    case 'o':
        return ends_with(name, length, ".so", 3);
    default:
        return false;
    }
}

/* Returns whether it is code, not data: .py, .pyc, .pth, .so and .so.N in Python. */
__attribute__((hot)) bool sw_filter_is_code(const char *name, size_t length)
{
    return runs_python && (has_suffix_of_code(name, length) || is_numbered_library(name, length));
}

static bool is_code(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return sw_filter_is_code(name, strlen(name));
}

bool sw_filter_wanted(const char *absolute)
{
    for (size_t i = 0; i < included.count; i++) {
        if (has_prefix(absolute, included.text[i], included.bytes[i]))
            return true;
    }
    for (size_t i = 0; i < excluded.count; i++) {
        if (has_prefix(absolute, excluded.text[i], excluded.bytes[i]))
            return false;
    }
    return !in_system_directory(absolute) && !in_session_directory(absolute) && !is_code(absolute);
}

/* A prefix that is longer than a directory decides about single names in it. */
static bool is_above(const char *directory, size_t bytes, const char *prefix, size_t length)
{
    while (length > 1 && prefix[length - 1] == '/')
        length--;
    return length > bytes && memcmp(prefix, directory, bytes) == 0 && prefix[bytes] == '/';
}

enum sw_filtered sw_filter_directory(const char *absolute, size_t bytes)
{
    char directory[512];
    if (bytes <= 1 || bytes >= sizeof directory)
        return SW_FILTERED_BY_NAME;
    memcpy(directory, absolute, bytes);
    directory[bytes] = '\0';
    for (size_t i = 0; i < included.count; i++) {
        if (is_above(directory, bytes, included.text[i], included.bytes[i]))
            return SW_FILTERED_BY_NAME;
    }
    for (size_t i = 0; i < excluded.count; i++) {
        if (is_above(directory, bytes, excluded.text[i], excluded.bytes[i]))
            return SW_FILTERED_BY_NAME;
    }
    for (size_t i = 0; i < included.count; i++) {
        if (has_prefix(directory, included.text[i], included.bytes[i]))
            return SW_FILTERED_NOTHING;
    }
    for (size_t i = 0; i < excluded.count; i++) {
        if (has_prefix(directory, excluded.text[i], excluded.bytes[i]))
            return SW_FILTERED_OUT;
    }
    if (strcmp(directory, "/var") == 0)
        return SW_FILTERED_BY_NAME;
    return in_system_directory(directory) || in_session_directory(directory) ? SW_FILTERED_OUT
                                                                             : SW_FILTERED_CODE;
}
