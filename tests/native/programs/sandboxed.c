/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandboxed filter|strict|fork: writes three times, gives up every system call but read, write
 * and exit (any other one kills), and writes twice more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(name)                                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                        \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int give_up(const char *how)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(exit),
        ALLOW(exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (strcmp(how, "strict") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    if (strcmp(how, "raw") == 0)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int in_sandbox(int fd, const char *how)
{
    if (give_up(how) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        if (write(fd, "data", 4) != 4)
            return 100;
    }
    return 0;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "filter";
    int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int status = 0;
    for (int i = 0; i < 3; i++) {
        if (write(fd, "data", 4) != 4)
            return 101;
    }
    if (strcmp(how, "child") == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(in_sandbox(fd, how));
        waitpid(child, &status, 0);
        return status == 0 && write(fd, "data", 4) == 4 ? 0 : 102;
    }
    status = in_sandbox(fd, how);
    if (strcmp(how, "strict") == 0)
        syscall(SYS_exit, status);
    return status;
}
