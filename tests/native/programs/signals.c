/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A storm of SIGALRM; the handler writes to the same files as the main program, opens, closes. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static int fd;
static volatile sig_atomic_t handled;

static void handle(int number)
{
    struct stat status;
    char byte = (char)number;
    if (write(fd, &byte, 1) != 1)
        _exit(3);
    int other = open("other", O_WRONLY | O_CREAT, 0600);
    if (other < 0 || write(other, &byte, 1) != 1 || close(other) != 0)
        _exit(4);
    stat("other", &status);
    handled++;
}

int main(void)
{
    char byte = 0;
    struct itimerval often = {{0, 100}, {0, 100}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    fd = open("storm", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    long written = 0;
    while (handled < 2000) {
        char name[32];
        snprintf(name, sizeof name, "made-%ld", written % 64);
        int made = open(name, O_WRONLY | O_CREAT, 0600);
        if (made < 0 || write(made, &byte, 1) != 1 || close(made) != 0 || write(fd, &byte, 1) != 1)
            return 1;
        written++;
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld\n", written + handled);
    return 0;
}
