/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler that does I/O, and one that jumps out of a call that is held; then goes on.
 * Prints how many files it has made. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile int jumps;

static void handle(int signal)
{
    struct stat status;
    (void)signal;
    stat("from-the-handler", &status);
    if (jumps)
        siglongjmp(out, 1);
}

static void alarm_in(long microseconds)
{
    struct itimerval when = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &when, NULL);
}

int main(void)
{
    struct stat status;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    char name[32];
    sigaction(SIGALRM, &action, NULL);
    alarm_in(20000);
    stat("held", &status);
    for (jumps = 1; jumps <= 5; jumps++) {
        alarm_in(20000);
        if (sigsetjmp(out, 1) == 0) {
            stat("held", &status);
            return 1; /* it was not held */
        }
    }
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "made%d", i);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    return 0;
}
