/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a table of requests from a given moment (CLOCK_MONOTONIC, nanoseconds) on, and prints
 * when each began and ended.
 *
 *   requests MOMENT REQUEST...     MOMENT "-": it says that it is ready, and reads the moment
 *     open:NAME create:NAME exclusive:NAME append:NAME close mkdir:NAME stat:NAME unlink:NAME
 *     rename:NAME:NAME statfs:NAME fstat sync seek:OFFSET write:BYTES read:BYTES writev:BYTES
 *     pwrite:OFFSET:BYTES pread:OFFSET:BYTES truncate:BYTES fopen:NAME fwrite:BYTES fclose
 *     aio:OFFSET:BYTES copy:NAME:BYTES sleep:MICROSECONDS dup
 *
 * A request may fail if a "!" stands before it.  sleep, seek and dup print nothing.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static int fd = -1;
static char *buffer;
static FILE *stream;

static long long now(void)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return moment.tv_sec * 1000000000LL + moment.tv_nsec;
}

static void sleep_until(long long ns)
{
    struct timespec moment = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) {
    }
}

/* However long a busy host takes to start it, it is there before the moment comes. */
static long long told(void)
{
    char line[32] = "";
    (void)!write(STDOUT_FILENO, "ready\n", 6);
    return read(STDIN_FILENO, line, sizeof line - 1) > 0 ? atoll(line) : 0;
}

/* How long this thread could run and waited for a processor. */
static long long waited(void)
{
    long long ran, found = 0;
    FILE *told = fopen("/proc/thread-self/schedstat", "r");
    if (told == NULL || fscanf(told, "%lld %lld", &ran, &found) != 2)
        perror("schedstat");
    if (told != NULL)
        fclose(told);
    return found;
}

static long long asynchronous(long long offset, long long bytes)
{
    struct aiocb block = {
        .aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = (size_t)bytes, .aio_offset = offset};
    const struct aiocb *list[] = {&block};
    long long before = waited(), posted = now();
    if (aio_write(&block) != 0)
        return -1;
    if (now() - posted - (waited() - before) > 40000000) /* it overlaps with what comes next */
        return -1;
    while (aio_error(&block) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return aio_return(&block);
}

static long long copy(const char *name, long long bytes)
{
    int from = open(name, O_RDONLY);
    return copy_file_range(from, NULL, fd, NULL, (size_t)bytes, 0);
}

#define IS(word) (strcmp(what, word) == 0)

/* What it returns; -1: it failed. */
static long long request(const char *what, const char *name, const char *more)
{
    long long first = name != NULL ? atoll(name) : 0;
    long long second = more != NULL ? atoll(more) : 0;
    struct stat status;
    struct statfs storage;
    struct iovec pieces[2] = {{buffer, (size_t)first / 2}, {buffer, (size_t)(first - first / 2)}};
    if (IS("open"))
        return fd = open(name, O_RDWR);
    if (IS("create"))
        return fd = open(name, O_RDWR | O_CREAT, 0600);
    if (IS("exclusive"))
        return fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (IS("append"))
        return fd = open(name, O_WRONLY | O_APPEND);
    if (IS("close"))
        return close(fd);
    if (IS("mkdir"))
        return mkdir(name, 0700);
    if (IS("stat"))
        return stat(name, &status);
    if (IS("fstat"))
        return fstat(fd, &status);
    if (IS("unlink"))
        return unlink(name);
    if (IS("rename"))
        return rename(name, more);
    if (IS("statfs"))
        return statfs(name, &storage) != 0 ? -1 : storage.f_type;
    if (IS("sync"))
        return fsync(fd);
    if (IS("truncate"))
        return ftruncate(fd, first);
    if (IS("write"))
        return write(fd, buffer, (size_t)first);
    if (IS("read"))
        return read(fd, buffer, (size_t)first);
    if (IS("writev"))
        return writev(fd, pieces, 2);
    if (IS("pwrite"))
        return pwrite(fd, buffer, (size_t)second, first);
    if (IS("pread"))
        return pread(fd, buffer, (size_t)second, first);
    if (IS("aio"))
        return asynchronous(first, second);
    if (IS("copy"))
        return copy(name, second);
    if (IS("fopen"))
        return (stream = fopen(name, "w")) != NULL ? 0 : -1;
    if (IS("fwrite"))
        return (long long)fwrite(buffer, 1, (size_t)first, stream) == first ? 0 : -1;
    if (IS("fclose"))
        return fclose(stream);
    exit(2);
}

/* True: it is none that is timed. */
static int is_quiet(const char *what, const char *name)
{
    if (IS("sleep"))
        sleep_until(now() + atoll(name) * 1000);
    else if (IS("seek"))
        lseek(fd, atoll(name), SEEK_SET);
    else if (IS("dup"))
        fd = dup(fd);
    else
        return 0;
    return 1;
}

int main(int count, char **arguments)
{
    buffer = calloc(1, 256 << 20);
    sleep_until(strcmp(arguments[1], "-") == 0 ? told() : atoll(arguments[1]));
    for (int i = 2; i < count; i++) {
        int may_fail = arguments[i][0] == '!';
        char *what = strtok(arguments[i] + may_fail, ":");
        char *name = strtok(NULL, ":");
        char *more = strtok(NULL, ":");
        if (is_quiet(what, name))
            continue;
        long long start = now();
        long long result = request(what, name, more);
        long long end = now();
        if (result < 0 && !may_fail) {
            perror(what);
            return 1;
        }
        printf("%lld %lld\n", start, end);
    }
    return 0;
}
