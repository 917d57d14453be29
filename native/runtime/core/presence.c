/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a node report to each other, in a shared mapping, that they have the library. The
 * first rank that needs the decision makes it for all, by one compare-and-swap.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "internal.h"
#include "presence.h"
#include "system.h"

#define PATIENCE_NS UINT64_C(500000000) /* for ranks that are still in MPI_Init */
#define PAUSE_NS 200000

static struct sw_series_mapping *mapping;

/* State of this process: whether it has registered, or never will. */
enum { FRESH = 0, MARKING = 1, MARKED = 2, NEVER = 3 };
static uint32_t mark;
static uint32_t known; /* enum sw_series_decision, once it has been read */

/* ---- the file ------------------------------------------------------------------- */

/* Nodes must not share it: atomic operations do not work on a network file. */
static bool is_in_memory(int fd)
{
    struct statfs status;
    return syscall(SYS_fstatfs, fd, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

static struct sw_series_mapping *map(const char *path)
{
    struct stat status;
    void *memory = MAP_FAILED;
    int fd = sw_sys_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    if (is_in_memory(fd) && sw_sys_fstat(fd, &status) == 0 &&
        (size_t)status.st_size == sizeof *mapping)
        memory = sw_sys_mmap(sizeof *mapping, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sw_sys_close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

void sw_presence_load(void)
{
    const char *path = getenv(SW_ENV_SERIES);
    if (path == NULL || path[0] == '\0')
        return;
    struct sw_series_mapping *found = map(path);
    if (found == NULL)
        return;
    if (memcmp(found->magic, SW_SERIES_MAGIC, sizeof found->magic) != 0 ||
        found->version != SW_SERIES_VERSION || found->slots != SW_SERIES_SLOTS) {
        munmap(found, sizeof *found);
        return;
    }
    sw_fault_mapped(found, sizeof *found);
    mapping = found;
}

bool sw_presence_asked(void)
{
    return mapping != NULL;
}

struct sw_series_mapping *sw_presence_outcome(void)
{
    return mapping;
}

/* ---- marks ------------------------------------------------------------------------ */

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0x1f) * UINT64_C(0x100000001b3);
}

/* Returns what the ranks of one job, but not those of others, have in common: the launcher's
 * daemon that started them, and its name of the job. */
static uint64_t job(void)
{
    static const char *const names[] = {
        "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_ID_JOB", "PMI_JOBID",
        "SLURM_JOB_ID",   "SLURM_STEP_ID",           "PBS_JOBID",  "ALPS_APP_ID"};
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)syscall(SYS_getppid);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash = add_text(hash, getenv(names[i]));
    return hash != 0 ? hash : 1;
}

/* The word is `mine` already, or unused and becomes mine. */
#define CLAIM(word, mine, otherwise)                                                              \
    (__atomic_compare_exchange_n(word, &(otherwise), mine, false, __ATOMIC_SEQ_CST,               \
                                 __ATOMIC_SEQ_CST) ||                                             \
     (otherwise) == (mine))

static bool claim(uint32_t rank, uint32_t world_size)
{
    uint64_t no_job = 0;
    uint32_t no_size = 0;
    uint32_t nobody = 0;
    uint64_t own = job();
    return CLAIM(&mapping->job, own, no_job) && CLAIM(&mapping->world_size, world_size, no_size) &&
           __atomic_compare_exchange_n(&mapping->process[rank], &nobody, (uint32_t)sw_options.pid,
                                       false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool turn(uint32_t to)
{
    uint32_t fresh = FRESH;
    return __atomic_compare_exchange_n(&mark, &fresh, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Counted last: a count of all ranks means that each will follow the decision. */
void sw_presence_mark(int rank, int world_size)
{
    if (mapping == NULL || rank < 0 || rank >= world_size || world_size > SW_SERIES_SLOTS ||
        sw_options.forked || !turn(MARKING))
        return;
    bool claimed = claim((uint32_t)rank, (uint32_t)world_size);
    __atomic_store_n(&mark, claimed ? MARKED : NEVER, __ATOMIC_SEQ_CST);
    if (claimed)
        __atomic_fetch_add(&mapping->marked, 1, __ATOMIC_SEQ_CST);
}

/* ---- the decision ------------------------------------------------------------------ */

static bool all_have_marked(void)
{
    return __atomic_load_n(&mapping->marked, __ATOMIC_SEQ_CST) == mapping->world_size;
}

static uint32_t decision(void)
{
    return __atomic_load_n(&mapping->decision, __ATOMIC_SEQ_CST);
}

static void wait_for_all(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t end = sw_now_ns() + PATIENCE_NS;
    while (!all_have_marked() && decision() == SW_SERIES_UNDECIDED && sw_now_ns() < end)
        syscall(SYS_nanosleep, &pause, NULL);
}

static uint32_t decide(void)
{
    uint32_t found = SW_SERIES_UNDECIDED;
    if (sw_running()) /* otherwise we must make no system call */
        wait_for_all();
    uint32_t wanted = all_have_marked() ? SW_SERIES_TOGETHER : SW_SERIES_APART;
    if (!__atomic_compare_exchange_n(&mapping->decision, &found, wanted, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return found;
    if (wanted == SW_SERIES_APART)
        __atomic_fetch_or(&mapping->reasons, SW_SERIES_FEW, __ATOMIC_RELAXED);
    return wanted;
}

/* A rank that has not registered by now will not: its world can never take part. */
bool sw_presence_together(void)
{
    if (mapping == NULL)
        return false;
    turn(NEVER);
    while (__atomic_load_n(&mark, __ATOMIC_SEQ_CST) ==
           MARKING) /* another thread is registering, for a moment */
        sched_yield();
    if (__atomic_load_n(&mark, __ATOMIC_SEQ_CST) != MARKED)
        return false;
    uint32_t found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == SW_SERIES_UNDECIDED) {
        int saved_errno = errno;
        found = decide();
        errno = saved_errno;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == SW_SERIES_TOGETHER;
}
