/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hints: requested ones into an MPI_Info, the library's own view of them into text. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

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
