/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Finds the real functions. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "internal.h"

/* Returns true if the address belongs to this library itself. */
static bool is_ours(const void *address)
{
    Dl_info own;
    Dl_info other;
    return dladdr((const void *)&sw_state, &own) != 0 && dladdr(address, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}

/* Keeps the library that contains `symbol` loaded, because we cache its address. */
static void pin(const void *symbol)
{
    Dl_info info;
    if (dladdr(symbol, &info) == 0 || info.dli_fname == NULL)
        return;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library != NULL)
        dlclose(library);
}

/* Returns `name` as the object that contains `caller` sees it through its own dependencies. */
static void *resolve_in_scope(const char *name, const void *caller)
{
    Dl_info info;
    if (caller == NULL || dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    void *scope = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (scope == NULL)
        return NULL;
    void *symbol = dlsym(scope, name);
    if (symbol != NULL && is_ours(symbol))
        symbol = NULL;
    if (symbol != NULL)
        pin(symbol);
    dlclose(scope);
    return symbol;
}

void *sw_resolve(const char *name, const void *caller)
{
    int saved_errno = errno;
    sw_inside_begin();
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL)
        symbol = resolve_in_scope(name, caller);
    sw_inside_end();
    errno = saved_errno;
    return symbol;
}
