/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the plug-in for the MPI in this process: gets the MPI's version, looks for
 * libstripewise-mpi-<family>-<major>.so in STRIPEWISE_PLUGIN_PATH, reads the mark in the file
 * before loading it, and afterwards checks that both use the same copy of the MPI.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "presence.h"

#define VERSION_BYTES 16384 /* twice the longest MPI_MAX_LIBRARY_VERSION_STRING */
#define IDENTITY_FUNCTION "PMPI_Get_library_version"

struct identity {
    enum sw_mpi_family family;
    const char *plugin_family;
    int major; /* of the plug-in that is needed */
    bool cray;
};

static const struct sw_plugin *usable_plugin;
static bool cray_mpich;
static int world_rank = -1;
static int world_size;

/* ---- which MPI ----------------------------------------------------------------- */

static int first_number(const char *text)
{
    while (*text && !isdigit((unsigned char)*text))
        text++;
    return atoi(text);
}

/* Returns the major version in MPICH's numbering: Cray names the MPICH it is based on; for other
 * derivatives (Intel, MVAPICH) the version of the standard determines it: MPICH 3 has MPI 3, MPICH
 * 4 has MPI 4. */
static int mpich_major(const char *version, const void *caller)
{
    int major = 0;
    int minor = 0;
    const char *base = strstr(version, "ANL base");
    if (base != NULL)
        return first_number(base);
    if (strstr(version, "MPICH Version") != NULL)
        return first_number(strstr(version, "MPICH Version"));
    int (*get)(int *, int *) = (int (*)(int *, int *))sw_resolve("MPI_Get_version", caller);
    return get != NULL && get(&major, &minor) == 0 ? major : 0;
}

/* Returns the version of the standard's own ABI that this process uses (libmpi_abi.so); 0 if it
 * uses the implementation's ABI. Both libraries report the same otherwise. */
static int abi_major(const void *caller)
{
    int major = 0;
    int minor = 0;
    int (*get)(int *, int *) = (int (*)(int *, int *))sw_resolve("MPI_Abi_get_version", caller);
    return get != NULL && get(&major, &minor) == 0 && major > 0 ? major : 0;
}

static struct identity identify_library(const char *version, const void *caller)
{
    if (strstr(version, "Open MPI") != NULL)
        return (struct identity){SW_MPI_OPENMPI, "openmpi",
                                 first_number(strstr(version, "Open MPI")), false};
    if (strstr(version, "MPICH") != NULL || strstr(version, "Intel(R) MPI") != NULL ||
        strstr(version, "MVAPICH") != NULL)
        return (struct identity){SW_MPI_MPICH, "mpich", mpich_major(version, caller),
                                 strstr(version, "CRAY") != NULL};
    return (struct identity){SW_MPI_OTHER, "other", 0, false};
}

static struct identity identify(const char *version, const void *caller)
{
    struct identity mpi = identify_library(version, caller);
    int abi = abi_major(caller);
    if (abi > 0) {
        mpi.plugin_family = "abi";
        mpi.major = abi;
    }
    return mpi;
}

static const char *library_version(const void *caller)
{
    static char text[VERSION_BYTES];
    int length = 0;
    int (*get)(char *, int *) =
        (int (*)(char *, int *))sw_resolve("MPI_Get_library_version", caller);
    if (get == NULL || get(text, &length) != 0)
        return "";
    text[VERSION_BYTES - 1] = '\0';
    return text;
}

/* ---- the file ------------------------------------------------------------------ */

struct file {
    const char *bytes;
    size_t count;
};

static bool map_file(const char *path, struct file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return false;
    file->count = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    void *image =
        file->count ? mmap(NULL, file->count, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    file->bytes = image;
    return image != MAP_FAILED;
}

/* Reads the mark in the bytes of a plug-in; returns false if there is none. */
static bool read_mark(const struct file *file, struct sw_plugin_mark *mark)
{
    const char *at = memmem(file->bytes, file->count, SW_PLUGIN_MARK, sizeof SW_PLUGIN_MARK);
    if (at == NULL || (size_t)(file->bytes + file->count - at) < sizeof *mark)
        return false;
    memcpy(mark, at, sizeof *mark);
    mark->family[sizeof mark->family - 1] = '\0';
    return true;
}

/* Returns why a file must not be loaded, NULL if there is no reason. */
static const char *check_file(const struct file *file, const struct identity *mpi)
{
    struct sw_plugin_mark mark;
    if (!read_mark(file, &mark))
        return "it is not a plug-in of Stripewise";
    if (mark.version != SW_PLUGIN_VERSION)
        return "it was built for another version of Stripewise";
    if (strcmp(mark.family, mpi->plugin_family) != 0 || mark.major != mpi->major)
        return "it was built for another MPI";
    if (sw_needed_absent(file->bytes, file->count) != NULL)
        return "it is bound to an MPI library that the program does not use";
    return NULL;
}

/* Finds the first directory of the search path with the plug-in. */
static bool find_file(const struct identity *mpi, char *path, size_t bytes)
{
    const char *rest = getenv(SW_ENV_PLUGIN_PATH);
    while (rest != NULL && *rest != '\0') {
        size_t length = strcspn(rest, ":");
        snprintf(path, bytes, "%.*s/libstripewise-mpi-%s-%d.so", (int)length, rest,
                 mpi->plugin_family, mpi->major);
        if (length > 0 && access(path, R_OK) == 0)
            return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

/* ---- loading ------------------------------------------------------------------- */

static const char *load(const char *path, const void *caller)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return "it cannot be loaded";
    const struct sw_plugin *(*get)(void) =
        (const struct sw_plugin *(*)(void))dlsym(handle, "sw_plugin_get");
    const char *problem = NULL;
    if (get == NULL || get()->version != SW_PLUGIN_VERSION)
        problem = "it was built for another version of Stripewise";
    else if (dlsym(handle, IDENTITY_FUNCTION) != sw_resolve(IDENTITY_FUNCTION, caller))
        problem = "it is bound to another copy of the MPI library";
    if (problem != NULL)
        dlclose(handle);
    else
        __atomic_store_n(&usable_plugin, get(), __ATOMIC_RELEASE);
    return problem;
}

static const char *check_and_load(const char *path, const struct identity *mpi, const void *caller)
{
    struct file file;
    if (!map_file(path, &file))
        return "it is not a plug-in of Stripewise";
    const char *problem = check_file(&file, mpi);
    munmap((void *)file.bytes, file.count);
    return problem != NULL ? problem : load(path, caller);
}

static enum sw_plugin_state choose(const struct identity *mpi, const void *caller)
{
    char path[PATH_MAX];
    char note[PATH_MAX + 256];
    if (!find_file(mpi, path, sizeof path)) {
        snprintf(note, sizeof note,
                 "no plug-in libstripewise-mpi-%s-%d.so in " SW_ENV_PLUGIN_PATH
                 ": hints are not applied and bytes of MPI-IO are not counted; "
                 "`stripewise doctor build` makes one",
                 mpi->plugin_family, mpi->major);
        sw_note(note);
        return SW_PLUGIN_MISSING;
    }
    const char *problem = check_and_load(path, mpi, caller);
    if (problem == NULL)
        return SW_PLUGIN_LOADED;
    snprintf(note, sizeof note, "the plug-in %s is not used: %s", path, problem);
    sw_note(note);
    return SW_PLUGIN_WRONG;
}

static void fill_process(const struct identity *mpi, const char *version,
                         enum sw_plugin_state state)
{
    struct sw_process *process = sw_process_get();
    int rank = -1;
    int size = 0;
    if (usable_plugin != NULL && usable_plugin->world(&rank, &size) != 0) {
        rank = -1;
        size = 0;
    }
    world_rank = rank;
    world_size = size;
    if (rank >= 0 && !usable_plugin->is_spawned())
        sw_presence_mark(rank, size);
    if (process == NULL)
        return;
    snprintf(process->mpi_version, sizeof process->mpi_version, "%.*s",
             (int)strcspn(version, "\n"), version);
    process->mpi_family = mpi->family;
    process->plugin_state = state;
    process->world_size = size;
    process->rank = rank;
}

/* Also called from MPI_File_open, in case MPI_Init was called in a way that we do not see. */
static bool initialized(const void *caller)
{
    int flag = 0;
    int (*get)(int *) = (int (*)(int *))sw_resolve("PMPI_Initialized", caller);
    return get != NULL && get(&flag) == 0 && flag != 0;
}

void sw_mpi_started(const void *caller)
{
    static bool started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE) || !sw_active() || !initialized(caller) ||
        __atomic_exchange_n(&started, true, __ATOMIC_ACQ_REL))
        return;
    sw_inside_begin();
    const char *version = library_version(caller);
    struct identity mpi = identify(version, caller);
    cray_mpich = mpi.cray;
    fill_process(&mpi, version, choose(&mpi, caller));
    sw_process_flag(SW_PROCESS_MPI_INITIALIZED);
    if (mpi.family == SW_MPI_OPENMPI && sw_openmpi_has_romio())
        sw_process_flag(SW_PROCESS_ROMIO_CHOSEN);
    sw_inside_end();
}

bool sw_openmpi_has_romio(void)
{
    const char *io = getenv("OMPI_MCA_io");
    if (io == NULL)
        return false;
    return *io == '^' ? strstr(io, "ompio") != NULL : strncmp(io, "romio", 5) == 0;
}

void sw_mpi_finished(void)
{
    __atomic_store_n(&usable_plugin, NULL, __ATOMIC_RELEASE);
    sw_process_flag(SW_PROCESS_MPI_FINALIZED);
}

const struct sw_plugin *sw_mpi_plugin(void)
{
    return __atomic_load_n(&usable_plugin, __ATOMIC_ACQUIRE);
}

int sw_mpi_rank(void)
{
    return __atomic_load_n(&world_rank, __ATOMIC_RELAXED);
}

int sw_mpi_size(void)
{
    return __atomic_load_n(&world_size, __ATOMIC_RELAXED);
}

bool sw_mpi_applies_mpich_hints(void)
{
    return cray_mpich;
}
