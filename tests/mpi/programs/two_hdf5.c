/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* two_hdf5 LIBRARY...: loads each one privately, as Python loads extensions, and lets each
 * write <number>.h5 twice, in turn. */
#include <dlfcn.h>
#include <stdio.h>

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
    return failed;
}
