/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* System calls of our own, made below every wrapper, so that neither this library nor another
 * preloaded one counts them. All return -1 and set errno on failure. */
#ifndef STRIPEWISE_SYSTEM_H
#define STRIPEWISE_SYSTEM_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int sw_sys_openat(int directory, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static inline int sw_sys_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

static inline ssize_t sw_sys_read(int fd, void *buffer, size_t bytes)
{
    return syscall(SYS_read, fd, buffer, bytes);
}

static inline ssize_t sw_sys_write(int fd, const void *buffer, size_t bytes)
{
    return syscall(SYS_write, fd, buffer, bytes);
}

static inline ssize_t sw_sys_pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
}

static inline off_t sw_sys_lseek(int fd, off_t offset, int whence)
{
    return syscall(SYS_lseek, fd, offset, whence);
}

static inline int sw_sys_fsync(int fd)
{
    return (int)syscall(SYS_fsync, fd);
}

static inline ssize_t sw_sys_readlinkat(int directory, const char *path, char *out, size_t room)
{
    return syscall(SYS_readlinkat, directory, path, out, room);
}

static inline int sw_sys_statx(int directory, const char *path, int flags, unsigned mask,
                               struct statx *out)
{
    return (int)syscall(SYS_statx, directory, path, flags, mask, out);
}

/* The kernel's struct stat is glibc's on 64-bit machines. */
static inline int sw_sys_fstat(int fd, struct stat *out)
{
    return (int)syscall(SYS_fstat, fd, out);
}

static inline int sw_sys_mkdir(const char *path, mode_t mode)
{
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static inline int sw_sys_link(const char *path, const char *name)
{
    return (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0);
}

static inline int sw_sys_unlink(const char *path)
{
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static inline void *sw_sys_mmap(size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, NULL, bytes, protection, flags, fd, offset);
}

static inline pid_t sw_sys_getpid(void)
{
    return (pid_t)syscall(SYS_getpid);
}

#endif
