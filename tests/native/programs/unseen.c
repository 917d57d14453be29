/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* I/O that passes few calls, or none: each argument is a way of it. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUESTS 700 /* more than the library remembers */

static char data[4096];
static struct aiocb blocks[REQUESTS];

static int use(void *memory)
{
    volatile char first = memory != MAP_FAILED ? *(char *)memory : 0;
    (void)first;
    return memory != MAP_FAILED;
}

static int map(int how, int protection, int flags)
{
    int fd = open("given", how);
    int done = use(mmap(NULL, 4096, protection, flags, fd, 0));
    return done && close(fd) == 0;
}

static struct aiocb *prepare(int i, int fd, int op)
{
    blocks[i] = (struct aiocb){.aio_fildes = fd,
                               .aio_buf = data,
                               .aio_nbytes = 100,
                               .aio_offset = i * 100,
                               .aio_lio_opcode = op};
    return &blocks[i];
}

/* `requests` of them, with a question for each or without. */
static int post(const char *name, int requests, int ask)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < requests; i++)
        if (aio_write(prepare(i, fd, LIO_WRITE)) != 0)
            return 0;
    for (int i = 0; i < requests && ask; i++)
        while (aio_error(&blocks[i]) == EINPROGRESS)
            usleep(100);
    return 1;
}

static int post_again(void)
{
    int fd = open("again", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 3; i++) {
        const struct aiocb *one[] = {&blocks[0]};
        if (aio_write(prepare(0, fd, LIO_WRITE)) != 0 || aio_suspend(one, 1, NULL) != 0)
            return 0;
    }
    return 1;
}

static int post_list(void)
{
    struct aiocb *list[10];
    int fd = open("list", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 10; i++)
        list[i] = prepare(i, fd, i < 9 ? LIO_WRITE : LIO_NOP);
    return lio_listio(LIO_WAIT, list, 10, NULL) == 0;
}

static int format(void)
{
    int fd = open("formatted", O_CREAT | O_WRONLY, 0600);
    int written = 0;
    for (int i = 0; i < 10; i++)
        written += dprintf(fd, "%09d\n", i);
    return written == 100 && write(fd, "end\n", 4) == 4;
}

static int words(void)
{
    FILE *stream = fopen("words", "w+");
    for (int i = 0; i < 10; i++)
        if (putw(-1, stream) != 0)
            return 0;
    rewind(stream);
    int word = 0;
    for (int i = 0; i < 10; i++)
        word |= getw(stream);
    return word == -1 && getw(stream) == EOF && feof(stream) && fclose(stream) == 0;
}

static int unnamed(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    FILE *stream = tmpfile();
    return write(fd, data, 1000) == 1000 && fwrite(data, 1, 500, stream) == 500 &&
           fclose(stream) == 0;
}

static int start(int how)
{
    char *clean[] = {"PATH=/usr/bin:/bin", NULL};
    char *arguments[] = {"true", NULL};
    pid_t child = how == 'v' ? vfork() : fork();
    int status = 0;
    if (child == 0) {
        execve("/bin/true", arguments, clean);
        _exit(1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int count, char **arguments)
{
    int done = 1;
    for (int i = 1; i < count; i++) {
        const char *what = arguments[i];
        if (strcmp(what, "map") == 0)
            done &= map(O_RDONLY, PROT_READ, MAP_SHARED);
        else if (strcmp(what, "private") == 0)
            done &= map(O_RDONLY, PROT_READ | PROT_WRITE, MAP_PRIVATE);
        else if (strcmp(what, "both") == 0)
            done &= map(O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
        else if (strcmp(what, "code") == 0)
            done &= map(O_RDONLY, PROT_READ | PROT_EXEC, MAP_PRIVATE);
        else if (strcmp(what, "asked") == 0)
            done &= post("asked", 10, 1);
        else if (strcmp(what, "many") == 0)
            done &= post("many", REQUESTS, 1);
        else if (strcmp(what, "left") == 0)
            done &= post("left", 10, 0);
        else if (strcmp(what, "again") == 0)
            done &= post_again();
        else if (strcmp(what, "list") == 0)
            done &= post_list();
        else if (strcmp(what, "format") == 0)
            done &= format();
        else if (strcmp(what, "words") == 0)
            done &= words();
        else if (strcmp(what, "unnamed") == 0)
            done &= unnamed();
        else
            done &= start(what[0]);
    }
    return !done;
}
