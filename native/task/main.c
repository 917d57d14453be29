/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-task FILE [--] PROGRAM ARG...
 *
 * Becomes the program, in the environment that the file describes, without a shell. If the file
 * cannot be used, the program runs nevertheless, in the unchanged environment. The exit status is
 * that of the program; 127: it was not found, 126: it cannot be executed, 125: there is no PROGRAM
 * in the command.
 *
 * Format of the file of stripewise-task: records that end with a zero byte, and an empty one at
 * the end.
 *
 *   NAME=value              is set; nothing in the value is expanded
 *   NAME                    is unset
 *   @NAME=text              is set; %{VAR} in the text stands for the value that VAR had when
 *                           the task began, or nothing
 *   +LD_PRELOAD=/lib.so     comes before what is preloaded, or takes the place of a library with
 *                           the same base name
 *
 * src/stripewise/run/runtime/_environment.py writes it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SW_TASK_BYTES (1 << 20) /* maximum size of a file */

enum { NO_COMMAND = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

extern char **environ;

/* ---- messages ---------------------------------------------------------------------------- */

/* Prints one line. The reader may be gone: a signal that results from it is discarded. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[1024];
    sigset_t broken, before, pending;
    va_list arguments;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &broken, &before);
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    size_t bytes = length < 0 ? 0 : strlen(line);
    line[bytes] = '\n';
    if (write(STDERR_FILENO, line, bytes + 1) < 0 && errno == EPIPE &&
        sigismember(&pending, SIGPIPE) == 0)
        sigtimedwait(&broken, NULL, &(struct timespec){0, 0});
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Returns whether this rank prints: one line for all ranks is enough. */
static int speaks(void)
{
    static const char *const ranks[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank != NULL && *rank != '\0')
            return strcmp(rank, "0") == 0;
    }
    return 1;
}

static void complain(const char *file, const char *why)
{
    if (speaks())
        say("stripewise-task: %s: %s; the program runs without it", file, why);
}

/* ---- the file ---------------------------------------------------------------------------- */

static char text[SW_TASK_BYTES + 1];

/* Others must not be able to determine what is preloaded. */
static const char *refused(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no regular file";
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return "it belongs to another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "others can write to it";
    return status.st_size > SW_TASK_BYTES ? "it is too large" : NULL;
}

static const char *read_all(int fd, size_t *bytes)
{
    ssize_t moved;
    *bytes = 0;
    while ((moved = read(fd, text + *bytes, sizeof text - *bytes)) != 0) {
        if (moved > 0)
            *bytes += (size_t)moved;
        else if (errno != EINTR)
            return strerror(errno);
    }
    return *bytes > SW_TASK_BYTES ? "it is too large" : NULL;
}

static const char *read_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    const char *why = refused(fd);
    if (why == NULL)
        why = read_all(fd, bytes);
    close(fd);
    return why;
}

/* ---- applying records to the environment -----------------------------------------------------
 */

#define PRELOAD "LD_PRELOAD"
#define SEPARATORS ": " /* in it; ld.so(8) */

struct list {
    char **entries;
    size_t count;
};

static char built[2 * SW_TASK_BYTES];
static size_t used;

static bool add(const char *text, size_t bytes)
{
    if (bytes > sizeof built - used)
        return false;
    memcpy(built + used, text, bytes);
    used += bytes;
    return true;
}

static bool is_of(const char *entry, const char *name, size_t bytes)
{
    return strncmp(entry, name, bytes) == 0 && entry[bytes] == '=';
}

static const char *value_in(char *const *entries, size_t count, const char *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (is_of(entries[i], name, bytes))
            return entries[i] + bytes + 1;
    return NULL;
}

static void drop(struct list *list, const char *name, size_t bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!is_of(list->entries[i], name, bytes))
            list->entries[kept++] = list->entries[i];
    list->count = kept;
}

static void put(struct list *list, char *entry)
{
    drop(list, entry, strcspn(entry, "="));
    list->entries[list->count++] = entry;
}

static const char too_long[] = "its variables are too long";
static const char damaged[] = "it is damaged";

/* `record`: the name, followed by the text after "=". */
static const char *expand(struct list *list, char **present, const char *record)
{
    char *entry = built + used;
    const char *text = strchr(record, '=') + 1;
    size_t n_present = 0;
    while (present[n_present] != NULL)
        n_present++;
    if (!add(record, (size_t)(text - record)))
        return too_long;
    for (const char *next; (next = strstr(text, "%{")) != NULL; text = next + 1) {
        bool fits = add(text, (size_t)(next - text));
        const char *name = next + 2;
        next = strchr(name, '}');
        if (next == NULL)
            return damaged;
        const char *value = value_in(present, n_present, name, (size_t)(next - name));
        if (!fits || (value != NULL && !add(value, strlen(value))))
            return too_long;
    }
    if (!add(text, strlen(text) + 1))
        return too_long;
    put(list, entry);
    return NULL;
}

static const char *base_of(const char *path, size_t bytes)
{
    const char *slash = memrchr(path, '/', bytes);
    return slash != NULL ? slash + 1 : path;
}

static bool is_same_library(const char *one, size_t bytes, const char *other)
{
    const char *base = base_of(one, bytes);
    const char *wanted = base_of(other, strlen(other));
    size_t length = (size_t)(one + bytes - base);
    return length == strlen(wanted) && memcmp(base, wanted, length) == 0;
}

/* Writes the preload list with the library in place of those with its base name; *found: whether
 * there is one. */
static bool replace(const char *present, const char *library, bool *found)
{
    *found = false;
    while (*(present += strspn(present, SEPARATORS)) != '\0') {
        size_t bytes = strcspn(present, SEPARATORS);
        bool is_same = is_same_library(present, bytes, library);
        if (is_same && !*found && !(add(library, strlen(library)) && add(":", 1)))
            return false;
        if (!is_same && !(add(present, bytes) && add(":", 1)))
            return false;
        *found |= is_same;
        present += bytes;
    }
    return true;
}

static const char *preload(struct list *list, const char *library)
{
    const char *present = value_in(list->entries, list->count, PRELOAD, strlen(PRELOAD));
    char *entry = built + used;
    bool found;
    if (*library == '\0' || strpbrk(library, SEPARATORS) != NULL)
        return damaged;
    if (!add(PRELOAD "=", strlen(PRELOAD "=")))
        return too_long;
    size_t begin = used;
    if (!replace(present != NULL ? present : "", library, &found))
        return too_long;
    if (!found) { /* a second time, after it */
        used = begin;
        if (!add(library, strlen(library)) || !add(":", 1) ||
            !replace(present != NULL ? present : "", library, &found))
            return too_long;
    }
    built[used - 1] = '\0';
    put(list, entry);
    return NULL;
}

static const char *apply(struct list *list, char **present, char *record)
{
    char kind = *record;
    const char *name = record + (kind == '@' || kind == '+');
    size_t bytes = strcspn(name, "=");
    if (bytes == 0 || (name != record && name[bytes] == '\0'))
        return damaged;
    if (kind == '@')
        return expand(list, present, name);
    if (kind == '+')
        return is_of(name, PRELOAD, strlen(PRELOAD)) ? preload(list, name + bytes + 1) : damaged;
    if (name[bytes] == '=')
        put(list, record);
    else
        drop(list, name, bytes);
    return NULL;
}

static size_t count_records(const char *text, size_t bytes)
{
    size_t records = 0;
    for (const char *end; (end = memchr(text, '\0', bytes)) != NULL; records++) {
        bytes -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    return records;
}

/* Applies the records of a file to the environment `present`, in memory of its own and in that of
 * `text`. Returns NULL if it has succeeded, otherwise the reason why not. */
static const char *make_environment(char *text, size_t bytes, char **present, char ***made)
{
    const char *end = text + bytes;
    struct list list = {.count = 0};
    const char *why = NULL;
    if (bytes == 0 || end[-1] != '\0' || (bytes > 1 && end[-2] != '\0'))
        return damaged;
    while (present[list.count] != NULL)
        list.count++;
    list.entries = calloc(list.count + count_records(text, bytes) + 1, sizeof *list.entries);
    if (list.entries == NULL)
        return "there is no memory";
    memcpy(list.entries, present, list.count * sizeof *present);
    for (; why == NULL && *text != '\0'; text += strlen(text) + 1)
        why = apply(&list, present, text);
    if (why == NULL && text != end - 1) /* an empty record, followed by more */
        why = damaged;
    list.entries[list.count] = NULL;
    *made = list.entries;
    return why;
}

/* ---- the program ------------------------------------------------------------------------- */

/* Finds a program like srun: on PATH, then in the working directory (srun(1)). Returns an errno.
 * */
static int execute(char **program)
{
    char here[PATH_MAX];
    execvp(program[0], program);
    int error = errno;
    int length = snprintf(here, sizeof here, "./%s", program[0]);
    if (error == ENOENT && strchr(program[0], '/') == NULL && length < (int)sizeof here) {
        execv(here, program);
        error = errno;
    }
    return error;
}

static int become(char **program, const char *file, char **original)
{
    int error = execute(program);
    if (error == E2BIG && environ != original) {
        complain(file, "its variables are too long");
        environ = original;
        error = execute(program);
    }
    say("stripewise-task: %s: %s", program[0], strerror(error));
    return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

int main(int count, char **arguments)
{
    char **original = environ;
    char **made;
    size_t bytes = 0;
    int begins = count > 2 && strcmp(arguments[2], "--") == 0 ? 3 : 2;
    if (count <= begins) {
        say("stripewise-task: no program; use: stripewise-task FILE [--] PROGRAM ARG...");
        return NO_COMMAND;
    }
    const char *why = read_file(arguments[1], &bytes);
    if (why == NULL)
        why = make_environment(text, bytes, original, &made);
    if (why == NULL)
        environ = made;
    else
        complain(arguments[1], why);
    return become(arguments + begins, arguments[1], original);
}
