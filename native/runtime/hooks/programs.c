/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Started programs without this library: the emulated storages do not delay them, the guard does
 * not cover them, and a profile does not contain them. */
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

/* Returns whether it is for this kind of machine: others do not run here. */
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

/* Returns whether it is ldconfig, which lists libraries for others, such as Python's ctypes, and
 * is static everywhere. */
static bool is_ldconfig(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash, "/ldconfig") == 0;
}

/* The loader preloads nothing into a program that runs as another user. */
static bool is_of_another(int fd)
{
    struct stat status;
    return sw_sys_fstat(fd, &status) == 0 &&
           (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
            ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
}

/* ---- the environment that it gets ---------------------------------------------------------- */

/* Reads the program's memory, whose pointers may be invalid. */
static size_t read_memory(const void *from, void *out, size_t bytes)
{
    struct iovec here = {out, bytes};
    struct iovec there = {(void *)(uintptr_t)from, bytes};
    long moved = syscall(SYS_process_vm_readv, sw_sys_getpid(), &here, 1UL, &there, 1UL, 0UL);
    return moved > 0 ? (size_t)moved : 0;
}

#define AT_ONCE 64
static const char variable[] = "LD_PRELOAD=";
#define VARIABLE_BYTES (sizeof variable - 1)

/* Returns whether the value of the entry names this library. */
static bool preloads_us(const char *entry)
{
    char text[PATH_MAX];
    size_t bytes = read_memory(entry, text, sizeof text);
    return memmem(text, strnlen(text, bytes), "libstripewise", 13) != NULL;
}

/* Returns whether one of the entries does; unreadable ones are skipped. */
static bool one_preloads_us(const char *const *entries, size_t count)
{
    char begins[AT_ONCE][VARIABLE_BYTES];
    struct iovec here = {begins, count * VARIABLE_BYTES};
    struct iovec there[AT_ONCE];
    for (size_t i = 0; i < count; i++)
        there[i] = (struct iovec){(void *)(uintptr_t)entries[i], VARIABLE_BYTES};
    for (size_t done = 0; done < count;) {
        long moved = syscall(SYS_process_vm_readv, sw_sys_getpid(), &here, 1UL, &there[done],
                             count - done, 0UL);
        size_t whole = moved > 0 ? (size_t)moved / VARIABLE_BYTES : 0;
        for (size_t i = 0; i < whole; i++)
            if (memcmp(begins[i], variable, VARIABLE_BYTES) == 0 && preloads_us(entries[done + i]))
                return true;
        done += whole + 1;
    }
    return false;
}

/* Returns whether it is a valid list of variables, none of which preloads this library. */
static bool preloads_nothing(char *const environment[])
{
    const char *entries[AT_ONCE];
    for (char *const *at = environment;;) {
        size_t read = read_memory(at, entries, sizeof entries) / sizeof entries[0];
        size_t count = 0;
        while (count < read && entries[count] != NULL)
            count++;
        if (read == 0 || one_preloads_us(entries, count))
            return false;
        if (count < read)
            return true;
        at += count;
    }
}

/* ---- the start ----------------------------------------------------------------------------- */

#define MOST_TOLD 8

/* Returns whether it was reported before; each program is reported once, and only few are. */
static bool is_told(const char *path)
{
    static uint64_t told[MOST_TOLD];
    uint64_t hash = 1;
    for (const char *at = path; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < MOST_TOLD; i++) {
        if (told[i] == hash)
            return true;
        if (told[i] == 0) {
            told[i] = hash;
            return false;
        }
    }
    return true;
}

/* Sets a mark in this process, or in the one whose memory it shares. */
static void note_unseen(enum sw_refused why, const char *path)
{
    char text[512];
    const char *words = why == SW_ESCAPED_STATIC   ? "it is linked statically"
                        : why == SW_ESCAPED_SETUID ? "it runs as another user or group"
                                                   : "its environment drops LD_PRELOAD";
    sw_process_flag(SW_PROCESS_STARTED_UNSEEN);
    if (is_told(path))
        return;
    snprintf(text, sizeof text, SW_NOTE_UNSEEN "%.400s: %s", path, words);
    sw_note(text);
}

static void look_at(int fd, const char *path, char *const environment[])
{
    enum sw_refused why;
    if (is_ldconfig(path))
        return;
    if (is_static(fd))
        why = SW_ESCAPED_STATIC;
    else if (is_of_another(fd))
        why = SW_ESCAPED_SETUID;
    else if (preloads_nothing(environment))
        why = SW_ESCAPED_CLEAN;
    else
        return;
    if (why == SW_ESCAPED_STATIC && sw_emulating())
        sw_emulator_static_starts();
    if (sw_refused_wanted())
        sw_refused_tell(why, path);
    if (sw_options.by_preload)
        note_unseen(why, path);
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

/* Returns the default of the C library. */
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

/* May run in a child that shares our memory: changes only counters, and adds a note. */
void sw_program_starts(const char *path, bool searched, char *const environment[])
{
    int saved_errno = errno;
    if ((sw_options.by_preload || sw_emulating() || sw_refused_wanted()) &&
        sw_path_is_readable(path))
        search(path, searched, environment != NULL ? environment : environ);
    errno = saved_errno;
}

void sw_program_starts_by(int fd, char *const environment[])
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    sw_program_starts(path, false, environment);
}
