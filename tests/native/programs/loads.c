/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Loads a library that does I/O when it comes and goes, twice. */
#include <dlfcn.h>
#include <stddef.h>

int main(int count, char **arguments)
{
    for (int i = 0; i < 2 && count > 1; i++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL || dlclose(library) != 0)
            return 1;
    }
    return 0;
}
