/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load, fork, exit. The library starts on the first call as well as by its constructor:
 * constructors of the program's libraries run before ours and may already do I/O.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "container_file.h"
#include "descriptors.h"
#include "internal.h"
#include "metadata.h"
#include "presence.h"
#include "system.h"
#include "ticks.h"
#include "transfers.h"
#include "../hooks/hook.h"

#define DEFAULT_MAX_BYTES (UINT64_C(64) << 20)
#define DEFAULT_CAPTURE_BYTES (UINT64_C(64) << 20)
#define DEFAULT_RUN_BYTES (UINT64_C(1) << 30)

static uint32_t first_state = SW_STATE_FRESH;
uint32_t *sw_state = &first_state;
struct sw_options sw_options;

#define SW_POINT_TO_LAYER(name) &sw_layer_##name,
static const struct sw_layer_table *const layers[] = {SW_LAYERS(SW_POINT_TO_LAYER)};
#define LAYERS (sizeof layers / sizeof *layers)

/* ---- start ------------------------------------------------------------------------ */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, "1") == 0;
}

static const char *directory_of(const char *path, char out[PATH_MAX])
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    size_t bytes = slash != NULL ? (size_t)(slash - path) : 0;
    if (bytes == 0 || bytes >= PATH_MAX)
        return NULL;
    memcpy(out, path, bytes);
    out[bytes] = '\0';
    return out;
}

/* Files that are younger than the run belong to it. The launcher creates the directory for the
 * run, so the birth of the directory is the start of the run, equally on every node. */
static uint64_t run_start(void)
{
    char parent[PATH_MAX];
    const char *directory = getenv(SW_ENV_DIRECTORY);
    struct statx status;
    if (directory == NULL || *directory == '\0')
        directory = directory_of(getenv(SW_ENV_REFUSED), parent);
    if (directory != NULL && sw_sys_statx(AT_FDCWD, directory, 0, STATX_BTIME, &status) == 0 &&
        (status.stx_mask & STATX_BTIME) != 0) {
        sw_options.run_device = makedev(status.stx_dev_major, status.stx_dev_minor);
        return (uint64_t)status.stx_btime.tv_sec * UINT64_C(1000000000) + status.stx_btime.tv_nsec;
    }
    return sw_options.start_ns;
}

static void mark_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sw_options.start_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    sw_options.clock_origin_ns = sw_now_ns();
    sw_options.pid = sw_sys_getpid();
}

static uint64_t bytes_of(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    uint64_t bytes = value != NULL ? strtoull(value, NULL, 10) : 0;
    return bytes != 0 ? bytes : otherwise;
}

static bool is_preloaded(void)
{
    const char *value = getenv("LD_PRELOAD");
    return value != NULL && strstr(value, "libstripewise") != NULL;
}

static void load_options(void)
{
    sw_options.sync = is_set(SW_ENV_SYNC);
    sw_options.verbose = is_set(SW_ENV_VERBOSE);
    sw_options.max_bytes = bytes_of(SW_ENV_MAX_BYTES, DEFAULT_MAX_BYTES);
    sw_options.capture_bytes = bytes_of(SW_ENV_CAPTURE_BYTES, DEFAULT_CAPTURE_BYTES);
    sw_options.run_bytes = bytes_of(SW_ENV_RUN_BYTES, DEFAULT_RUN_BYTES);
    mark_clock();
    sw_options.run_start_ns = run_start();
    sw_ticks_load();
    sw_container_load();
    sw_options.by_preload = sw_file_wanted() && is_preloaded();
    sw_filter_load();
    sw_capture_load();
}

static void after_fork_in_child(void)
{
    __atomic_store_n(sw_state, SW_STATE_FRESH, __ATOMIC_RELEASE);
}

static void share_position(int fd)
{
    sw_fd_add_flags(sw_fd_entry(fd), SW_FD_ASK);
}

static bool forked_amid_a_call; /* the end of that call, in the child, changes our blocks */

/* The child shares the open files: either process may move their positions from now on. */
static void after_fork_in_parent(void)
{
    forked_amid_a_call |= sw_thread.active != 0;
    sw_fd_each(0, INT_MAX, share_position);
}

/* Allocates the page by which a forked child recognises that it is one. */
static uint32_t *new_state_page(void)
{
    void *page = sw_sys_mmap(SW_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &first_state;
    madvise(page, SW_PAGE, MADV_WIPEONFORK);
    return page;
}

static void open_container(void)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return;
    sw_container_open();
    sw_unlock(&guarded);
}

static bool is_off_for_good;

void sw_switch_off(void)
{
    is_off_for_good = true;
    __atomic_store_n(sw_state, SW_STATE_OFF, __ATOMIC_RELEASE);
    sw_hooks_off();
}

static void start_first(void)
{
    for (size_t i = 0; i < LAYERS; i++)
        layers[i]->start();
    if (is_set(SW_ENV_DISABLE)) {
        __atomic_store_n(sw_state, SW_STATE_OFF, __ATOMIC_RELEASE);
        sw_hooks_off();
        return;
    }
    load_options();
    pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
    open_container();
    if (sw_container_mapped())
        sw_fault_start();
    uint32_t *page = new_state_page();
    __atomic_store_n(page, SW_STATE_ON, __ATOMIC_RELEASE);
    __atomic_store_n(&sw_state, page, __ATOMIC_RELEASE);
    sw_hooks_load();
    if (sw_container_mapped())
        sw_fd_take_over();
    sw_adopt_load();
    if (sw_adopt_any_series())
        sw_presence_load();
}

/* The block of a child is created when it has something to record. */
static void start_child(void)
{
    sw_lock_reset();
    sw_container_forget();
    sw_capture_forget();
    sw_hooks_forget();
    sw_metadata_forget();
    sw_transfers_forget();
    sw_files_forget();
    sw_unsynced_forget();
    sw_thread.vforked = 0;
    sw_memory_is_shared = false;
    forked_amid_a_call = false;
    mark_clock();
    sw_options.generation++;
    sw_options.forked = true;
    __atomic_store_n(sw_state, SW_STATE_ON, __ATOMIC_RELEASE);
}

/* A call after the end. No thread waits for another: it finds the checksums invalidated, or
 * invalidates them itself. */
static bool unseal(uint32_t *word)
{
    uint32_t state = SW_STATE_SEALED;
    sw_container_unseal();
    return __atomic_compare_exchange_n(word, &state, SW_STATE_ON, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_ACQUIRE) ||
           state == SW_STATE_ON;
}

bool sw_start(void)
{
    uint32_t *word = __atomic_load_n(&sw_state, __ATOMIC_ACQUIRE);
    uint32_t state = SW_STATE_FRESH;
    if (!__atomic_compare_exchange_n(word, &state, SW_STATE_STARTING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return state == SW_STATE_ON || (state == SW_STATE_SEALED && unseal(word));
    if (is_off_for_good) {
        __atomic_store_n(word, SW_STATE_OFF, __ATOMIC_RELEASE);
        return false;
    }
    int saved_errno = errno;
    sw_inside_begin();
    if (sw_options.pid == 0)
        start_first();
    else
        start_child();
    sw_inside_end();
    errno = saved_errno;
    return __atomic_load_n(sw_state, __ATOMIC_ACQUIRE) == SW_STATE_ON;
}

__attribute__((constructor)) static void load(void)
{
    sw_start();
}

bool sw_memory_is_shared;

/* The thread that called vfork() continues when the child does not use its memory any more. */
bool sw_ask_own_process(void)
{
    int saved_errno = errno;
    bool own = sw_sys_getpid() == sw_options.pid;
    if (own)
        sw_thread.vforked = 0;
    errno = saved_errno;
    return own;
}

/* ---- end --------------------------------------------------------------------------- */

/* Prints one line, unless standard error is a file that the program itself opened. */
static void report(void)
{
    const char *trouble = sw_container_trouble();
    struct stat status;
    if (trouble == NULL || !sw_options.verbose || sw_fd_file(2) != NULL ||
        sw_sys_fstat(2, &status) != 0)
        return;
    char line[256];
    int length =
        snprintf(line, sizeof line, "stripewise: %s; process %d lost %llu records\n", trouble,
                 (int)sw_options.pid, (unsigned long long)sw_process_live->lost_records);
    if (length > 0)
        (void)!sw_sys_write(2, line, (size_t)length);
}

static void mark_end(uint32_t flags)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sw_process_live->end_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    __atomic_fetch_or(&sw_process_live->flags, flags, __ATOMIC_RELAXED);
}

/* A thread that was joined a moment ago may still be listed. */
#define LEAVING_CHECKS 20
#define LEAVING_PAUSE_NS 50000

static bool is_only_thread(void)
{
    const struct timespec pause = {.tv_nsec = LEAVING_PAUSE_NS};
    struct statx task;
    for (int i = 0; i < LEAVING_CHECKS; i++) {
        if (sw_sys_statx(AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &task) != 0)
            return false;
        if (task.stx_nlink == 3) /* two for any directory, and one for each thread */
            return true;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

/* A current call, in another thread or below this one, would change the blocks without checking
 * the state. */
static bool may_seal(void)
{
    const struct sw_thread *thread = &sw_thread;
    return sw_container_mapped() && thread->active == 0 && thread->busy == NULL &&
           thread->inside == 0 && !forked_amid_a_call && !sw_memory_is_shared && is_only_thread();
}

/* The lock keeps signal handlers out until the state shows that it is done. */
static void seal(void)
{
    struct sw_guarded guarded;
    if (!may_seal() || !sw_lock(&guarded))
        return;
    if (sw_container_seal())
        __atomic_store_n(sw_state, SW_STATE_SEALED, __ATOMIC_SEQ_CST);
    sw_unlock(&guarded);
}

void sw_finish(enum sw_ending ending)
{
    if (!sw_running() || !sw_own_process())
        return;
    int saved_errno = errno;
    for (size_t i = 0; i < LAYERS; i++)
        layers[i]->finish(ending);
    mark_end(ending == SW_ENDING_EXEC ? SW_PROCESS_EXECED : SW_PROCESS_EXITED);
    if (ending != SW_ENDING_EXEC)
        report();
    seal();
    errno = saved_errno;
}

void sw_unfinish(void)
{
    if (!sw_running() || !sw_own_process())
        return;
    sw_process_live->end_ns = 0;
    __atomic_fetch_and(&sw_process_live->flags, ~SW_PROCESS_EXECED, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void unload(void)
{
    sw_finish(SW_ENDING_EXIT);
}
