/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Leaves blocking reads with siglongjmp, again and again, then goes on. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

int main(void)
{
    char byte = 0;
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGALRM, &action, NULL);
    volatile int times = 0;
    int fd = open("jumps", O_RDWR | O_CREAT | O_TRUNC, 0600);
    sigsetjmp(back, 1);
    if (times++ < 200) {
        struct itimerval soon = {{0, 0}, {0, 300}};
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            (void)!pread(fd, &byte, 1, 0); /* jumped out of, somewhere */
    }
    int last = open("after", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 1000; i++) {
        if (write(last, &byte, 1) != 1 || pwrite(fd, &byte, 1, i) != 1)
            return 1;
    }
    return close(last) | close(fd);
}
