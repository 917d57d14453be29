/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Determines which file a rank uses, where its part is in it, and who removes it; checks the room
 * for it, and drops it from memory. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What each rank tells the others about files per node. */
struct member {
    int64_t leader; /* lowest rank of its node */
    int64_t of_rank;
    int64_t owned_bytes; /* of of_rank */
};

/* Nodes are numbered by their lowest ranks, and a file contains its ranks in ascending order. */
static void place_in(const struct member *all, int n_ranks, int of_rank, struct sw_place *place)
{
    int64_t leader = all[of_rank].leader;
    *place = (struct sw_place){.first = of_rank == leader};
    for (int r = 0; r < leader; r++)
        place->number += all[r].leader == r;
    for (int r = 0; r < n_ranks; r++) {
        int64_t owner = all[r].of_rank;
        if (all[owner].leader != leader)
            continue;
        place->step_bytes += all[r].owned_bytes;
        place->before += owner < of_rank ? all[r].owned_bytes : 0;
    }
}

static bool place_per_node(const struct sw_options *options, MPI_Comm comm, int of_rank,
                           int64_t owned_bytes, struct sw_place *place)
{
    int n_ranks = sw_size_of(comm);
    struct member own = {sw_node_leader(comm, options->node_ranks), of_rank, owned_bytes};
    struct member *all = calloc((size_t)n_ranks, sizeof *all);
    int enough = all != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, comm);
    if (enough) {
        MPI_Allgather(&own, 3, MPI_INT64_T, all, 3, MPI_INT64_T, comm);
        place_in(all, n_ranks, of_rank, place);
    }
    free(all);
    return enough != 0;
}

bool sw_place_find(const struct sw_options *options, MPI_Comm comm, int of_rank,
                   int64_t owned_bytes, struct sw_place *place)
{
    *place = (struct sw_place){.first = of_rank == 0};
    if (options->files == SW_FILES_PER_NODE)
        return place_per_node(options, comm, of_rank, owned_bytes, place);
    if (options->files == SW_FILES_PER_PROCESS)
        *place = (struct sw_place){.number = of_rank, .first = true, .step_bytes = owned_bytes};
    return true;
}

void sw_place_path(const struct sw_options *options, const struct sw_place *place, char *path)
{
    if (options->files == SW_FILES_PER_PROCESS)
        snprintf(path, SW_PATH_BYTES, "%s.%06d", options->file, place->number);
    else if (options->files == SW_FILES_PER_NODE)
        snprintf(path, SW_PATH_BYTES, "%s.node%06d", options->file, place->number);
    else
        snprintf(path, SW_PATH_BYTES, "%s", options->file);
}

int sw_file_remove(const char *path)
{
    char target[PATH_MAX];
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISREG(status.st_mode))
        return 0;
    return realpath(path, target) != NULL ? unlink(target) : -1;
}

void sw_files_remove(struct sw_session *session, bool mine)
{
    const struct sw_backend *backend = session->options->backend;
    MPI_Barrier(session->comm);
    if (!backend->stores || !mine)
        return;
    if (backend->remove != NULL)
        backend->remove(session);
    else if (sw_file_remove(session->path) != 0)
        sw_fail_errno(session, "unlink");
}

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
    /* A file system without blocks (some network and user-space ones) does not report its room. */
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

/* ---- caches ------------------------------------------------------------------------------- */

/*
 * --drop-caches: before a file is read, each rank writes back what its node has of it in memory
 * and has the pages dropped. What remains is counted: on a file system in memory, everything.
 */
#define WINDOW_BYTES ((int64_t)1 << 30)

static int sync_one(struct sw_session *session, const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return sw_fail_errno(session, "open");
    return fsync(*fd) == 0 ? 0 : sw_fail_errno(session, "fsync");
}

static void drop_one(struct sw_session *session, int fd)
{
    int code = fd < 0 ? 0 : posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (code != 0)
        sw_fail(session, "posix_fadvise", "%s", strerror(code));
}

/* Returns the pages of [start, end) in memory; -1: unknown. */
static int64_t resident(int fd, int64_t start, int64_t end)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    unsigned char *pages = malloc((size_t)(WINDOW_BYTES / page));
    int64_t found = 0;
    start = start / page * page;
    for (; pages != NULL && found >= 0 && start < end; start += WINDOW_BYTES) {
        int64_t bytes = end - start < WINDOW_BYTES ? end - start : WINDOW_BYTES;
        void *place = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, (off_t)start);
        if (place == MAP_FAILED)
            found = -1;
        else if (mincore(place, (size_t)bytes, pages) != 0)
            found = -1;
        for (int64_t p = 0; found >= 0 && p < (bytes + page - 1) / page; p++)
            found += (pages[p] & 1U) * page;
        if (place != MAP_FAILED)
            munmap(place, (size_t)bytes);
    }
    free(pages);
    return pages != NULL ? found : -1;
}

/* For the file to be read: this rank's part of it. Linux reports it only to owners. */
static int64_t cached(const struct sw_session *session, int fd)
{
    struct stat status;
    int64_t rank = session->as_rank;
    int n_ranks = sw_size_of(session->comm);
    if (fd < 0 || fstat(fd, &status) != 0 || access(session->path, W_OK) != 0)
        return -1;
    if (session->options->files == SW_FILES_PER_PROCESS)
        return resident(fd, 0, status.st_size);
    if (session->options->files == SW_FILES_PER_NODE)
        return resident(fd, session->file_before,
                        session->file_before + session->share->owned_bytes);
    return resident(fd, status.st_size / n_ranks * rank,
                    rank == n_ranks - 1 ? status.st_size : status.st_size / n_ranks * (rank + 1));
}

int64_t sw_cache_drop(struct sw_session *session, const char *own_path)
{
    int fd = -1;
    int own = -1;
    sync_one(session, session->path, &fd);
    if (strcmp(own_path, session->path) != 0 && access(own_path, F_OK) == 0)
        sync_one(session, own_path, &own);
    MPI_Barrier(session->comm); /* no rank has dirty pages any more */
    drop_one(session, fd);
    drop_one(session, own);
    MPI_Barrier(session->comm);
    int64_t both[2] = {cached(session, fd), 0};
    both[1] = both[0] < 0;
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_SUM, session->comm);
    if (fd >= 0)
        close(fd);
    if (own >= 0)
        close(own);
    return both[1] > 0 ? -1 : both[0];
}
