/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* two_hdf5 LIBRARY...: loads each one privately, as Python loads extensions, and lets each
 * write <number>.h5 twice, in turn.  Then the first one writes outer.h5, and the second one
 * inner.h5 while that is open. */
#include <dlfcn.h>
#include <stdio.h>

static int (*write_inner)(const char *);

static int inner(void)
{
    return write_inner("inner.h5");
}

static int write_both(const char *first, const char *second)
{
    void *outer = dlopen(first, RTLD_NOW | RTLD_LOCAL);
    int (*write_outer)(const char *) = (int (*)(const char *))dlsym(outer, "write_file");
    int (**between)(void) = (int (**)(void))dlsym(outer, "between");
    write_inner =
        (int (*)(const char *))dlsym(dlopen(second, RTLD_NOW | RTLD_LOCAL), "write_file");
    *between = inner;
    return write_outer("outer.h5");
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < 2 * argc - 1; i++) {
        char path[32];
        int number = (i - 1) % (argc - 1) + 1;
        void *library = dlopen(argv[number], RTLD_NOW | RTLD_LOCAL);
        int (*write_file)(const char *) =
            library ? (int (*)(const char *))dlsym(library, "write_file") : NULL;
        snprintf(path, sizeof path, "%d.h5", number);
        failed |= write_file == NULL || write_file(path);
    }
    return failed || write_both(argv[1], argv[2]);
}
