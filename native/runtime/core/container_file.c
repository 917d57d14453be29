/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node's container file: blocks are appended, and records written into them. The file is only
 * open meanwhile, since the program may close or reuse any descriptor. Other processes are
 * excluded by flock, which a dying holder releases. Space is preallocated before it is used, so
 * that a store never fails because the disk is full.
 */
#define _GNU_SOURCE
#include "container_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "system.h"

#define LOCK_ATTEMPTS 5000 /* of one millisecond each */

/* Problem of the present operation; the first one counts. */
static struct sw_trouble trouble;

static bool give_up(const char *text)
{
    if (trouble.text == NULL)
        trouble.text = text;
    return false;
}

static char container_path[PATH_MAX];
static char run_id[64];
static dev_t device; /* of the file that has our last block */
static ino_t inode;

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

bool sw_file_wanted(void)
{
    return container_path[0] != '\0';
}

static int open_file(int flags)
{
    int fd =
        sw_sys_openat(AT_FDCWD, container_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0) {
        trouble.passing = errno == EMFILE || errno == ENFILE;
        give_up(trouble.passing ? "no file descriptor is left for the container"
                                : "the container cannot be opened");
    }
    return fd;
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

/* Writes zeros if the file system does not support fallocate. */
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

/* Returns whether the limit permits it; exceeding the limit would raise SIGXFSZ. */
static bool is_allowed(off_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           (rlim_t)end <= limit.rlim_cur ||
           give_up("the file size limit leaves no room for the container");
}

static bool allocate(int fd, off_t offset, off_t bytes)
{
    if (!is_allowed(offset + bytes))
        return false;
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
    struct sw_sum sum = {0};
    sw_sum_add(&sum, &header, offsetof(struct sw_container_header, lost_processes));
    header.sum = sw_sum_value(&sum);
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

static bool write_and_map(int fd, const struct sw_block_header *header, off_t offset,
                          char **mapped)
{
    if (sw_sys_pwrite(fd, header, sizeof *header, offset) != (ssize_t)sizeof *header)
        return false;
    if (mapped == NULL)
        return true;
    *mapped = sw_sys_mmap(header->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (*mapped == MAP_FAILED)
        return false;
    sw_fault_mapped(*mapped, header->bytes);
    return true;
}

/* A process beyond the limit is only counted; the file is locked. */
static bool count_lost_process(int fd)
{
    const off_t place = offsetof(struct sw_container_header, lost_processes);
    uint64_t lost = 0;
    return syscall(SYS_pread64, fd, &lost, sizeof lost, place) == (ssize_t)sizeof lost &&
           ++lost != 0 && sw_sys_pwrite(fd, &lost, sizeof lost, place) == (ssize_t)sizeof lost;
}

static bool is_within_run(int fd, const struct sw_block_header *header, uint64_t offset)
{
    if (offset + header->bytes <= sw_options.run_bytes)
        return true;
    if (header->kind == SW_BLOCK_PROCESS)
        count_lost_process(fd);
    return give_up("the container has reached " SW_ENV_RUN_BYTES);
}

/* A block that cannot be used is removed again: there is nothing behind it yet. */
static bool make_block(int fd, struct sw_block_header *header, uint64_t offset, char **mapped)
{
    if (header->kind == SW_BLOCK_PROCESS)
        header->process_id = offset;
    if (!allocate(fd, (off_t)offset, (off_t)header->bytes))
        return false;
    if (write_and_map(fd, header, (off_t)offset, mapped))
        return true;
    if (syscall(SYS_ftruncate, fd, (off_t)offset) != 0)
        return give_up("the container cannot be shortened again");
    return give_up("a block of the container cannot be mapped");
}

/* Appends to the locked file. */
static uint64_t append(int fd, struct sw_block_header *header, char **mapped)
{
    struct stat status;
    if (sw_sys_fstat(fd, &status) != 0)
        return 0;
    bool fresh = status.st_size < SW_PAGE;
    if (fresh ? !write_file_header(fd) : !check_file_header(fd))
        return 0;
    uint64_t size = fresh ? SW_PAGE : (uint64_t)status.st_size;
    uint64_t offset = (size + SW_PAGE - 1) / SW_PAGE * SW_PAGE;
    if (!is_within_run(fd, header, offset) || !make_block(fd, header, offset, mapped))
        return 0;
    device = status.st_dev;
    inode = status.st_ino;
    return offset;
}

uint64_t sw_file_append(struct sw_block_header *header, char **mapped, struct sw_trouble *why)
{
    uint64_t offset = 0;
    trouble = (struct sw_trouble){.text = NULL};
    int fd = open_file(O_CREAT);
    if (fd >= 0) {
        if (lock_file(fd)) {
            offset = append(fd, header, mapped);
            syscall(SYS_flock, fd, LOCK_UN);
        }
        sw_sys_close(fd);
    }
    if (offset == 0)
        give_up("the container cannot be extended");
    *why = trouble;
    return offset;
}

/* ---- records ------------------------------------------------------------------------ */

/* Another file may have taken its place by now. */
static bool has_our_blocks(int fd)
{
    struct stat status;
    return (sw_sys_fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode) ||
           give_up("the container was moved or removed while it was written");
}

/* The first word, which makes the records visible, is written last. */
static bool put_records(int fd, off_t offset, const char *records, size_t bytes)
{
    const size_t first = sizeof(uint64_t);
    const size_t rest = bytes - first;
    return (sw_sys_pwrite(fd, records + first, rest, offset + (off_t)first) == (ssize_t)rest &&
            sw_sys_pwrite(fd, records, first, offset) == (ssize_t)first) ||
           give_up("the container cannot be written");
}

int sw_file_open(struct sw_trouble *why)
{
    trouble = (struct sw_trouble){.text = NULL};
    int fd = open_file(0);
    if (fd >= 0 && !has_our_blocks(fd)) {
        sw_sys_close(fd);
        fd = -1;
    }
    *why = trouble;
    return fd;
}

bool sw_file_put_number(int fd, uint64_t offset, uint64_t number)
{
    return is_allowed((off_t)(offset + sizeof number)) &&
           sw_sys_pwrite(fd, &number, sizeof number, (off_t)offset) == (ssize_t)sizeof number;
}

bool sw_file_put_records(uint64_t offset, const void *records, size_t bytes,
                         struct sw_trouble *why)
{
    int fd = sw_file_open(why);
    bool done = fd >= 0 && is_allowed((off_t)(offset + bytes)) &&
                put_records(fd, (off_t)offset, records, bytes);
    if (fd >= 0)
        sw_sys_close(fd);
    *why = trouble;
    return done;
}
