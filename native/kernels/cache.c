/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * --drop-caches: before a file is read, each rank writes back what its node has of it in memory
 * and has the pages dropped.  How much stays is counted: on a file system in memory, all.
 */
#include "kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Pages in memory of [start, end); -1: not known. */
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

/* Of the file to be read: this rank's part of it.  Linux tells owners alone. */
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
    MPI_Barrier(session->comm); /* nobody's pages are dirty any more */
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
