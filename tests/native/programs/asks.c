/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Calls what the member in member.c answers; prints results and errno. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#define ASKED 0x4004669aUL

int main(void)
{
    struct statfs status;
    char data[8];
    int number = 0;
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    errno = 0;
    int result = statfs(".", &status);
    printf("statfs %d %lx %d\n", result, (unsigned long)status.f_type, errno);
    result = fstatfs(fd, &status);
    printf("fstatfs %d %lx %d\n", result, (unsigned long)status.f_type, errno);
    result = ioctl(fd, ASKED, &number);
    printf("ioctl %d %d %d\n", result, number, errno);
    result = ioctl(fd, 0x5401, data); /* TCGETS: the kernel's own answer */
    printf("other ioctl %d %d\n", result, errno);
    for (int i = 0; i < 4; i++) {
        errno = 0;
        result = (int)pwrite(fd, "data", 4, 4 * i);
        printf("write %d %d\n", result, errno);
    }
    errno = 0;
    result = (int)pread(fd, data, 4, 0);
    printf("read %d %d\n", result, errno);
    result = (int)pread(fd, data, 5, 0);
    printf("read %d %d\n", result, errno);
    return 0;
}
