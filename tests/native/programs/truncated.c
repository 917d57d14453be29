/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * truncated FILE [own|ignore|sent]: writes, truncates FILE (the container), writes again.  With
 * `own`: it has a SIGBUS handler, which has to be there still, and faults of its own reach it.
 * With `sent`: it ends by a SIGBUS that it sends itself; with `fault`: by one of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int caught;

static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    caught++;
    siglongjmp(back, 1);
}

static void fault(void)
{
    int fd = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(fd, 4096) != 0)
        exit(20);
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0) != 0)
        exit(21);
    *page = 1;
}

static void put(const char *name)
{
    for (int i = 0; i < 300; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s-%d", name, i);
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (write(fd, "data", 4) != 4)
            exit(22);
        close(fd);
    }
}

int main(int count, char **arguments)
{
    const char *how = count > 2 ? arguments[2] : "";
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, seen;
    if (sigaction(SIGBUS, NULL, &seen) != 0 || seen.sa_handler != SIG_DFL)
        return 10;
    if (strcmp(how, "own") == 0 && sigaction(SIGBUS, &action, NULL) != 0)
        return 11;
    put("before");
    if (truncate(arguments[1], 0) != 0)
        return 12;
    put("after");
    if (caught != 0)
        return 13;
    if (strcmp(how, "own") == 0) {
        if (sigsetjmp(back, 1) == 0)
            fault();
        if (caught != 1 || sigaction(SIGBUS, NULL, &seen) != 0 || seen.sa_sigaction != on_bus)
            return 14;
        if (signal(SIGBUS, SIG_DFL) != seen.sa_handler)
            return 15;
    }
    if (strcmp(how, "sent") == 0)
        raise(SIGBUS);
    if (strcmp(how, "fault") == 0)
        fault();
    return 0;
}
