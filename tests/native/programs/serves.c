/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Metadata calls of all kinds, each a known number of times; failed ones among them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MUST(call)                                                                                \
    do {                                                                                          \
        if ((call) < 0) {                                                                         \
            perror(#call);                                                                        \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)
#define FAILS(call)                                                                               \
    do {                                                                                          \
        if ((call) >= 0) {                                                                        \
            fprintf(stderr, "%s succeeded\n", #call);                                             \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* What a child inherits is not its own to close, whatever it does so with first. */
static void inherit(int fd)
{
    DIR *list = opendir("."); /* open */
    for (int way = 0; way < 5; way++) {
        if (fork() == 0) {
            if (way == 0)
                close(fd);
            else if (way == 1)
                closedir(list);
            else if (way == 2)
                dup2(STDERR_FILENO, fd);
            else if (way == 3)
                close_range(3, ~0U, 0);
            else
                closefrom(3);
            _exit(0);
        }
        wait(NULL);
    }
    closedir(list); /* close */
}

static void open_and_close(void)
{
    int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0600); /* open mknod */
    MUST(fd);
    int copy = dup(fd);
    MUST(fcntl(fd, F_SETFL, O_APPEND));                    /* is no close */
    MUST(close(copy));                                     /* is none, either */
    MUST(close(fd));                                       /* close */
    fd = open("file", O_WRONLY | O_TRUNC | O_CREAT, 0600); /* open setattr, punch */
    MUST(fd);
    inherit(fd);
    MUST(ftruncate(fd, 3 << 20));             /* setattr, punch */
    MUST(fsync(fd));                          /* sync, sync */
    FAILS(ftruncate(fd, -1));                 /* nothing */
    if (posix_fallocate(fd, 0, 4 << 20) != 0) /* prealloc */
        exit(1);
    MUST(fchmod(fd, 0640));                     /* setattr */
    MUST(fsetxattr(fd, "user.one", "1", 1, 0)); /* setxattr */
    MUST(dup2(STDERR_FILENO, fd));              /* close */
    MUST(close(fd));
    FILE *stream = fopen("stream", "w"); /* open mknod */
    fprintf(stream, "text");
    fclose(stream);                   /* close */
    FAILS(open("missing", O_RDONLY)); /* nothing */
}

static void names(void)
{
    char text[64];
    struct stat status;
    struct statfs storage;
    MUST(stat("file", &status));                           /* getattr */
    MUST(access("file", R_OK));                            /* getattr */
    FAILS(stat("missing", &status));                       /* nothing */
    MUST(chmod("file", 0600));                             /* setattr */
    MUST(truncate("file", 100));                           /* setattr, punch */
    MUST(setxattr("file", "user.two", "2", 1, 0));         /* setxattr */
    MUST(getxattr("file", "user.two", text, sizeof text)); /* getxattr */
    MUST(listxattr("file", text, sizeof text));            /* getxattr */
    MUST(removexattr("file", "user.two"));                 /* setxattr */
    MUST(link("file", "second"));                          /* link */
    MUST(symlink("file", "symbolic"));                     /* mknod */
    MUST(readlink("symbolic", text, sizeof text));         /* getattr */
    MUST(rename("second", "third"));                       /* rename */
    MUST(unlink("third"));                                 /* unlink */
    FAILS(unlink("third"));                                /* nothing */
    MUST(statfs(".", &storage));                           /* statfs */
}

static void directories(void)
{
    MUST(mkdir("directory", 0700)); /* mkdir */
    FAILS(mkdir("directory", 0700));
    DIR *list = opendir("directory"); /* open */
    closedir(list);                   /* close */
    MUST(rmdir("directory"));         /* rmdir */
    MUST(mkdir("directory", 0700));   /* mkdir */
    MUST(remove("directory"));        /* rmdir */
    MUST(remove("stream"));           /* unlink */
}

int main(void)
{
    open_and_close();
    names();
    directories();
    MUST(open("left", O_WRONLY | O_CREAT, 0600)); /* open mknod; close at the end */
    return 0;
}
