/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Ends of the process image, and I/O that passes no wrapper. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "posix.h"
#include "../core/system.h"

/* ---- exec --------------------------------------------------------------------------- */

/* An exec that returns has failed: then the process continues as before. */
static int failed(int result)
{
    int saved_errno = errno;
    sw_unfinish();
    errno = saved_errno;
    return result;
}

SW_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    sw_program_starts(path, false, environment);
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->execve(path, arguments, environment));
}

SW_EXPORT int execv(const char *path, char *const arguments[])
{
    sw_program_starts(path, false, NULL);
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->execv(path, arguments));
}

SW_EXPORT int execvp(const char *file, char *const arguments[])
{
    sw_program_starts(file, true, NULL);
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->execvp(file, arguments));
}

SW_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    sw_program_starts(file, true, environment);
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->execvpe(file, arguments, environment));
}

SW_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    sw_program_starts_by(fd, environment);
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->fexecve(fd, arguments, environment));
}

#define SW_SPAWN(name, searched)                                                                  \
    SW_EXPORT int name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, \
                       const posix_spawnattr_t *attributes, char *const arguments[],              \
                       char *const environment[])                                                 \
    {                                                                                             \
        sw_program_starts(path, searched, environment);                                           \
        return sw_posix()->name(child, path, actions, attributes, arguments, environment);        \
    }

SW_SPAWN(posix_spawn, false)
SW_SPAWN(posix_spawnp, true)

SW_EXPORT int execveat(int directory, const char *path, char *const arguments[],
                       char *const environment[], int flags)
{
    sw_finish(SW_ENDING_EXEC);
    return failed(sw_posix()->execveat(directory, path, arguments, environment, flags));
}

/* Counts the arguments of the list forms, including the terminating NULL. */
static size_t count_arguments(va_list arguments)
{
    size_t count = 2; /* the first one and the NULL */
    while (va_arg(arguments, char *) != NULL)
        count++;
    return count;
}

static void collect_arguments(char **out, const char *first, va_list arguments)
{
    *out++ = (char *)(uintptr_t)first;
    while ((*out++ = va_arg(arguments, char *)) != NULL) {
    }
}

#define SW_EXEC_LIST(name, vector)                                                                \
    SW_EXPORT int name(const char *path, const char *first, ...)                                  \
    {                                                                                             \
        va_list arguments;                                                                        \
        va_start(arguments, first);                                                               \
        char **list = alloca(count_arguments(arguments) * sizeof *list);                          \
        va_end(arguments);                                                                        \
        va_start(arguments, first);                                                               \
        collect_arguments(list, first, arguments);                                                \
        va_end(arguments);                                                                        \
        return vector(path, list);                                                                \
    }

SW_EXEC_LIST(execl, execv)
SW_EXEC_LIST(execlp, execvp)

SW_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list arguments;
    va_start(arguments, first);
    char **list = alloca(count_arguments(arguments) * sizeof *list);
    va_end(arguments);
    va_start(arguments, first);
    collect_arguments(list, first, arguments);
    char **environment = va_arg(arguments, char **);
    va_end(arguments);
    return execve(path, list, environment);
}

/* ---- processes that share our memory --------------------------------------------------- */

#if defined(__x86_64__)
/*
 * Marks the thread and continues in the real function: it returns twice to our caller, the second
 * time when the child has released the memory, so no frame of ours may be on the stack. Until the
 * layer is started, fork() is used instead, which is permitted.
 */
_Static_assert(offsetof(struct sw_thread, vforked) == 0, "as the code below has it");
__attribute__((visibility("hidden"))) pid_t (*sw_real_vfork)(void) = fork;
__asm__(".text\n"
        ".p2align 4\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq sw_thread@gottpoff(%rip), %rax\n"
        "    movl $1, %fs:(%rax)\n"
        "    jmp *sw_real_vfork(%rip)\n"
        "    .cfi_endproc\n"
        ".size vfork, . - vfork\n");

void sw_posix_find_vfork(void)
{
    void *found = sw_resolve("vfork", NULL);
    if (found != NULL)
        sw_real_vfork = (pid_t(*)(void))(uintptr_t)found;
}
#else
void sw_posix_find_vfork(void)
{
}
#endif

#define SHARES_MEMORY 0x100 /* CLONE_VM */
#define IS_THREAD 0x10000   /* CLONE_THREAD */

SW_EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list more;
    va_start(more, argument);
    void *parent = va_arg(more, void *);
    void *storage = va_arg(more, void *);
    void *child = va_arg(more, void *);
    va_end(more);
    if ((flags & SHARES_MEMORY) != 0 && (flags & IS_THREAD) == 0)
        sw_memory_is_shared = true;
    return sw_posix()->clone(function, stack, flags, argument, parent, storage, child);
}

/* ---- exits that run no destructor ------------------------------------------------------ */

SW_EXPORT void _exit(int status)
{
    sw_finish(SW_ENDING_ABRUPT);
    sw_posix()->_exit(status);
    __builtin_unreachable();
}

SW_EXPORT void _Exit(int status)
{
    sw_finish(SW_ENDING_ABRUPT);
    sw_posix()->_Exit(status);
    __builtin_unreachable();
}

SW_EXPORT void quick_exit(int status)
{
    sw_finish(SW_ENDING_ABRUPT);
    sw_posix()->quick_exit(status);
    __builtin_unreachable();
}

/* ---- memory maps: stores instead of calls ------------------------------------------------------
 * */

/* An MPI's own threads share memory with its daemon (Open MPI 5 through PMIx): a store there is
 * not I/O of the program. */
static bool is_mpi(const void *caller)
{
    static const char *const libraries[] = {"libmpi", "libopen-", "libpmix"};
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

/* Returns the flags for the accesses to a file that are not seen from here on. */
static uint32_t mapped_flags(int protection, int flags)
{
    if ((protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0)
        return SW_FILE_MAPPED_SHARED;
    return (protection & PROT_EXEC) == 0 ? SW_FILE_MAPPED : 0;
}

static void *mapped(void *address, int protection, int flags, int fd, const void *caller)
{
    struct sw_fd *entry = fd >= 0 ? sw_fd_entry(fd) : NULL;
    if (fd >= 0 && address != MAP_FAILED && sw_thread.inside == 0 && sw_is_hooked(SW_DO_READ))
        sw_memory_mapped(fd);
    uint32_t unseen = entry != NULL ? mapped_flags(protection, flags) : 0;
    if (unseen == 0 || address == MAP_FAILED || sw_thread.inside != 0 || !sw_running() ||
        !sw_own_process())
        return address;
    int saved_errno = errno;
    bool writes = unseen == SW_FILE_MAPPED_SHARED;
    if (!is_mpi(caller)) {
        if (writes)
            sw_fd_wrote(entry);
        if (sw_thread.active >> SW_LAYER_MPIIO == 0) { /* not internal to an I/O library */
            sw_file_flag(sw_fd_posix(entry), unseen);
            if (writes)
                sw_process_flag(SW_PROCESS_USES_SHARED_MMAP);
        }
    }
    errno = saved_errno;
    return address;
}

/* A preloaded allocator maps memory while it holds its own lock, before we are ready; for a
 * missing symbol, dlsym() would allocate, and wait for that lock for ever. */
static bool is_early(void)
{
    return SW_UNLIKELY(!__atomic_load_n(&sw_posix_resolved, __ATOMIC_ACQUIRE));
}

static void *map_early(void *address, size_t bytes, int protection, int flags, int fd,
                       off_t offset)
{
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

SW_EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (is_early())
        return map_early(address, bytes, protection, flags, fd, offset);
    return mapped(sw_posix()->mmap(address, bytes, protection, flags, fd, offset), protection,
                  flags, fd, __builtin_return_address(0));
}

SW_EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
                       off64_t offset)
{
    if (is_early())
        return map_early(address, bytes, protection, flags, fd, offset);
    return mapped(sw_posix()->mmap64(address, bytes, protection, flags, fd, offset), protection,
                  flags, fd, __builtin_return_address(0));
}

/* Function of libaio. */
SW_EXPORT int io_setup(int requests, void *context);
SW_EXPORT int io_setup(int requests, void *context)
{
    SW_REAL(int, io_setup, (int, void *));
    sw_process_flag(SW_PROCESS_USES_IO_URING);
    sw_ring_made();
    return real != NULL ? real(requests, context) : -ENOSYS;
}

SW_EXPORT int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
SW_EXPORT int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    SW_REAL(int, io_uring_queue_init, (unsigned, void *, unsigned));
    sw_process_flag(SW_PROCESS_USES_IO_URING);
    sw_ring_made();
    return real != NULL ? real(entries, ring, flags) : -ENOSYS;
}

SW_EXPORT int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters);
SW_EXPORT int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters)
{
    SW_REAL(int, io_uring_queue_init_params, (unsigned, void *, void *));
    sw_process_flag(SW_PROCESS_USES_IO_URING);
    sw_ring_made();
    return real != NULL ? real(entries, ring, parameters) : -ENOSYS;
}
