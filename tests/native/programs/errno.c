/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* errno is what the C library made of it: untouched by success, true after failure. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;

static void expect(const char *what, int wanted)
{
    if (errno != wanted) {
        printf("%s: errno %d, not %d\n", what, errno, wanted);
        failures++;
    }
    errno = 77;
}

int main(void)
{
    struct stat status;
    char byte = 0;
    errno = 77;
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    expect("open", 77);
    (void)!write(fd, &byte, 1);
    expect("write", 77);
    (void)!pread(fd, &byte, 1, 0);
    expect("pread", 77);
    lseek(fd, 0, SEEK_SET);
    expect("lseek", 77);
    int copy = dup(fd);
    expect("dup", 77);
    (void)!write(copy, &byte, 1);
    expect("write to a copy", 77);
    fstat(fd, &status);
    expect("fstat", 77);
    close(copy);
    expect("close", 77);
    close(fd);
    expect("close", 77);
    (void)!read(fd, &byte, 1);
    expect("read of a closed descriptor", EBADF);
    close(fd);
    expect("close of a closed descriptor", EBADF);
    open("missing/file", O_RDONLY);
    expect("open of a missing file", ENOENT);
    fd = open("file", O_RDONLY);
    expect("open", 77);
    (void)!write(fd, &byte, 1);
    expect("write to a descriptor for reading", EBADF);
    fsync(fd);
    expect("fsync", 77);
    if (fsync(open("file", O_PATH)) == 0)
        failures++;
    expect("fsync of a name", EBADF);
    (void)!pread(fd, &byte, 1, -1);
    expect("pread at a bad offset", EINVAL);
    if (fopen("missing/file", "r") != NULL)
        failures++;
    expect("fopen of a missing file", ENOENT);
    FILE *stream = fopen("stream", "w");
    errno = 77;
    fputs("text", stream);
    fprintf(stream, "text");
    expect("fprintf", 77);
    char *text;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    errno = 77;
    fputs("text", memory);
    expect("fputs to memory", 77);
    fclose(memory);
    expect("fclose of memory", 77);
    unlink("missing");
    expect("unlink of a missing file", ENOENT);
    mkdir("file", 0700);
    expect("mkdir over a file", EEXIST);
    return failures;
}
