/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines which MPI library a plug-in file needs from its bytes: loading it to find out would
 * load that library into the process, a second MPI with constructors and memory hooks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include "internal.h"

#define MPI_LIBRARY "libmpi" /* prefix of libmpi.so, libmpich.so, libmpi_abi.so, ... */

struct image {
    const char *at;
    size_t bytes;
};

/* Returns `bytes` at `offset`; NULL if they are not all in the file. */
static const void *part(const struct image *image, uint64_t offset, uint64_t bytes)
{
    bool within = offset <= image->bytes && bytes <= image->bytes - offset;
    return within ? image->at + offset : NULL;
}

static const Elf64_Phdr *segments(const struct image *image, size_t *count)
{
    const Elf64_Ehdr *header = part(image, 0, sizeof *header);
    *count = 0;
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr))
        return NULL;
    const Elf64_Phdr *first =
        part(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *first);
    *count = first != NULL ? header->e_phnum : 0;
    return first;
}

/* Returns the offset in the file of an address in memory; beyond its end if it is in no segment.
 * */
static uint64_t offset_of(const struct image *image, uint64_t address)
{
    size_t count;
    const Elf64_Phdr *segment = segments(image, &count);
    for (size_t i = 0; i < count; i++)
        if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
            address - segment[i].p_vaddr < segment[i].p_filesz)
            return segment[i].p_offset + (address - segment[i].p_vaddr);
    return UINT64_MAX;
}

static const Elf64_Dyn *dynamic(const struct image *image, size_t *n_entries)
{
    size_t count;
    const Elf64_Phdr *segment = segments(image, &count);
    *n_entries = 0;
    for (size_t i = 0; i < count; i++) {
        if (segment[i].p_type != PT_DYNAMIC)
            continue;
        const Elf64_Dyn *entries = part(image, segment[i].p_offset, segment[i].p_filesz);
        *n_entries = entries != NULL ? segment[i].p_filesz / sizeof *entries : 0;
        return entries;
    }
    return NULL;
}

/* Returns a name of the string table; NULL if it does not end within the file. */
static const char *text(const struct image *image, uint64_t table, uint64_t index)
{
    uint64_t offset = offset_of(image, table + index);
    const char *name = part(image, offset, 1);
    if (name == NULL || memchr(name, '\0', image->bytes - offset) == NULL)
        return NULL;
    return name;
}

static bool in_process(const char *soname)
{
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

const char *sw_needed_absent(const char *bytes, size_t n_bytes)
{
    struct image image = {bytes, n_bytes};
    size_t count;
    uint64_t table = 0;
    const Elf64_Dyn *entry = dynamic(&image, &count);
    for (size_t i = 0; i < count; i++)
        if (entry[i].d_tag == DT_STRTAB)
            table = entry[i].d_un.d_ptr;
    for (size_t i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
        if (entry[i].d_tag != DT_NEEDED)
            continue;
        const char *name = text(&image, table, entry[i].d_un.d_val);
        if (name != NULL && strncmp(name, MPI_LIBRARY, strlen(MPI_LIBRARY)) == 0 &&
            !in_process(name))
            return name;
    }
    return NULL;
}
