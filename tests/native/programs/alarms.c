/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler writes a file and closes it, by one of some ways, while its signal is pending again:
 *
 *   alarms raise          raises the signal N times, and once more within the handler
 *   alarms itimer|prof|timer [nodefer] [stack] [two]   N files while a timer runs every 0.5 ms
 *   alarms jump           the handler leaves the close of the main program by siglongjmp
 *
 * Prints how many files the main program and the handler have closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FILES 40
#define INTERVAL_NS 500000

static volatile sig_atomic_t handled;
static volatile sig_atomic_t raises; /* within the handler: the signal is pending at its end */
static volatile sig_atomic_t jumps;
static volatile int closed; /* files of the main program */
static sigjmp_buf back;

/* Ends the program with a code and says what failed. */
static void fail(int code, const char *call, const char *name, long result)
{
    const int error = errno;
    jumps = 0;
    dprintf(STDERR_FILENO, "%s of %s: %ld, errno %d; closed %d, handled %d\n", call, name, result,
            error, closed, (int)handled);
    _exit(code);
}

static void write_and_close(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        fail(3, "open", name, fd);
    const long written = write(fd, name, 1);
    if (written != 1)
        fail(3, "write", name, written);
    if (raises > 0) {
        raises--;
        raise(SIGALRM);
    }
    if (close(fd) != 0)
        fail(4, "close", name, fd);
}

static void handle(int number)
{
    char name[] = "handler-0";
    name[8] = (char)('0' + number % 10);
    write_and_close(name);
    handled++;
    if (jumps)
        siglongjmp(back, 1);
}

static int has(int count, char **arguments, const char *word)
{
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], word) == 0)
            return 1;
    return 0;
}

static void start_timer(int number, clockid_t clock)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec often = {{0, INTERVAL_NS}, {0, INTERVAL_NS}};
    if (timer_create(clock, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
        _exit(5);
}

static void start(int count, char **arguments)
{
    struct itimerval often = {{0, INTERVAL_NS / 1000}, {0, INTERVAL_NS / 1000}};
    if (has(count, arguments, "itimer") || has(count, arguments, "jump"))
        setitimer(ITIMER_REAL, &often, NULL);
    if (has(count, arguments, "prof"))
        setitimer(ITIMER_PROF, &often, NULL);
    if (has(count, arguments, "timer"))
        start_timer(SIGRTMIN, CLOCK_MONOTONIC);
    if (has(count, arguments, "two"))
        start_timer(SIGRTMIN + 1, CLOCK_MONOTONIC);
}

static void install(int count, char **arguments)
{
    static char room[65536];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const int numbers[] = {SIGALRM, SIGPROF, SIGRTMIN, SIGRTMIN + 1};
    if (has(count, arguments, "stack") && sigaltstack(&stack, NULL) == 0)
        action.sa_flags |= SA_ONSTACK;
    if (has(count, arguments, "nodefer"))
        action.sa_flags |= SA_NODEFER;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

int main(int count, char **arguments)
{
    install(count, arguments);
    if (sigsetjmp(back, 1) == 0) { /* no handler jumps before it knows where to */
        jumps = has(count, arguments, "jump");
        start(count, arguments);
    } else if (handled > 5 * FILES) {
        jumps = 0;
    }
    while (closed < FILES) { /* begun anew by a jump: nothing in here may be half made */
        const char name[] = {
            'm', 'a', 'i', 'n', '-', (char)('0' + closed / 10), (char)('0' + closed % 10), '\0'};
        if (has(count, arguments, "raise")) {
            raises = 1;
            raise(SIGALRM);
        }
        write_and_close(name);
        closed++;
    }
    jumps = 0;
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d %d\n", closed, handled);
    return 0;
}
