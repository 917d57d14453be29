/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a preloaded library adds to the cost of calls that move no data.
 *
 *   cost_of_metadata stat|absent|fstat|unlink  BLOCKS CALLS
 *   cost_of_metadata attribute  BLOCKS CALLS  LIBHDF5
 *   cost_of_metadata files  COUNT
 *
 * Blocks of calls through the library (the names, as the program's linker finds them) and around
 * it (the functions of libc and of HDF5 themselves) alternate, in random order within each pair;
 * for each pair, a line "with_ns without_ns" of nanoseconds per call is printed. `files` creates
 * COUNT small files below the current directory, of 5 bytes each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define SETTLES_US 30000 /* libraries calibrate clocks at the start */

typedef int64_t hid;

/* The calls of one side. */
struct side {
    int (*stat)(const char *, struct stat *);
    int (*fstat)(int, struct stat *);
    int (*unlink)(const char *);
    hid (*open)(hid, const char *, hid);
    int (*read)(hid, hid, void *);
    int (*close)(hid);
};

static struct {
    char path[4096];
    size_t directory; /* bytes of `path` before the name */
    int fd;
    hid file;
    hid type;
    int made; /* files to unlink */
    int gone;
} world;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static const char *name_of(const char *kind, int number)
{
    snprintf(world.path + world.directory, sizeof world.path - world.directory, "%s-%d", kind,
             number);
    return world.path;
}

static void make(const char *kind, int number)
{
    int fd = open(name_of(kind, number), O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, "data\n", 5) != 5 || close(fd) != 0)
        die(world.path);
}

/* ---- calls --------------------------------------------------------------------------- */

static void call_stat(const struct side *side, int i)
{
    struct stat status;
    (void)i;
    if (side->stat(world.path, &status) != 0)
        die("stat");
}

static void call_absent(const struct side *side, int i)
{
    struct stat status;
    if (side->stat(name_of("absent", i), &status) == 0)
        die("stat of nothing");
}

static void call_fstat(const struct side *side, int i)
{
    struct stat status;
    (void)i;
    if (side->fstat(world.fd, &status) != 0)
        die("fstat");
}

static void call_unlink(const struct side *side, int i)
{
    (void)i;
    if (side->unlink(name_of("made", world.gone++)) != 0)
        die("unlink");
}

/* Makes three calls, whose time is divided by three. */
static void call_attribute(const struct side *side, int i)
{
    int value;
    hid attribute = side->open(world.file, "attribute", 0);
    (void)i;
    if (attribute < 0 || side->read(attribute, world.type, &value) < 0 ||
        side->close(attribute) < 0)
        die("attribute");
}

/* ---- sides --------------------------------------------------------------------------- */

static void *find(void *scope, const char *name)
{
    void *symbol = dlsym(scope, name);
    if (symbol == NULL) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return symbol;
}

/* RTLD_DEFAULT is NULL. */
static struct side side_of(void *libc, bool has_hdf5, void *hdf5)
{
    struct side side = {
        .stat = (int (*)(const char *, struct stat *))find(libc, "stat"),
        .fstat = (int (*)(int, struct stat *))find(libc, "fstat"),
        .unlink = (int (*)(const char *))find(libc, "unlink"),
    };
    if (has_hdf5) {
        side.open = (hid(*)(hid, const char *, hid))find(hdf5, "H5Aopen");
        side.read = (int (*)(hid, hid, void *))find(hdf5, "H5Aread");
        side.close = (int (*)(hid))find(hdf5, "H5Aclose");
    }
    return side;
}

/* Makes a file with one attribute. 0: H5P_DEFAULT and H5S_SCALAR; 2: H5F_ACC_TRUNC. */
static void make_attribute(void)
{
    void *all = RTLD_DEFAULT;
    int value = 1;
    ((int (*)(void))find(all, "H5open"))();
    world.type = *(hid *)find(all, "H5T_NATIVE_INT_g");
    world.file = ((hid(*)(const char *, unsigned, hid, hid))find(all, "H5Fcreate"))(
        "attributes.h5", 2, 0, 0);
    hid space = ((hid(*)(int))find(all, "H5Screate"))(0);
    hid attribute = ((hid(*)(hid, const char *, hid, hid, hid, hid))find(all, "H5Acreate2"))(
        world.file, "attribute", world.type, space, 0, 0);
    if (((int (*)(hid, hid, const void *))find(all, "H5Awrite"))(attribute, world.type, &value) <
        0)
        die("H5Awrite");
    ((int (*)(hid))find(all, "H5Aclose"))(attribute);
}

/* ---- measuring ------------------------------------------------------------------------ */

static double block_ns(void (*call)(const struct side *, int), const struct side *side, int calls,
                       int parts)
{
    double start = now_ns();
    for (int i = 0; i < calls; i++)
        call(side, i);
    return (now_ns() - start) / calls / parts;
}

static int run(void (*call)(const struct side *, int), int blocks, int calls, void *hdf5)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    struct side with = side_of(RTLD_DEFAULT, hdf5 != NULL, RTLD_DEFAULT);
    struct side without = side_of(libc, hdf5 != NULL, hdf5);
    int parts = call == call_attribute ? 3 : 1;
    srand((unsigned)getpid());
    usleep(SETTLES_US);
    for (int block = -1; block < blocks; block++) {
        for (world.made = world.gone = 0; call == call_unlink && world.made < 2 * calls;)
            make("made", world.made++);
        int with_first = (rand() >> 8) & 1;
        double first = block_ns(call, with_first ? &with : &without, calls, parts);
        double second = block_ns(call, with_first ? &without : &with, calls, parts);
        if (block >= 0)
            printf("%.2f %.2f\n", with_first ? first : second, with_first ? second : first);
    }
    return 0;
}

int main(int count, char **arguments)
{
    const char *what = count > 2 ? arguments[1] : "";
    int number = count > 2 ? atoi(arguments[2]) : 0;
    if (getcwd(world.path, sizeof world.path - 64) == NULL)
        die("getcwd");
    strcat(world.path, "/");
    world.directory = strlen(world.path);
    if (count == 3 && strcmp(what, "files") == 0) {
        for (int i = 0; i < number; i++)
            make("file", i);
        printf("%.0f\n", now_ns());
        return 0;
    }
    make("one", 0);
    world.fd = open(name_of("one", 0), O_RDONLY);
    if (count == 5 && strcmp(what, "attribute") == 0) {
        void *hdf5 = dlopen(arguments[4], RTLD_NOW | RTLD_GLOBAL);
        if (hdf5 == NULL)
            die(dlerror());
        make_attribute();
        return run(call_attribute, number, atoi(arguments[3]), hdf5);
    }
    if (count == 4 && strcmp(what, "stat") == 0)
        return run(call_stat, number, atoi(arguments[3]), NULL);
    if (count == 4 && strcmp(what, "absent") == 0)
        return run(call_absent, number, atoi(arguments[3]), NULL);
    if (count == 4 && strcmp(what, "fstat") == 0)
        return run(call_fstat, number, atoi(arguments[3]), NULL);
    if (count == 4 && strcmp(what, "unlink") == 0)
        return run(call_unlink, number, atoi(arguments[3]), NULL);
    fprintf(stderr, "usage: see the head of cost_of_metadata.c\n");
    return 2;
}
