/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread writes at random while a timer interrupts it, again and again; the handler, on a signal
 * stack that lies above the thread's own, makes a hundred writes each time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define STACK_BYTES (1 << 18)

static int fd;
static int other;
static volatile sig_atomic_t handled;

static void handle(int number)
{
    char bytes[64] = {(char)number};
    for (int i = 0; i < 100; i++) {
        if (pwrite(fd, bytes, 8, rand() % 65536) != 8 ||
            pwrite(other, bytes, (size_t)(i % 60) + 1, rand() % 65536) < 0)
            _exit(3);
    }
    handled++;
}

static void *work(void *upper)
{
    const stack_t stack = {.ss_sp = upper, .ss_size = STACK_BYTES};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
    sig_atomic_t seen = -1;
    unsigned chance = 1;
    char bytes[8] = {0};
    if ((char *)upper < (char *)&stack || sigaltstack(&stack, NULL) != 0)
        _exit(4);
    sigaction(SIGALRM, &action, NULL);
    while (handled < 1500) {
        struct itimerval soon = {{0, 0}, {0, 20 + handled % 100}};
        if (seen != handled && (seen = handled, setitimer(ITIMER_REAL, &soon, NULL)) != 0)
            _exit(6);
        if (pwrite(fd, bytes, 8, rand_r(&chance) % 65536) != 8)
            _exit(5);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t alarm;
    char *stacks =
        mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fd = open("storm", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    other = open("other", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, STACK_BYTES);
    if (pthread_create(&thread, &attributes, work, stacks + STACK_BYTES) != 0)
        return 1;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    pthread_join(thread, NULL);
    return close(fd) | close(other);
}
