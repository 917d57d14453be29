/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* One call of every kind that moves bytes, at offsets that are known. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

static char data[8192];

static void expect(ssize_t result, ssize_t wanted)
{
    if (result != wanted) {
        perror("transfers");
        exit(1);
    }
}

int main(void)
{
    struct iovec pieces[2] = {{data, 100}, {data, 200}};
    int fd = open("all", O_RDWR | O_CREAT, 0600);
    expect(write(fd, data, 4096), 4096);           /* 0 */
    expect(pwrite(fd, data, 4096, 4096), 4096);    /* consecutive */
    expect(pwrite64(fd, data, 4096, 16384), 4096); /* sequential, with a hole */
    expect(writev(fd, pieces, 2), 300);            /* back at 4096 */
    expect(pwritev(fd, pieces, 2, 0), 300);
    expect(pwritev2(fd, pieces, 2, -1, 0), 300); /* at the position: 4396 */
    expect(lseek(fd, 0, SEEK_SET), 0);
    expect(read(fd, data, 1000), 1000);
    expect(pread(fd, data, 1000, 1000), 1000);
    expect(pread64(fd, data, 1000, 5000), 1000);
    expect(readv(fd, pieces, 2), 300);
    expect(preadv(fd, pieces, 2, 0), 300);
    expect(preadv2(fd, pieces, 2, 0, 0), 300);
    expect(fsync(fd), 0);
    expect(fdatasync(fd), 0);
    int copy = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t from = 0;
    expect(copy_file_range(fd, &from, copy, NULL, 2048, 0), 2048);
    from = 0;
    expect(sendfile(copy, fd, &from, 1024), 1024);
    expect(ftruncate(copy, 100), 0);
    expect(close(copy), 0);
    expect(close(fd), 0);
    return 0;
}
