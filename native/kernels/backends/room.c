/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "room.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

void sw_room_directory(const struct sw_session *session, char *directory)
{
    snprintf(directory, SW_PATH_BYTES, "%s", session->path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        snprintf(directory, SW_PATH_BYTES, ".");
    else
        slash[slash == directory ? 1 : 0] = '\0';
}

bool sw_room_check(struct sw_session *session, const char *call)
{
    char directory[SW_PATH_BYTES];
    struct statvfs status;
    int64_t need = session->share->step_bytes * session->options->steps;
    int64_t room = INT64_MAX;
    sw_room_directory(session, directory);
    /* A file system without blocks (some network and user-space ones) does not tell. */
    if (session->rank == 0 && statvfs(directory, &status) == 0 && status.f_blocks != 0 &&
        __builtin_mul_overflow(status.f_bavail, status.f_frsize, &room))
        room = INT64_MAX;
    MPI_Bcast(&room, 1, MPI_INT64_T, 0, session->comm);
    if (need > room)
        sw_fail(session, call,
                "no space left on device: %lld bytes are to be written, %lld are free",
                (long long)need, (long long)room);
    return need <= room;
}
