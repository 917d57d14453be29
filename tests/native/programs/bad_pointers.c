/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hands the kernel pointers that nobody may read; prints the calls that do not say EFAULT. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

static int wrong;

static void expect(const char *name, long result)
{
    if (result != -1 || errno != EFAULT) {
        printf("%s: %ld, errno %d\n", name, result, errno);
        wrong = 1;
    }
    errno = 0;
}

#define TRY(call) expect(#call, (long)(call))

int main(void)
{
    char *volatile bad = (char *)1;
    off_t *volatile offset = (off_t *)1;
    struct iovec *volatile pieces = (struct iovec *)1;
    struct stat status;
    struct stat *volatile nowhere = (struct stat *)1;
    struct statfs system;
    int from = open("from", O_RDWR | O_CREAT, 0600);
    int to = open("to", O_RDWR | O_CREAT, 0600);
    if (write(from, "data", 4) != 4)
        return 2;
    TRY(open(bad, O_RDONLY));
    TRY(open(bad, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    TRY(openat(from, bad, O_RDONLY));
    TRY(creat(bad, 0600));
    TRY(stat(bad, &status));
    TRY(stat("from", nowhere));
    TRY(lstat(bad, &status));
    TRY(fstatat(AT_FDCWD, bad, &status, 0));
    TRY(access(bad, F_OK));
    TRY(truncate(bad, 0));
    TRY(unlink(bad));
    TRY(unlinkat(AT_FDCWD, bad, 0));
    TRY(rename(bad, "x"));
    TRY(rename("from", bad));
    TRY(link(bad, "x"));
    TRY(link("from", bad));
    TRY(symlink("from", bad));
    TRY(symlink(bad, "x"));
    TRY(mkdir(bad, 0700));
    TRY(rmdir(bad));
    TRY(chmod(bad, 0600));
    TRY(chdir(bad));
    TRY(statfs(bad, &system));
    TRY(write(from, bad, 4));
    TRY(pwrite(from, bad, 4, 0));
    TRY(readv(from, pieces, 1));
    TRY(writev(from, pieces, 1));
    TRY(pwritev(from, pieces, 1, 0));
    TRY(copy_file_range(from, offset, to, NULL, 4, 0));
    TRY(copy_file_range(from, NULL, to, offset, 4, 0));
    TRY(sendfile(to, from, offset, 4));
    return wrong;
}
