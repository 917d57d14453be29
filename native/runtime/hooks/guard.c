/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_WRITABLE: a trial must not change the user's files. Outside of the writable directories,
 * nothing is created, and an existing file may only be changed if this run created it: its birth
 * (or, if the file system does not record it, its last change) is not older than the run. New
 * files are permitted in directories that this run created, in temporary ones, and in hidden ones
 * of the user, in which programs store their own data. Links are followed to the file that would
 * really change.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "hook.h"
#include "places.h"
#include "refused.h"

#define MAX_DIRECTORIES 32
#define MAX_LINKS 16 /* leading to a file that does not exist yet */
/* Clocks of two file systems (local and network) may differ by this much. */
#define CLOCK_SLACK_NS UINT64_C(2000000000)

struct directories {
    char paths[MAX_DIRECTORIES][512];
    size_t n;
};
static struct directories writable;
static struct directories temporary;
static struct directories caches;
static struct directories home; /* one, or none */

static void add_directory(struct directories *to, const char *text, size_t bytes)
{
    if (to->n < MAX_DIRECTORIES && bytes != 0 &&
        sw_real_directory(text, bytes, to->paths[to->n], sizeof to->paths[0]))
        to->n++;
}

static void add_directories(struct directories *to, const char *list)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ":");
        add_directory(to, list, length);
        list += length;
        list += *list == ':';
    }
}

static void add_variable(struct directories *to, const char *name)
{
    const char *value = getenv(name);
    if (value != NULL && *value == '/')
        add_directory(to, value, strlen(value));
}

static void load_temporary(void)
{
    const char *given = getenv(SW_ENV_TEMPORARY);
    if (given != NULL && *given != '\0') {
        add_directories(&temporary, given);
        return;
    }
    add_directories(&temporary, "/tmp:/var/tmp");
    add_variable(&temporary, "TMPDIR");
    add_variable(&temporary, "SLURM_TMPDIR");
    add_directories(&caches, "/run");
    add_variable(&caches, "XDG_CACHE_HOME");
    add_variable(&home, "HOME");
}

/* The site's own scripts around a task or step (TaskProlog, SrunEpilog and the like) inherit its
 * environment. Those before a task are started by its process, which still belongs to Slurm, and
 * know its number; srun starts nothing else. */
static bool is_of_slurm(void)
{
    char path[40];
    char name[32] = "";
    const char *task = getenv("SLURM_TASK_PID");
    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    int fd = sw_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    ssize_t bytes = sw_sys_read(fd, name, sizeof name - 1);
    sw_sys_close(fd);
    name[bytes > 0 ? bytes : 0] = '\0';
    if (strncmp(name, "slurmstepd", 10) == 0)
        return task != NULL && atoi(task) != (int)sw_sys_getpid();
    return strcmp(name, "srun\n") == 0;
}

static uint32_t load(void)
{
    const char *value = getenv(SW_ENV_WRITABLE);
    if (value == NULL || *value == '\0')
        return 0;
    if (is_of_slurm()) { /* and so are its children */
        unsetenv(SW_ENV_WRITABLE);
        unsetenv(SW_ENV_REFUSED);
        return 0;
    }
    add_directories(&writable, value);
    load_temporary();
    sw_refused_load();
    return SW_ACTION_BIT(SW_DO_OPEN) | SW_ACTION_BIT(SW_DO_TRUNCATE) |
           SW_ACTION_BIT(SW_DO_UNLINK) | SW_ACTION_BIT(SW_DO_RMDIR) | SW_ACTION_BIT(SW_DO_RENAME) |
           SW_ACTION_BIT(SW_DO_LINK) | SW_ACTION_BIT(SW_DO_SYMLINK) | SW_ACTION_BIT(SW_DO_MKDIR) |
           SW_ACTION_BIT(SW_DO_CHANGE);
}

static bool is_below_one(const char *path, const struct directories *directories)
{
    for (size_t i = 0; i < directories->n; i++) {
        if (sw_is_below(path, directories->paths[i]))
            return true;
    }
    return false;
}

static bool is_writable_place(const char *path)
{
    return sw_is_below(path, "/dev") || sw_is_below(path, "/proc") || sw_is_below(path, "/sys") ||
           is_below_one(path, &writable);
}

/* Names of directories in a temporary one that all programs of a kind share. */
static bool is_shared_name(const char *name)
{
    static const char *const beginnings[] = {
        ".", "ompi.", "openmpi-sessions-", "prte.", "pmix", "hsperfdata_", "slurm",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

/* A directory in it that existed before belongs to somebody, and takes no new files. */
static bool is_temporary(const char *directory)
{
    for (size_t i = 0; i < temporary.n; i++) {
        const char *top = temporary.paths[i];
        const char *below = directory + strlen(top);
        if (sw_is_below(directory, top) && (*below == '\0' || is_shared_name(below + 1)))
            return true;
    }
    return false;
}

/* Returns whether a directory that this run did not create takes new files of anybody. */
static bool takes_new_files(const char *directory)
{
    bool is_of_a_program = home.n != 0 && sw_is_below(directory, home.paths[0]) &&
                           strncmp(directory + strlen(home.paths[0]), "/.", 2) == 0;
    return is_of_a_program || is_writable_place(directory) || is_temporary(directory) ||
           is_below_one(directory, &caches) || strstr(directory, "/__pycache__") != NULL;
}

static bool made_by_this_run(const struct statx *status)
{
    struct statx_timestamp when =
        (status->stx_mask & STATX_BTIME) != 0 ? status->stx_btime : status->stx_ctime;
    uint64_t when_ns = (uint64_t)when.tv_sec * UINT64_C(1000000000) + when.tv_nsec;
    bool same_clock =
        makedev(status->stx_dev_major, status->stx_dev_minor) == sw_options.run_device;
    return when_ns + (same_clock ? 0 : CLOCK_SLACK_NS) >= sw_options.run_start_ns;
}

/* Checks the file behind `fd` (O_PATH). Call under the lock; leaves its path in sw_scratch[0]. */
static bool must_not_change(int fd)
{
    struct statx status;
    char *path = sw_scratch[0];
    if (sw_sys_statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
                     STATX_TYPE | STATX_BTIME | STATX_CTIME, &status) != 0)
        return false;
    bool guarded_type =
        S_ISREG(status.stx_mode) || S_ISDIR(status.stx_mode) || S_ISLNK(status.stx_mode);
    return guarded_type && !made_by_this_run(&status) &&
           sw_real_path(fd, path, sizeof sw_scratch[0]) != 0 && !is_writable_place(path);
}

/* ---- names that are not there yet -------------------------------------------------------- */

/* Replaces a name in `path` by the target of its link; returns false if there is no room. */
static bool follow_link(char *path, const char *target, size_t room)
{
    char *slash = *target != '/' ? strrchr(path, '/') : NULL;
    size_t kept = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    size_t bytes = strlen(target);
    if (kept + bytes >= room)
        return false;
    memcpy(path + kept, target, bytes + 1);
    return true;
}

/* Returns the name at the end of a path, after removing trailing slashes. */
static char *last_name(char *path)
{
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/')
        path[--bytes] = '\0';
    char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Writes the real path of the directory in which a name would be created to sw_scratch[0]; returns
 * false if there is none. *name: the name in that directory, a part of `path`; *is_ours: this run
 * created the directory. */
static bool find_directory(int directory, char *path, char **name, bool *is_ours)
{
    struct statx status;
    *name = last_name(path);
    char first = **name;
    **name = '\0';
    int fd =
        sw_sys_openat(directory, *path != '\0' ? path : ".", O_PATH | O_CLOEXEC | O_DIRECTORY, 0);
    **name = first;
    if (fd < 0)
        return false;
    bool found = sw_real_path(fd, sw_scratch[0], sizeof sw_scratch[0]) != 0;
    *is_ours = sw_sys_statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_CTIME, &status) == 0 &&
               made_by_this_run(&status) &&
               /* without a birth, any file in it that came or went looks like that */
               ((status.stx_mask & STATX_BTIME) != 0 || is_below_one(sw_scratch[0], &temporary));
    sw_sys_close(fd);
    return found;
}

/* Checks a name that the kernel has looked up but not found. Call under the lock; leaves its path
 * in sw_scratch[0]. */
static bool must_not_be_made(const struct sw_place *place, bool follow)
{
    char *path = sw_scratch[1];
    char *name;
    bool is_ours;
    size_t bytes = strnlen(place->path, PATH_MAX);
    if (bytes == 0 || bytes == PATH_MAX)
        return false;
    memcpy(path, place->path, bytes + 1);
    for (int i = 0; follow && i < MAX_LINKS; i++) {
        char *target = sw_scratch[0];
        ssize_t length = sw_sys_readlinkat(place->directory, path, target, PATH_MAX);
        if (length <= 0 || length >= PATH_MAX)
            break;
        target[length] = '\0';
        if (!follow_link(path, target, sizeof sw_scratch[1]))
            return true;
    }
    if (!find_directory(place->directory, path, &name, &is_ours) || is_ours ||
        takes_new_files(sw_scratch[0]))
        return false;
    size_t used = strlen(sw_scratch[0]);
    snprintf(sw_scratch[0] + used, sizeof sw_scratch[0] - used, "%s%s",
             sw_scratch[0][used - 1] == '/' ? "" : "/", name);
    return !is_below_one(sw_scratch[0], &writable); /* which may not exist yet itself */
}

/* ---- requests ---------------------------------------------------------------------------- */

enum refusal { GRANTED, CHANGES_OLD, MAKES_NEW };

static int open_place(const struct sw_place *place, bool follow)
{
    return sw_sys_openat(place->directory, place->path,
                         O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
}

/* `makes`: a missing file is created; `changes`: an existing file is changed. */
static enum refusal judge_place(const struct sw_place *place, bool follow, bool makes,
                                bool changes)
{
    int fd = open_place(place, follow);
    if (fd < 0)
        return makes && errno == ENOENT && must_not_be_made(place, follow) ? MAKES_NEW : GRANTED;
    bool refused = changes && must_not_change(fd);
    sw_sys_close(fd);
    return refused ? CHANGES_OLD : GRANTED;
}

static enum refusal judge_names(const struct sw_request *request)
{
    bool renames = request->action == SW_DO_RENAME;
    if (request->action != SW_DO_SYMLINK) { /* whose first name is any text */
        int fd = open_place(&request->target, request->follow);
        bool refused = fd >= 0 && must_not_change(fd);
        if (fd < 0)
            return GRANTED; /* it fails by itself */
        sw_sys_close(fd);
        if (refused)
            return CHANGES_OLD;
    }
    return judge_place(&request->second, false, true, renames); /* replaced by a rename */
}

static enum refusal judge(const struct sw_request *request)
{
    bool makes = request->action == SW_DO_OPEN && (request->flags & O_CREAT) != 0;
    bool is_new = makes && (request->flags & O_EXCL) != 0;
    bool writes = (request->flags & O_ACCMODE) != O_RDONLY || (request->flags & O_TRUNC) != 0;
    if (request->fd >= 0)
        return must_not_change(request->fd) ? CHANGES_OLD : GRANTED;
    switch (request->action) {
    case SW_DO_RENAME:
    case SW_DO_LINK:
    case SW_DO_SYMLINK:
        return judge_names(request);
    case SW_DO_MKDIR:
        return judge_place(&request->target, false, true, false);
    case SW_DO_OPEN:
        return judge_place(&request->target, request->follow && !is_new, makes, writes && !is_new);
    default:
        return judge_place(&request->target, request->follow, false, true);
    }
}

static void note_refusal(enum refusal refusal)
{
    char *text = sw_scratch[1];
    bool is_old = refusal == CHANGES_OLD;
    sw_refused_tell(is_old ? SW_REFUSED_CHANGE : SW_REFUSED_NEW, sw_scratch[0]);
    snprintf(text, sizeof sw_scratch[1], "refused to %s %s: %s", is_old ? "change" : "make",
             sw_scratch[0],
             is_old ? "it existed before the run" : "it is outside of the run's directory");
    sw_note_locked(text);
}

static enum refusal refusal_of(const struct sw_request *request)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return GRANTED;
    enum refusal refusal = judge(request);
    if (refusal != GRANTED)
        note_refusal(refusal);
    sw_unlock(&guarded);
    return refusal;
}

/* Many requests to open a file or read a symbolic link only read. A file without a name belongs to
 * nobody yet. */
static bool changes(const struct sw_request *request)
{
    int flags = request->flags;
    if (request->action == SW_DO_SYMLINK)
        return request->second.path != NULL;
    if (request->action != SW_DO_OPEN)
        return true;
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT)) != 0;
    return writes && (flags & O_TMPFILE) != O_TMPFILE;
}

/* A second name inside would permit writing to the file outside: programs that link can handle
 * "another file system". */
static bool before(struct sw_request *request)
{
    enum refusal refusal = changes(request) ? refusal_of(request) : GRANTED;
    if (refusal == GRANTED)
        return true;
    sw_process_flag(SW_PROCESS_GUARD_HIT);
    request->result = -1;
    request->error = request->action == SW_DO_LINK && refusal == CHANGES_OLD ? EXDEV : EROFS;
    return false;
}

const struct sw_hook sw_hook_guard = {
    .name = "guard",
    .load = load,
    .before = before,
    .after = sw_hook_after_nothing,
};
