/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program may do while its requests are held back:
 *   held slack: handlers find the timer slack of the thread, and those that jump leave it
 *   held vfork: a child opens a file on a number that is a pipe's here
 *   held directory: a number was that of a directory that was read, and is a pipe's now
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLACK 123456

static sigjmp_buf back;
static volatile int other;

static void jump(int number)
{
    other |= prctl(PR_GET_TIMERSLACK) != SLACK;
    siglongjmp(back, number);
}

static int slack(void)
{
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGALRM, &action, NULL);
    prctl(PR_SET_TIMERSLACK, SLACK);
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    if (sigsetjmp(back, 1) == 0) {
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            (void)!pwrite(fd, &fd, sizeof fd, 0);
    }
    return other || prctl(PR_GET_TIMERSLACK) != SLACK;
}

static int vforks(void)
{
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return 1;
    pid_t child = vfork();
    if (child == 0) {
        close(ends[0]);
        _exit(open("data", O_RDWR | O_CREAT, 0600) != ends[0] || write(ends[0], "x", 1) != 1);
    }
    int status;
    waitpid(child, &status, 0);
    return status != 0 || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1;
}

static int directories(void)
{
    struct stat status;
    int ends[2];
    DIR *directory = opendir(".");
    int fd = dirfd(directory);
    fstat(fd, &status);
    closedir(directory);
    return pipe(ends) != 0 || ends[0] != fd || fstat(fd, &status) != 0;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "directory") == 0)
        return directories();
    return count > 1 && strcmp(arguments[1], "vfork") == 0 ? vforks() : slack();
}
