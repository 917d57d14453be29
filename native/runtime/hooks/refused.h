/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the guard refused, and which programs it does not cover, reported in SW_ENV_REFUSED. */
#ifndef STRIPEWISE_REFUSED_H
#define STRIPEWISE_REFUSED_H

#include <stdbool.h>

/* First byte of a record of that file; the path and a zero byte follow. */
enum sw_refused {
    SW_REFUSED_CHANGE = 'c',  /* of a file that existed before the run */
    SW_REFUSED_NEW = 'n',     /* a new file outside of the run's directory */
    SW_ESCAPED_STATIC = 's',  /* the program that starts is linked statically */
    SW_ESCAPED_SETUID = 'u',  /* it runs as another user or group, without preloaded libraries */
    SW_ESCAPED_CLEAN = 'p',   /* its environment preloads no library */
    SW_ESCAPED_SANDBOX = 'x', /* it has given up system calls */
};

void sw_refused_load(void); /* once, at load */
/* Returns whether reports are requested. */
bool sw_refused_wanted(void);
/* Uses only system calls and changes no memory, so that a child of vfork() may call it. May set
 * errno.
 */
void sw_refused_tell(enum sw_refused what, const char *path);

#endif
