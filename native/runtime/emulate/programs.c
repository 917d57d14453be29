/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Programs that this one starts: nothing can be preloaded into a static one. */
#define _GNU_SOURCE
#include <elf.h>
#include <string.h>

#include "emulator.h"
#include "../core/system.h"

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

/* May run in a child that shares our memory: changes nothing but the counter.  Names without a
 * slash are not looked for along PATH. */
void sw_emulator_starts(const char *path)
{
    if (strchr(path, '/') == NULL || is_ldconfig(path) || syscall(SYS_access, path, X_OK) != 0)
        return;
    int fd = sw_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return;
    if (is_static(fd))
        SW_EMULATE_COUNT(static_programs, 1);
    sw_sys_close(fd);
}
