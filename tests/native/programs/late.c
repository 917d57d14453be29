/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* A library behind ours: what it does in _exit() comes after the end. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(void)
{
    int fd = open("late", O_WRONLY | O_CREAT, 0600);
    (void)!pwrite(fd, "late", 4, 0);
    close(fd);
}

void _exit(int status)
{
    const char *what = getenv("LATE");
    if (what != NULL && what[0] == 'f') {
        if (fork() == 0) {
            call();
            syscall(SYS_exit_group, 0);
        }
        wait(NULL);
    } else if (what != NULL) {
        call();
        if (what[0] == 'k')
            raise(SIGKILL);
    }
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
