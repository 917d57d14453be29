/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Refuses itself what the library may want to ask beside the program's calls, and prints the
 * calls that succeed but change errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(void)
{
    static const unsigned refused[] = {SYS_fsync,          SYS_getpid,    SYS_statx,
                                       SYS_getcwd,         SYS_faccessat, SYS_rt_sigprocmask,
                                       SYS_clock_nanosleep};
    struct sock_filter code[3 * sizeof refused / sizeof *refused + 2];
    unsigned n = 0;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, 2, &program);
}

static int wrong;

static void expect(const char *name, long result)
{
    if (result < 0 || errno != 0) {
        printf("%s: %ld, errno %d\n", name, result, errno);
        wrong = 1;
    }
    errno = 0;
}

#define TRY(call) expect(#call, (long)(call))

int main(void)
{
    struct stat status;
    int early = open("early", O_CREAT | O_WRONLY, 0600);
    FILE *early_stream = fopen("early-stream", "w");
    if (write(early, "data", 4) != 4 || fputs("text", early_stream) == EOF || refuse() != 0)
        return 77;
    errno = 0;
    TRY(close(early));
    TRY(fclose(early_stream));
    int fd = open("made", O_CREAT | O_WRONLY, 0600);
    TRY(fd);
    TRY(write(fd, "data", 4));
    TRY(close(fd));
    TRY(stat("made", &status));
    TRY(mkdir("directory", 0700));
    TRY(chdir("directory"));
    TRY(chdir(".."));
    TRY(dup2(fd = open("made", O_RDWR), 200));
    TRY(write(200, "more", 4));
    TRY(dup2(fd, 200));
    TRY(close(200));
    FILE *stream = fopen("stream", "w");
    TRY(stream == NULL ? -1 : 0);
    TRY(fputs("text", stream));
    TRY(fclose(stream));
    TRY(rename("made", "renamed"));
    TRY(unlink("renamed"));
    TRY(rmdir("directory"));
    return wrong;
}
