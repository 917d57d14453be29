/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Failed calls are recorded, and do not stop a rank; ranks agree before any of them stops.
 * Converts requested hints into an MPI_Info, and the library's hints into text. */
#include "kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sw_fail(struct sw_session *session, const char *call, const char *format, ...)
{
    struct sw_failure *failure = session->failure;
    if (failure->failed)
        return -1; /* later failures that follow from the first one are not helpful */
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

int sw_info_make(const struct sw_options *options, MPI_Info *info)
{
    *info = MPI_INFO_NULL;
    if (options->n_hints == 0)
        return MPI_SUCCESS;
    int code = MPI_Info_create(info);
    for (int h = 0; h < options->n_hints && code == MPI_SUCCESS; h++)
        code = MPI_Info_set(*info, options->hints[h].key, options->hints[h].value);
    return code;
}

static void append(struct sw_session *session, const char *key, const char *value)
{
    size_t used = strlen(session->reported);
    size_t need = strlen(key) + strlen(value) + 2;
    if (used + need < session->reported_bytes)
        snprintf(session->reported + used, session->reported_bytes - used, "%s=%s\n", key, value);
}

void sw_info_report_hints(struct sw_session *session, MPI_Info info)
{
    int n_keys = 0;
    if (session->reported == NULL)
        return;
    session->reported[0] = '\0';
    MPI_Info_get_nkeys(info, &n_keys);
    for (int k = 0; k < n_keys; k++) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int found = 0;
        MPI_Info_get_nthkey(info, k, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found)
            append(session, key, value);
    }
}

void sw_info_report(struct sw_session *session, MPI_File file)
{
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL)
        return;
    sw_info_report_hints(session, info);
    MPI_Info_free(&info);
}
