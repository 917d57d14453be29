/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are started and that the library will not be in: what the emulated storages do
 * not hold back, and what the guard does not reach. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "hook.h"
#include "refused.h"
#include "../core/system.h"
#include "../emulate/emulator.h"

extern char **environ;

/* ---- the file ------------------------------------------------------------------------------ */

#define MOST_HEADERS 64

static bool read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
    return syscall(SYS_pread64, fd, out, bytes, (off_t)offset) == (long)bytes;
}

/* Of this machine's kind: others do not run here. */
static bool is_program(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN) &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum >= 1 &&
           header->e_phnum <= MOST_HEADERS;
}

static bool is_static(int fd)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    if (!read_at(fd, &header, sizeof header, 0) || !is_program(&header))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++)
        if (!read_at(fd, &part, sizeof part, header.e_phoff + i * sizeof part) ||
            part.p_type == PT_INTERP)
            return false;
    return true;
}

/* It lists libraries for others, Python's ctypes among them, and is static everywhere. */
static bool is_ldconfig(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash, "/ldconfig") == 0;
}

/* The loader preloads nothing into a program that runs as somebody else. */
static bool is_of_another(int fd)
{
    struct stat status;
    return sw_sys_fstat(fd, &status) == 0 &&
           (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
            ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
}

/* ---- the environment that it gets ---------------------------------------------------------- */

/* Memory of the program's, whose pointers may be bad. */
static size_t read_memory(const void *from, void *out, size_t bytes)
{
    struct iovec here = {out, bytes};
    struct iovec there = {(void *)(uintptr_t)from, bytes};
    long moved = syscall(SYS_process_vm_readv, sw_sys_getpid(), &here, 1UL, &there, 1UL, 0UL);
    return moved > 0 ? (size_t)moved : 0;
}

/* Whether it is a list of variables that ends, and none of them preloads a library of this name.
 */
static bool preloads_nothing(char *const environment[])
{
    static const char name[] = "LD_PRELOAD=";
    char text[PATH_MAX];
    for (char *const *at = environment;; at++) {
        const char *entry;
        if (read_memory(at, &entry, sizeof entry) != sizeof entry)
            return false;
        if (entry == NULL)
            return true;
        size_t bytes = read_memory(entry, text, sizeof name - 1);
        if (bytes != sizeof name - 1 || memcmp(text, name, bytes) != 0)
            continue;
        bytes = read_memory(entry, text, sizeof text);
        return memmem(text, strnlen(text, bytes), "libstripewise", 13) == NULL;
    }
}

/* ---- the start ----------------------------------------------------------------------------- */

static void look_at(int fd, const char *path, char *const environment[])
{
    bool is_unseen = is_static(fd) && !is_ldconfig(path);
    if (is_unseen && sw_emulating())
        sw_emulator_static_starts();
    if (!sw_refused_wanted())
        return;
    if (is_unseen)
        sw_refused_tell(SW_ESCAPED_STATIC, path);
    else if (is_of_another(fd))
        sw_refused_tell(SW_ESCAPED_SETUID, path);
    else if (preloads_nothing(environment))
        sw_refused_tell(SW_ESCAPED_CLEAN, path);
}

static bool begins(const char *path, char *const environment[])
{
    int fd = syscall(SYS_access, path, X_OK) != 0
                 ? -1
                 : sw_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return false;
    look_at(fd, path, environment);
    sw_sys_close(fd);
    return true;
}

/* As the C library has it. */
static const char *search_path(void)
{
    const char *path = getenv("PATH");
    return path != NULL ? path : "/bin:/usr/bin";
}

static void search(const char *path, bool searched, char *const environment[])
{
    char found[PATH_MAX];
    const char *place = searched && strchr(path, '/') == NULL ? search_path() : NULL;
    if (place == NULL) {
        begins(path, environment);
        return;
    }
    for (size_t bytes; *place != '\0'; place += bytes + (place[bytes] == ':')) {
        bytes = strcspn(place, ":");
        int all = snprintf(found, sizeof found, "%.*s/%s", (int)bytes, place, path);
        if (all > 0 && (size_t)all < sizeof found && begins(found, environment))
            return;
    }
}

/* May run in a child that shares our memory: changes nothing but counters. */
void sw_program_starts(const char *path, bool searched, char *const environment[])
{
    int saved_errno = errno;
    if ((sw_emulating() || sw_refused_wanted()) && sw_path_is_readable(path))
        search(path, searched, environment != NULL ? environment : environ);
    errno = saved_errno;
}
