/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Descriptor table, in chunks of anonymous pages that are allocated when their first descriptor is
 * tracked. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/sysmacros.h>

#include "descriptors.h"
#include "system.h"

#define CHUNK_BYTES (SW_FD_CHUNK * sizeof(struct sw_fd))

struct sw_fd *sw_fd_chunks[SW_FD_CHUNKS];
static int highest = -1; /* highest one that was ever tracked */

static struct sw_fd *chunk_for(unsigned chunk)
{
    struct sw_fd *entries = __atomic_load_n(&sw_fd_chunks[chunk], __ATOMIC_ACQUIRE);
    if (entries != NULL)
        return entries;
    void *pages =
        sw_sys_mmap(CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(&sw_fd_chunks[chunk], &entries, (struct sw_fd *)pages, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return pages;
    syscall(SYS_munmap, pages, CHUNK_BYTES);
    return entries;
}

void sw_fd_add_flags(struct sw_fd *entry, uint32_t flags)
{
    if ((__atomic_load_n(&entry->flags, __ATOMIC_RELAXED) & flags) != flags)
        __atomic_fetch_or(&entry->flags, flags, __ATOMIC_RELAXED);
}

static int number_of(const struct sw_fd *entry)
{
    for (int chunk = 0; chunk < SW_FD_CHUNKS; chunk++) {
        const struct sw_fd *entries = __atomic_load_n(&sw_fd_chunks[chunk], __ATOMIC_ACQUIRE);
        if (entries != NULL && entry >= entries && entry < entries + SW_FD_CHUNK)
            return chunk * SW_FD_CHUNK + (int)(entry - entries);
    }
    return -1;
}

static struct sw_file *make_taken_over(const struct sw_fd *entry)
{
    bool wanted;
    int fd = number_of(entry);
    int saved_errno = errno;
    long access = syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE;
    struct sw_file *file = sw_file_behind(SW_LAYER_POSIX, fd, true, &wanted);
    sw_file_flag(file, (access != O_WRONLY ? SW_FILE_OPENED_READ : 0) |
                           (access != O_RDONLY ? SW_FILE_OPENED_WRITE : 0));
    errno = saved_errno;
    return file;
}

/* An inherited descriptor shares its position with the parent; the parent must sync what it wrote.
 * */
static __attribute__((noinline)) void adopt(struct sw_fd *entry)
{
    entry->generation = sw_options.generation;
    __atomic_fetch_and(&entry->flags, ~SW_FD_WRITTEN, __ATOMIC_RELAXED);
    sw_fd_add_flags(entry, SW_FD_ASK);
    entry->posix = sw_file_renew(entry->posix);
    entry->stdio = sw_file_renew(entry->stdio);
    entry->issued = NULL;
    if ((entry->flags & SW_FD_TAKEN_OVER) != 0 && entry->posix == NULL && entry->stdio == NULL)
        entry->posix = make_taken_over(entry);
}

static inline void adopt_inherited(struct sw_fd *entry)
{
    if (SW_UNLIKELY(entry->generation != sw_options.generation))
        adopt(entry);
}

/* Only after the parent's mark has been cleared, which would clear this one too. */
void sw_fd_wrote(struct sw_fd *entry)
{
    adopt_inherited(entry);
    sw_fd_add_flags(entry, SW_FD_WRITTEN);
}

struct sw_file *sw_fd_posix(struct sw_fd *entry)
{
    adopt_inherited(entry);
    if (SW_UNLIKELY(entry->posix == NULL && entry->stdio != NULL))
        entry->posix = sw_file_sibling(entry->stdio, SW_LAYER_POSIX);
    return entry->posix;
}

struct sw_file *sw_fd_stdio(struct sw_fd *entry)
{
    adopt_inherited(entry);
    if (entry->stdio == NULL && entry->posix != NULL)
        entry->stdio = sw_file_sibling(entry->posix, SW_LAYER_STDIO);
    return entry->stdio;
}

struct sw_file *sw_fd_issued(struct sw_fd *entry)
{
    if (SW_UNLIKELY(entry->issued == NULL && entry->stdio != NULL))
        entry->issued = sw_file_sibling(entry->stdio, SW_ISSUED);
    return entry->issued;
}

/* Local file systems use this clock for timestamps; it advances with the timer's tick. */
struct sw_birth sw_birth_before(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (struct sw_birth){now.tv_sec, (uint32_t)now.tv_nsec};
}

static bool is_same(const struct statx_timestamp *one, const struct statx_timestamp *other)
{
    return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

/* Servers have clocks of their own. */
#define CLOCK_SLACK_SECONDS 2

static bool is_before(const struct statx_timestamp *when, const struct sw_birth *then, bool local)
{
    int64_t seconds = then->seconds - (local ? 0 : CLOCK_SLACK_SECONDS);
    return when->tv_sec < seconds ||
           (when->tv_sec == seconds && when->tv_nsec < then->nanoseconds);
}

/* A file that this open created is empty, and has not changed since: truncating an old one changes
 * its times too, but not its birth. Without a time of birth, that of the last access is used. */
static bool is_just_born(const struct statx *status, const struct sw_birth *before)
{
    bool has_birth = (status->stx_mask & STATX_BTIME) != 0;
    const struct statx_timestamp *birth = has_birth ? &status->stx_btime : &status->stx_atime;
    bool local = makedev(status->stx_dev_major, status->stx_dev_minor) == sw_options.run_device;
    return status->stx_size == 0 && is_same(birth, &status->stx_mtime) &&
           is_same(birth, &status->stx_ctime) && !is_before(birth, before, local);
}

/* For kernels, and filters, that do not support statx(). */
static bool ask_older(int fd, struct statx *status)
{
    struct stat old;
    if (sw_sys_fstat(fd, &old) != 0)
        return false;
    *status = (struct statx){
        .stx_mode = (uint16_t)old.st_mode,
        .stx_size = (uint64_t)old.st_size,
        .stx_atime = {.tv_sec = old.st_atim.tv_sec, .tv_nsec = (uint32_t)old.st_atim.tv_nsec},
        .stx_mtime = {.tv_sec = old.st_mtim.tv_sec, .tv_nsec = (uint32_t)old.st_mtim.tv_nsec},
        .stx_ctime = {.tv_sec = old.st_ctim.tv_sec, .tv_nsec = (uint32_t)old.st_ctim.tv_nsec},
        .stx_dev_major = major(old.st_dev),
        .stx_dev_minor = minor(old.st_dev),
    };
    return true;
}

mode_t sw_opened_type(int fd, const struct sw_birth *before, bool *existed)
{
    struct statx status;
    unsigned mask = before == NULL ? STATX_TYPE
                                   : STATX_TYPE | STATX_SIZE | STATX_ATIME | STATX_MTIME |
                                         STATX_CTIME | STATX_BTIME;
    if (sw_sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &status) != 0 &&
        !ask_older(fd, &status))
        return 0;
    if (before != NULL)
        *existed = !is_just_born(&status, before);
    return status.stx_mode & S_IFMT;
}

struct sw_file *sw_fd_file(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    return entry == NULL ? NULL : sw_fd_posix(entry);
}

static void track(int fd, struct sw_file *posix, struct sw_file *stdio, uint32_t flags,
                  int64_t position, uint32_t generation)
{
    unsigned chunk = (unsigned)fd / SW_FD_CHUNK;
    struct sw_fd *entries = fd >= 0 && chunk < SW_FD_CHUNKS ? chunk_for(chunk) : NULL;
    if (entries == NULL)
        return;
    struct sw_fd *entry = &entries[(unsigned)fd % SW_FD_CHUNK];
    sw_fd_leave_unsynced(entry);
    __atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
    entry->posix = posix;
    entry->stdio = stdio;
    entry->issued = NULL;
    entry->position = position;
    entry->generation = generation;
    __atomic_store_n(&entry->flags, flags | SW_FD_TRACKED, __ATOMIC_RELEASE);
    int seen = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    while (fd > seen && !__atomic_compare_exchange_n(&highest, &seen, fd, true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED)) {
    }
}

void sw_fd_track(int fd, struct sw_file *posix, struct sw_file *stdio, uint32_t flags,
                 int64_t position)
{
    track(fd, posix, stdio, flags, position, sw_options.generation);
}

/* Tracks it as if an earlier generation had opened it. */
static void track_taken_over(int fd, uint32_t flags)
{
    track(fd, NULL, NULL, flags | SW_FD_TAKEN_OVER | SW_FD_ASK, -1, sw_options.generation - 1);
}

static void take_over(int fd)
{
    bool wanted;
    struct stat status;
    if (sw_fd_entry(fd) != NULL || sw_sys_fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    long flags = syscall(SYS_fcntl, fd, F_GETFL);
    if (flags < 0 || (flags & O_PATH) != 0)
        return;
    (void)sw_file_behind(SW_LAYER_POSIX, fd, false, &wanted);
    if (wanted)
        track_taken_over(fd, (flags & O_ACCMODE) != O_RDONLY ? SW_FD_CAN_WRITE : 0);
}

/* Returns whether an output of the program is one of the run itself, which is no I/O of it. */
static bool is_output_of_the_run(int fd, const char *outputs)
{
    struct stat status;
    char wanted[64];
    if (outputs == NULL || sw_sys_fstat(fd, &status) != 0)
        return true;
    int length = snprintf(wanted, sizeof wanted, "%ju:%ju", (uintmax_t)status.st_dev,
                          (uintmax_t)status.st_ino);
    for (const char *next = outputs; next != NULL; next = strchr(next, ',')) {
        next += *next == ',';
        if (strncmp(next, wanted, (size_t)length) == 0 && strchr(",", next[length]) != NULL)
            return true;
    }
    return false;
}

#define FIRST_ONES 64 /* inherited descriptors have low numbers */

/* One query determines which are open. */
void sw_fd_take_over(void)
{
    const struct timespec at_once = {0};
    struct pollfd asked[FIRST_ONES];
    const char *outputs = getenv(SW_ENV_OUTPUTS);
    for (int fd = 0; fd < FIRST_ONES; fd++) {
        bool output = fd == STDOUT_FILENO || fd == STDERR_FILENO;
        bool left_out = output && is_output_of_the_run(fd, outputs);
        asked[fd] = (struct pollfd){.fd = left_out ? -1 : fd};
    }
    if (syscall(SYS_ppoll, asked, (long)FIRST_ONES, &at_once, NULL, 0UL) < 0)
        return;
    for (int fd = 0; fd < FIRST_ONES; fd++)
        if (asked[fd].fd >= 0 && (asked[fd].revents & POLLNVAL) == 0)
            take_over(fd);
}

void sw_fd_copy(int fd, int copy)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry == NULL) {
        sw_fd_untrack(copy);
        return;
    }
    if ((entry->flags & SW_FD_TAKEN_OVER) != 0 && entry->posix == NULL) {
        track_taken_over(copy, entry->flags & SW_FD_CAN_WRITE);
        return;
    }
    adopt_inherited(entry);
    sw_fd_add_flags(entry, SW_FD_ASK);
    uint32_t kept = entry->flags & SW_FD_CAN_WRITE;
    sw_fd_track(copy, entry->posix, entry->stdio, kept | SW_FD_ASK, -1);
}

void sw_fd_untrack(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry == NULL)
        return;
    sw_fd_leave_unsynced(entry);
    __atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
}

bool sw_fd_take_written(int fd)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry == NULL || entry->generation != sw_options.generation ||
        (entry->flags & SW_FD_WRITTEN) == 0)
        return false;
    __atomic_fetch_and(&entry->flags, ~SW_FD_WRITTEN, __ATOMIC_RELAXED);
    return true;
}

void sw_fd_each(unsigned first, unsigned last, void (*visit)(int fd))
{
    int end = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    for (unsigned fd = first; (int)fd <= end && fd <= last; fd++) {
        if (sw_fd_entry((int)fd) != NULL)
            visit((int)fd);
    }
}

int64_t sw_fd_advance(int fd, struct sw_fd *entry, int64_t bytes)
{
    if (bytes < 0)
        return -1;
    int64_t start;
    if (SW_UNLIKELY((entry->flags & SW_FD_ASK) != 0)) {
        int saved_errno = errno;
        start = sw_sys_lseek(fd, 0, SEEK_CUR);
        errno = saved_errno;
        return start < bytes ? -1 : start - bytes;
    }
    start = __atomic_load_n(&entry->position, __ATOMIC_RELAXED);
    if (start < 0)
        return -1;
    if (SW_LIKELY(__libc_single_threaded))
        entry->position = start + bytes;
    else
        start = __atomic_fetch_add(&entry->position, bytes, __ATOMIC_RELAXED);
    return start;
}

void sw_fd_set_position(struct sw_fd *entry, int64_t position)
{
    __atomic_store_n(&entry->position, position, __ATOMIC_RELAXED);
}
