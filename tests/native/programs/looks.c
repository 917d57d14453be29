/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on names, over and over:
 *
 *   looks plain|threads|forked|each  TIMES  ACTION:NAME ...
 *
 * ACTION is s (stat), a (access), u (unlink), m (makes a file of one byte), c (chdir); "--"
 * between actions is none.  `threads`: two threads do so, one after the other; `forked`: a child
 * does so as well; `each`: a child of its own for what stands between two "--".  Results do not
 * matter.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;
static char **actions;
static int times;

static void make(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0)
        _exit(3);
}

static int act(char action, const char *name)
{
    struct stat status;
    switch (action) {
    case 's':
        return stat(name, &status);
    case 'a':
        return access(name, R_OK);
    case 'u':
        return unlink(name);
    case 'c':
        return chdir(name);
    case 'm':
        make(name);
        return 0;
    default:
        return 0;
    }
}

static void *look(void *unused)
{
    for (int i = 0; i < times; i++) {
        for (int j = 0; j < count; j++)
            (void)!act(actions[j][0], actions[j] + 2);
    }
    return unused;
}

static void in_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, look, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(2);
}

static int in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        look(NULL);
        exit(0);
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}

static int in_children(int all)
{
    int problems = 0;
    for (int begin = 0; begin < all; begin += count + 1, actions += count + 1) {
        for (count = 0; begin + count < all && strcmp(actions[count], "--") != 0;)
            count++;
        problems += in_child();
    }
    return problems;
}

int main(int n, char **arguments)
{
    count = n - 3;
    actions = arguments + 3;
    times = atoi(arguments[2]);
    if (strcmp(arguments[1], "threads") == 0) {
        in_thread();
        in_thread();
        return 0;
    }
    if (strcmp(arguments[1], "each") == 0)
        return in_children(count);
    look(NULL);
    return strcmp(arguments[1], "forked") == 0 ? in_child() : 0;
}
