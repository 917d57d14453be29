/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The real functions behind the POSIX layer, and what its wrappers share. */
#ifndef STRIPEWISE_POSIX_H
#define STRIPEWISE_POSIX_H

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

#include "../core/descriptors.h"
#include "../core/internal.h"
#include "../hooks/hook.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "64-bit offsets throughout");

/* X(type, name, arguments): every function that this layer wraps or calls. */
#define SW_POSIX_FUNCTIONS(X)                                                                     \
    X(ssize_t, read, (int, void *, size_t))                                                       \
    X(ssize_t, write, (int, const void *, size_t))                                                \
    X(ssize_t, pread, (int, void *, size_t, off_t))                                               \
    X(ssize_t, pread64, (int, void *, size_t, off_t))                                             \
    X(ssize_t, pwrite, (int, const void *, size_t, off_t))                                        \
    X(ssize_t, pwrite64, (int, const void *, size_t, off_t))                                      \
    X(ssize_t, readv, (int, const struct iovec *, int))                                           \
    X(ssize_t, writev, (int, const struct iovec *, int))                                          \
    X(ssize_t, preadv, (int, const struct iovec *, int, off_t))                                   \
    X(ssize_t, preadv64, (int, const struct iovec *, int, off_t))                                 \
    X(ssize_t, pwritev, (int, const struct iovec *, int, off_t))                                  \
    X(ssize_t, pwritev64, (int, const struct iovec *, int, off_t))                                \
    X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int))                             \
    X(ssize_t, preadv64v2, (int, const struct iovec *, int, off_t, int))                          \
    X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int))                            \
    X(ssize_t, pwritev64v2, (int, const struct iovec *, int, off_t, int))                         \
    X(ssize_t, __read_chk, (int, void *, size_t, size_t))                                         \
    X(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))                                 \
    X(ssize_t, __pread64_chk, (int, void *, size_t, off_t, size_t))                               \
    X(int, vdprintf, (int, const char *, va_list))                                                \
    X(int, __vdprintf_chk, (int, int, const char *, va_list))                                     \
    X(int, open, (const char *, int, ...))                                                        \
    X(int, open64, (const char *, int, ...))                                                      \
    X(int, __open_2, (const char *, int))                                                         \
    X(int, __open64_2, (const char *, int))                                                       \
    X(int, openat, (int, const char *, int, ...))                                                 \
    X(int, openat64, (int, const char *, int, ...))                                               \
    X(int, __openat_2, (int, const char *, int))                                                  \
    X(int, __openat64_2, (int, const char *, int))                                                \
    X(int, creat, (const char *, mode_t))                                                         \
    X(int, creat64, (const char *, mode_t))                                                       \
    X(int, mkstemp, (char *))                                                                     \
    X(int, mkstemp64, (char *))                                                                   \
    X(int, mkostemp, (char *, int))                                                               \
    X(int, mkostemp64, (char *, int))                                                             \
    X(int, mkstemps, (char *, int))                                                               \
    X(int, mkstemps64, (char *, int))                                                             \
    X(int, mkostemps, (char *, int, int))                                                         \
    X(int, mkostemps64, (char *, int, int))                                                       \
    X(int, close, (int))                                                                          \
    X(int, close_range, (unsigned, unsigned, int))                                                \
    X(void, closefrom, (int))                                                                     \
    X(int, dup, (int))                                                                            \
    X(int, dup2, (int, int))                                                                      \
    X(int, dup3, (int, int, int))                                                                 \
    X(int, fcntl, (int, int, ...))                                                                \
    X(int, fcntl64, (int, int, ...))                                                              \
    X(off_t, lseek, (int, off_t, int))                                                            \
    X(off_t, lseek64, (int, off_t, int))                                                          \
    X(int, fsync, (int))                                                                          \
    X(int, fdatasync, (int))                                                                      \
    X(int, sync_file_range, (int, off_t, off_t, unsigned))                                        \
    X(int, ftruncate, (int, off_t))                                                               \
    X(int, ftruncate64, (int, off_t))                                                             \
    X(int, truncate, (const char *, off_t))                                                       \
    X(int, truncate64, (const char *, off_t))                                                     \
    X(int, stat, (const char *, struct stat *))                                                   \
    X(int, stat64, (const char *, struct stat64 *))                                               \
    X(int, lstat, (const char *, struct stat *))                                                  \
    X(int, lstat64, (const char *, struct stat64 *))                                              \
    X(int, fstat, (int, struct stat *))                                                           \
    X(int, fstat64, (int, struct stat64 *))                                                       \
    X(int, fstatat, (int, const char *, struct stat *, int))                                      \
    X(int, fstatat64, (int, const char *, struct stat64 *, int))                                  \
    X(int, __xstat, (int, const char *, struct stat *))                                           \
    X(int, __xstat64, (int, const char *, struct stat64 *))                                       \
    X(int, __lxstat, (int, const char *, struct stat *))                                          \
    X(int, __lxstat64, (int, const char *, struct stat64 *))                                      \
    X(int, __fxstat, (int, int, struct stat *))                                                   \
    X(int, __fxstat64, (int, int, struct stat64 *))                                               \
    X(int, statx, (int, const char *, int, unsigned, struct statx *))                             \
    X(int, unlink, (const char *))                                                                \
    X(int, unlinkat, (int, const char *, int))                                                    \
    X(int, remove, (const char *))                                                                \
    X(int, rename, (const char *, const char *))                                                  \
    X(int, renameat, (int, const char *, int, const char *))                                      \
    X(int, renameat2, (int, const char *, int, const char *, unsigned))                           \
    X(int, mkdir, (const char *, mode_t))                                                         \
    X(int, access, (const char *, int))                                                           \
    X(int, eaccess, (const char *, int))                                                          \
    X(int, euidaccess, (const char *, int))                                                       \
    X(int, faccessat, (int, const char *, int, int))                                              \
    X(DIR *, opendir, (const char *))                                                             \
    X(int, closedir, (DIR *))                                                                     \
    X(int, mkdirat, (int, const char *, mode_t))                                                  \
    X(int, rmdir, (const char *))                                                                 \
    X(int, link, (const char *, const char *))                                                    \
    X(int, linkat, (int, const char *, int, const char *, int))                                   \
    X(int, symlink, (const char *, const char *))                                                 \
    X(int, symlinkat, (const char *, int, const char *))                                          \
    X(ssize_t, readlink, (const char *, char *, size_t))                                          \
    X(ssize_t, readlinkat, (int, const char *, char *, size_t))                                   \
    X(int, chmod, (const char *, mode_t))                                                         \
    X(int, fchmod, (int, mode_t))                                                                 \
    X(int, fchmodat, (int, const char *, mode_t, int))                                            \
    X(int, chown, (const char *, uid_t, gid_t))                                                   \
    X(int, lchown, (const char *, uid_t, gid_t))                                                  \
    X(int, fchown, (int, uid_t, gid_t))                                                           \
    X(int, fchownat, (int, const char *, uid_t, gid_t, int))                                      \
    X(int, utime, (const char *, const struct utimbuf *))                                         \
    X(int, utimes, (const char *, const struct timeval *))                                        \
    X(int, lutimes, (const char *, const struct timeval *))                                       \
    X(int, utimensat, (int, const char *, const struct timespec *, int))                          \
    X(int, futimens, (int, const struct timespec *))                                              \
    X(int, setxattr, (const char *, const char *, const void *, size_t, int))                     \
    X(int, lsetxattr, (const char *, const char *, const void *, size_t, int))                    \
    X(int, fsetxattr, (int, const char *, const void *, size_t, int))                             \
    X(ssize_t, getxattr, (const char *, const char *, void *, size_t))                            \
    X(ssize_t, lgetxattr, (const char *, const char *, void *, size_t))                           \
    X(ssize_t, fgetxattr, (int, const char *, void *, size_t))                                    \
    X(ssize_t, listxattr, (const char *, char *, size_t))                                         \
    X(ssize_t, llistxattr, (const char *, char *, size_t))                                        \
    X(int, removexattr, (const char *, const char *))                                             \
    X(int, lremovexattr, (const char *, const char *))                                            \
    X(int, statfs, (const char *, struct statfs *))                                               \
    X(int, statfs64, (const char *, struct statfs64 *))                                           \
    X(int, statvfs, (const char *, struct statvfs *))                                             \
    X(int, statvfs64, (const char *, struct statvfs64 *))                                         \
    X(int, fstatfs, (int, struct statfs *))                                                       \
    X(int, fstatfs64, (int, struct statfs64 *))                                                   \
    X(int, fstatvfs, (int, struct statvfs *))                                                     \
    X(int, fstatvfs64, (int, struct statvfs64 *))                                                 \
    X(int, ioctl, (int, unsigned long, ...))                                                      \
    X(int, syncfs, (int))                                                                         \
    X(int, chdir, (const char *))                                                                 \
    X(int, fchdir, (int))                                                                         \
    X(int, chroot, (const char *))                                                                \
    X(int, daemon, (int, int))                                                                    \
    X(int, unshare, (int))                                                                        \
    X(int, nftw, (const char *, __nftw_func_t, int, int))                                         \
    X(int, nftw64, (const char *, __nftw64_func_t, int, int))                                     \
    X(void *, fts_open, (char *const *, int, void *))                                             \
    X(void *, fts_open64, (char *const *, int, void *))                                           \
    X(int, clone, (int (*)(void *), void *, int, void *, ...))                                    \
    X(ssize_t, copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned))               \
    X(ssize_t, sendfile, (int, int, off_t *, size_t))                                             \
    X(ssize_t, sendfile64, (int, int, off_t *, size_t))                                           \
    X(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned))                        \
    X(int, fallocate, (int, int, off_t, off_t))                                                   \
    X(int, fallocate64, (int, int, off_t, off_t))                                                 \
    X(int, posix_fallocate, (int, off_t, off_t))                                                  \
    X(int, posix_fallocate64, (int, off_t, off_t))                                                \
    X(int, aio_read, (struct aiocb *))                                                            \
    X(int, aio_read64, (struct aiocb64 *))                                                        \
    X(int, aio_write, (struct aiocb *))                                                           \
    X(int, aio_write64, (struct aiocb64 *))                                                       \
    X(int, aio_error, (const struct aiocb *))                                                     \
    X(int, aio_error64, (const struct aiocb64 *))                                                 \
    X(ssize_t, aio_return, (struct aiocb *))                                                      \
    X(ssize_t, aio_return64, (struct aiocb64 *))                                                  \
    X(int, aio_suspend, (const struct aiocb *const *, int, const struct timespec *))              \
    X(int, aio_suspend64, (const struct aiocb64 *const *, int, const struct timespec *))          \
    X(int, aio_fsync, (int, struct aiocb *))                                                      \
    X(int, lio_listio, (int, struct aiocb *const *, int, struct sigevent *))                      \
    X(int, lio_listio64, (int, struct aiocb64 *const *, int, struct sigevent *))                  \
    X(void *, mmap, (void *, size_t, int, int, int, off_t))                                       \
    X(void *, mmap64, (void *, size_t, int, int, int, off_t))                                     \
    X(int, execve, (const char *, char *const *, char *const *))                                  \
    X(int, execv, (const char *, char *const *))                                                  \
    X(int, execvp, (const char *, char *const *))                                                 \
    X(int, execvpe, (const char *, char *const *, char *const *))                                 \
    X(int, fexecve, (int, char *const *, char *const *))                                          \
    X(int, posix_spawn,                                                                           \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,      \
       char *const *, char *const *))                                                             \
    X(int, posix_spawnp,                                                                          \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,      \
       char *const *, char *const *))                                                             \
    X(int, execveat, (int, const char *, char *const *, char *const *, int))                      \
    X(void, _exit, (int))                                                                         \
    X(void, _Exit, (int))                                                                         \
    X(void, quick_exit, (int))

#define SW_POSIX_POINTER(type, name, arguments) type(*name) arguments;
struct sw_posix_functions {
    SW_POSIX_FUNCTIONS(SW_POSIX_POINTER)
};

extern struct sw_posix_functions sw_posix_functions;
extern bool sw_posix_resolved;
void sw_posix_resolve(void);
void sw_posix_find_vfork(void);
/* Handles asynchronous requests whose results nobody will fetch any more. */
void sw_posted_at_exit(void);

/* Returns the real functions. Those that libc lacks fail with ENOSYS. */
static inline const struct sw_posix_functions *sw_posix(void)
{
    if (SW_UNLIKELY(!__atomic_load_n(&sw_posix_resolved, __ATOMIC_ACQUIRE)))
        sw_posix_resolve();
    return &sw_posix_functions;
}

/* Enters a call on a tracked descriptor; NULL: pass the call on. */
static inline struct sw_fd *sw_posix_enter_as(struct sw_call *call, int fd, const char *name)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    if (entry == NULL)
        return NULL;
    if (SW_LIKELY(sw_enter_as(call, SW_LAYER_POSIX, name)))
        return entry;
    sw_fd_add_flags(entry, SW_FD_ASK); /* this call moves the position unnoticed */
    return NULL;
}
#define sw_posix_enter(call, fd) sw_posix_enter_as(call, fd, __func__)

/* Like sw_posix_enter, for calls that do not move the position and end with sw_posix_leave. */
static inline struct sw_fd *sw_posix_enter_quietly_as(struct sw_call *call, int fd,
                                                      const char *name)
{
    struct sw_fd *entry = sw_fd_entry(fd);
    return entry != NULL && sw_enter_briefly_as(call, SW_LAYER_POSIX, name, false) ? entry : NULL;
}
#define sw_posix_enter_quietly(call, fd) sw_posix_enter_quietly_as(call, fd, __func__)

/* Ends a call without data; `failed`: it returned an error. */
static inline void sw_posix_leave(struct sw_call *call, struct sw_fd *entry, enum sw_op op,
                                  bool failed)
{
    if (failed)
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, sw_fd_posix(entry), op);
}

#endif
