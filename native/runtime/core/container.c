/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of the node's container file.  Everything here runs under sw_lock; other
 * processes are kept out by flock, which a dying holder releases.  Room is preallocated
 * before it is mapped, so that a store can never meet a full disk.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "internal.h"
#include "system.h"

#define FIRST_BLOCK_BYTES (4 * SW_PAGE)
#define SECOND_BLOCK_BYTES (16 * SW_PAGE)
#define LARGEST_BLOCK_BYTES (256 * SW_PAGE)
#define LOCK_ATTEMPTS 5000 /* of a millisecond */

static struct sw_process stand_in = {.rank = -1};
struct sw_process *sw_process_live = &stand_in;

/* Records that share a bound: those of the counters, and those of the trace, whose trouble
 * leaves the counters alone. */
struct region {
    char *free; /* room that is left in the newest block */
    char *end;
    uint64_t next_block_bytes;
    uint64_t total_bytes;
    const char *trouble; /* the last one */
    uint64_t until_ns;   /* it grows no more before: UINT64_MAX, unless the trouble may pass */
};

static struct {
    bool attempted;
    bool mapped;
    uint64_t process_id;
    struct region counters;
    struct region trace;  /* what threads share: names, shapes, time bins */
    struct region events; /* THREAD and EVENTS blocks; their owners keep the room */
    const char *trouble;  /* of the block that is being made */
    bool passing;         /* that trouble */
} container;

#define PASSING_NS UINT64_C(1000000000)

static void stop(struct region *region, const char *trouble, bool passing)
{
    __atomic_store_n(&region->until_ns, passing ? sw_now_ns() + PASSING_NS : UINT64_MAX,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&region->trouble, trouble, __ATOMIC_RELEASE);
}

static bool has_stopped(const struct region *region)
{
    return __atomic_load_n(&region->trouble, __ATOMIC_ACQUIRE) != NULL &&
           sw_now_ns() < __atomic_load_n(&region->until_ns, __ATOMIC_RELAXED);
}

static bool give_up(const char *trouble)
{
    if (container.trouble == NULL)
        container.trouble = trouble;
    return false;
}

/* ---- the file ------------------------------------------------------------------- */

static char container_path[PATH_MAX];
static char run_id[64];

void sw_container_load(void)
{
    const char *directory = getenv(SW_ENV_DIRECTORY);
    const char *run = getenv(SW_ENV_RUN_ID);
    struct utsname system;
    if (directory == NULL || directory[0] == '\0' || uname(&system) != 0)
        return;
    snprintf(run_id, sizeof run_id, "%s", run != NULL ? run : "");
    size_t length = sw_path_absolute(AT_FDCWD, directory, container_path,
                                     PATH_MAX - sizeof system.nodename - 8);
    if (length != 0)
        snprintf(container_path + length, PATH_MAX - length, "/%s.sw", system.nodename);
}

static int open_file(void)
{
    return sw_sys_openat(AT_FDCWD, container_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                         0600);
}

static bool lock_file(int fd)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (syscall(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

/* Zeros where the file system knows no fallocate. */
static int write_zeros(int fd, off_t offset, off_t bytes)
{
    static const char zeros[SW_PAGE];
    for (off_t done = 0; done < bytes; done += SW_PAGE) {
        if (sw_sys_pwrite(fd, zeros, SW_PAGE, offset + done) != SW_PAGE)
            return errno != 0 ? errno : ENOSPC;
    }
    return 0;
}

static int reserve_room(int fd, off_t offset, off_t bytes)
{
    if (syscall(SYS_fallocate, fd, 0, offset, bytes) == 0)
        return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? write_zeros(fd, offset, bytes) : errno;
}

/* Allocates without the SIGXFSZ that passing RLIMIT_FSIZE would raise. */
static bool allocate(int fd, off_t offset, off_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(offset + bytes) > limit.rlim_cur)
        return give_up("the file size limit leaves no room for the container");
    int error = reserve_room(fd, offset, bytes);
    if (error == 0)
        return true;
    if (syscall(SYS_ftruncate, fd, offset) != 0)
        return give_up("the container cannot be shortened again");
    return give_up(error == ENOSPC ? "no space left for the container"
                                   : "room for the container cannot be allocated");
}

static bool write_file_header(int fd)
{
    struct sw_container_header header = {
        .magic = SW_CONTAINER_MAGIC,
        .version = SW_CONTAINER_VERSION,
        .header_bytes = SW_PAGE,
        .created_ns = sw_options.start_ns,
    };
    struct utsname system;
    if (uname(&system) == 0)
        snprintf(header.host, sizeof header.host, "%s", system.nodename);
    snprintf(header.run_id, sizeof header.run_id, "%s", run_id);
    return allocate(fd, 0, SW_PAGE) &&
           sw_sys_pwrite(fd, &header, sizeof header, 0) == (ssize_t)sizeof header;
}

static bool check_file_header(int fd)
{
    struct sw_container_header header;
    if (syscall(SYS_pread64, fd, &header, sizeof header, 0) != (ssize_t)sizeof header)
        return give_up("the container cannot be read");
    if (header.magic != SW_CONTAINER_MAGIC || header.version != SW_CONTAINER_VERSION)
        return give_up("the file in the container's place is none, or of another version");
    return true;
}

/* ---- blocks ------------------------------------------------------------------------ */

/* A block that cannot be used is taken off again: behind it there is nothing yet. */
static bool write_and_map(int fd, int kind, uint64_t offset, uint64_t bytes, char **mapped)
{
    const struct sw_block_header header = {
        .magic = SW_BLOCK_MAGIC,
        .kind = (uint16_t)kind,
        .version = SW_CONTAINER_VERSION,
        .bytes = bytes,
        .process_id = kind == SW_BLOCK_PROCESS ? offset : container.process_id,
        .pid = (uint32_t)sw_options.pid,
    };
    *mapped = MAP_FAILED;
    if (sw_sys_pwrite(fd, &header, sizeof header, (off_t)offset) == (ssize_t)sizeof header)
        *mapped = sw_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (*mapped != MAP_FAILED)
        return true;
    if (syscall(SYS_ftruncate, fd, (off_t)offset) != 0)
        return give_up("the container cannot be shortened again");
    return give_up("a block of the container cannot be mapped");
}

/* Appends a block to the locked file and maps it; its offset, or 0. */
static uint64_t append_block(int fd, int kind, uint64_t bytes, char **mapped)
{
    struct stat status;
    if (sw_sys_fstat(fd, &status) != 0)
        return 0;
    bool fresh = status.st_size < SW_PAGE;
    if (fresh ? !write_file_header(fd) : !check_file_header(fd))
        return 0;
    uint64_t size = fresh ? SW_PAGE : (uint64_t)status.st_size;
    uint64_t offset = (size + SW_PAGE - 1) / SW_PAGE * SW_PAGE;
    if (allocate(fd, (off_t)offset, (off_t)bytes) &&
        write_and_map(fd, kind, offset, bytes, mapped))
        return offset;
    return 0;
}

/* NULL, and trouble, if there is no room. */
static char *new_block(int kind, uint64_t bytes)
{
    int fd = open_file();
    if (fd < 0) {
        container.passing = errno == EMFILE || errno == ENFILE;
        give_up(container.passing ? "no file descriptor is left for the container"
                                  : "the container cannot be opened");
        return NULL;
    }
    char *mapped = NULL;
    uint64_t offset = 0;
    if (lock_file(fd)) {
        offset = append_block(fd, kind, bytes, &mapped);
        syscall(SYS_flock, fd, LOCK_UN);
    }
    sw_sys_close(fd);
    if (offset == 0) {
        give_up("the container cannot be extended");
        return NULL;
    }
    if (kind == SW_BLOCK_PROCESS)
        container.process_id = offset;
    return mapped;
}

/* A block of a region.  After a trouble that does not pass it gets none any more. */
static char *add_block(struct region *region, int kind, uint64_t bytes)
{
    container.trouble = NULL;
    container.passing = false;
    char *block = new_block(kind, bytes);
    if (block == NULL) {
        stop(region, container.trouble, container.passing);
        return NULL;
    }
    region->total_bytes += bytes;
    return block;
}

static char *add_counters_block(int kind, uint64_t bytes)
{
    struct region *region = &container.counters;
    if (region->total_bytes + bytes > sw_options.max_bytes) {
        stop(region, "the records of this process have reached " SW_ENV_MAX_BYTES, false);
        return NULL;
    }
    return add_block(region, kind, bytes);
}

bool sw_container_open(void)
{
    if (container.attempted)
        return container.mapped;
    container.attempted = true;
    container.counters.next_block_bytes = SECOND_BLOCK_BYTES;
    container.trace.next_block_bytes = FIRST_BLOCK_BYTES;
    if (container_path[0] == '\0')
        return false;
    char *block = add_counters_block(SW_BLOCK_PROCESS, FIRST_BLOCK_BYTES);
    if (block == NULL)
        return false;
    struct sw_process *process = (struct sw_process *)(block + sizeof(struct sw_block_header));
    *process = stand_in;
    sw_process_describe(process);
    container.counters.free = (char *)(process + 1);
    container.counters.end = block + FIRST_BLOCK_BYTES;
    container.mapped = true;
    __atomic_store_n(&sw_process_live, process, __ATOMIC_RELEASE);
    return true;
}

bool sw_container_mapped(void)
{
    return sw_process_live != &stand_in;
}

const char *sw_container_trouble(void)
{
    const struct region *regions[] = {&container.counters, &container.events, &container.trace};
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        if (regions[i]->trouble != NULL)
            return regions[i]->trouble;
    }
    return NULL;
}

/* The parent's mapping stays: its paths are read when a descriptor is inherited. */
void sw_container_forget(void)
{
    memset(&container, 0, sizeof container);
    memset(&stand_in, 0, sizeof stand_in);
    stand_in.rank = -1;
    sw_process_live = &stand_in;
}

/* ---- records ------------------------------------------------------------------------ */

/* An eighth of the trace's bound is kept for what threads share: names and time bins go on
 * when there is no room for events any more. */
static uint64_t trace_left(const struct region *region)
{
    uint64_t most = sw_options.capture_bytes;
    uint64_t used = container.trace.total_bytes + container.events.total_bytes;
    uint64_t left = used < most ? most - used : 0;
    uint64_t kept =
        most / 8 > container.trace.total_bytes ? most / 8 - container.trace.total_bytes : 0;
    if (region == &container.events)
        left = left > kept ? left - kept : 0;
    return left / SW_PAGE * SW_PAGE;
}

static char *add_trace_block(struct region *region, int kind, uint64_t *bytes, uint64_t least)
{
    uint64_t left = trace_left(region);
    if (left < least) {
        stop(region, "the trace of this process has reached " SW_ENV_CAPTURE_BYTES, false);
        return NULL;
    }
    if (*bytes > left)
        *bytes = left;
    return add_block(region, kind, *bytes);
}

char *sw_container_trace_block(enum sw_trace_block_kind kind, uint64_t *bytes, uint64_t least)
{
    if (!sw_container_open() || has_stopped(&container.events))
        return NULL;
    return add_trace_block(&container.events, (int)kind, bytes, least);
}

bool sw_container_trace_full(void)
{
    return has_stopped(&container.events);
}

bool sw_container_records_full(void)
{
    return has_stopped(&container.trace);
}

static bool grow(struct region *region, uint32_t bytes)
{
    uint64_t least = (bytes + sizeof(struct sw_block_header) + SW_PAGE - 1) / SW_PAGE * SW_PAGE;
    uint64_t block_bytes = region->next_block_bytes > least ? region->next_block_bytes : least;
    char *block = region == &container.trace
                      ? add_trace_block(region, SW_BLOCK_RECORDS, &block_bytes, least)
                      : add_counters_block(SW_BLOCK_RECORDS, block_bytes);
    if (block == NULL)
        return false;
    region->free = block + sizeof(struct sw_block_header);
    region->end = block + block_bytes;
    if (region->next_block_bytes < LARGEST_BLOCK_BYTES)
        region->next_block_bytes *= 2;
    return true;
}

static void *reserve(struct region *region, uint32_t bytes)
{
    if (!sw_container_open())
        return NULL;
    if ((size_t)(region->end - region->free) < bytes &&
        (has_stopped(region) || !grow(region, bytes)))
        return NULL;
    void *room = region->free;
    region->free += bytes;
    return room;
}

void *sw_container_reserve(uint32_t bytes)
{
    return reserve(&container.counters, bytes);
}

void *sw_container_reserve_trace(uint32_t bytes)
{
    return reserve(&container.trace, bytes);
}

void sw_container_commit(struct sw_record *record, uint32_t bytes)
{
    __atomic_store_n(&record->bytes, bytes, __ATOMIC_RELEASE);
}
