/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * stripewise-task FILE [--] PROGRAM ARG...
 *
 * Becomes the program, in the environment that the file describes (task.h); no shell takes part.
 * A file that cannot be used does not keep the program from running, in the environment as it is.
 * The exit status is the program's; 127: it was not found, 126: it cannot be executed, 125: there
 * is no PROGRAM in the command.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NO_COMMAND = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

extern char **environ;

/* ---- messages ---------------------------------------------------------------------------- */

/* One line; whoever reads it may have gone: a signal that comes of it is taken back. */
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

/* One line for all ranks is enough, where there are any. */
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

/* Others must not be able to say what is preloaded. */
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

/* ---- the program ------------------------------------------------------------------------- */

/* As srun finds a program: on PATH, then in the working directory (srun(1)).  Returns an errno. */
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
        why = sw_task_environment(text, bytes, original, &made);
    if (why == NULL)
        environ = made;
    else
        complain(arguments[1], why);
    return become(arguments + begins, arguments[1], original);
}
