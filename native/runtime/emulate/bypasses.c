/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What is not held back, and is said: memory maps, rings, and static programs, into which nothing
 * can be preloaded. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "../core/system.h"

void sw_emulator_note_once(const char *text, bool *noted)
{
    if (!__atomic_exchange_n(noted, true, __ATOMIC_RELAXED))
        sw_note(text);
}

void sw_memory_mapped(int fd)
{
    static bool noted;
    const struct sw_emulated *file = sw_emulating() ? sw_emulated_file(fd) : NULL;
    if (file == NULL)
        return;
    SW_EMULATE_COUNT(file->storage, mapped, 1);
    sw_emulator_note_once("emulation: the program maps files into its memory: what it reads and "
                          "writes there is not held back",
                          &noted);
}

void sw_ring_made(void)
{
    static bool noted;
    if (!sw_emulating() || noted)
        return;
    for (unsigned i = 0; i < sw_emulators_used; i++) /* what it is for is not known */
        SW_EMULATE_COUNT(&sw_emulators[i], rings, 1);
    sw_emulator_note_once("emulation: the program uses io_uring or libaio: what it reads and "
                          "writes by them is not held back",
                          &noted);
}

/* ---- static programs -------------------------------------------------------------------------
 */

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

static void count_static(void)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        SW_EMULATE_COUNT(&sw_emulators[i], static_programs, 1);
}

static bool begins(const char *path)
{
    int fd = syscall(SYS_access, path, X_OK) != 0
                 ? -1
                 : sw_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return false;
    if (is_static(fd) && !is_ldconfig(path))
        count_static();
    sw_sys_close(fd);
    return true;
}

static void search(const char *path, bool searched)
{
    char found[PATH_MAX];
    const char *place = searched && strchr(path, '/') == NULL ? getenv("PATH") : NULL;
    if (place == NULL) {
        begins(path);
        return;
    }
    for (size_t bytes; *place != '\0'; place += bytes + (place[bytes] == ':')) {
        bytes = strcspn(place, ":");
        int all = snprintf(found, sizeof found, "%.*s/%s", (int)bytes, place, path);
        if (all > 0 && (size_t)all < sizeof found && begins(found))
            return;
    }
}

/* May run in a child that shares our memory: changes nothing but the counter. */
void sw_program_starts(const char *path, bool searched)
{
    int saved_errno = errno;
    if (sw_emulating() && sw_path_is_readable(path))
        search(path, searched);
    errno = saved_errno;
}
