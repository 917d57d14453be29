/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Failed calls are kept, not acted on; ranks agree before anybody stops. */
#include "kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sw_fail(struct sw_session *session, const char *call, const char *format, ...)
{
    struct sw_failure *failure = session->failure;
    if (failure->failed)
        return -1; /* what follows from the first one helps nobody */
    failure->failed = 1;
    snprintf(failure->call, sizeof failure->call, "%s", call);
    snprintf(failure->file, sizeof failure->file, "%s", session->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return -1;
}

int sw_fail_errno(struct sw_session *session, const char *call)
{
    return sw_fail(session, call, "%s", strerror(errno));
}

int sw_fail_mpi(struct sw_session *session, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length == 0)
        snprintf(text, sizeof text, "MPI error %d", code);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return sw_fail(session, call, "%s", text);
}

bool sw_agree(MPI_Comm comm, const struct sw_failure *failure)
{
    int any = failure->failed;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    return any == 0;
}
