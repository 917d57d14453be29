/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which descriptors are files of the emulated storage. A descriptor is examined on its first use,
 * so that copies and inherited ones are found as well; whoever sees a number closed, or reused for
 * another file, calls sw_descriptor_gone.
 */
#define _GNU_SOURCE
#include "emulator.h"

#include "../core/system.h"
#include "../hooks/places.h"

#define CHUNK 1024
#define CHUNKS 256
#define CHUNK_BYTES (CHUNK * sizeof(struct sw_emulated))

static struct sw_emulated *chunks[CHUNKS];

static struct sw_emulated *chunk_for(unsigned chunk)
{
    struct sw_emulated *entries = __atomic_load_n(&chunks[chunk], __ATOMIC_ACQUIRE);
    if (SW_LIKELY(entries != NULL))
        return entries;
    void *pages =
        sw_sys_mmap(CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(&chunks[chunk], &entries, (struct sw_emulated *)pages, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return pages;
    syscall(SYS_munmap, pages, CHUNK_BYTES);
    return entries;
}

/* A child that shares our memory has descriptors of its own, which are examined each time. */
static __thread struct sw_emulated borrowed __attribute__((tls_model("initial-exec")));

static struct sw_emulated *entry_of(int fd)
{
    if (SW_UNLIKELY(!sw_own_process())) {
        borrowed = (struct sw_emulated){.state = SW_FILE_UNKNOWN};
        return &borrowed;
    }
    unsigned chunk = (unsigned)fd / CHUNK;
    struct sw_emulated *entries = chunk < CHUNKS ? chunk_for(chunk) : NULL;
    return entries != NULL ? &entries[(unsigned)fd % CHUNK] : NULL;
}

/* A forked process has not opened what it inherits. */
static uint32_t opened_here(void)
{
    return (uint32_t)sw_options.generation + 1;
}

static void closed(struct sw_emulated *entry)
{
    uint32_t opened = __atomic_exchange_n(&entry->opened, 0, __ATOMIC_RELAXED);
    if (opened == opened_here())
        sw_served_metadata(entry->storage, SW_AT_METADATA_CLOSE, 0);
}

void sw_descriptor_gone(unsigned first, unsigned last)
{
    if (!sw_emulating())
        return;
    (void)sw_running(); /* a new child gets its generation, so that it has opened nothing */
    if (!sw_own_process())
        return;
    for (unsigned fd = first; fd <= last && fd / CHUNK < CHUNKS; fd++) {
        struct sw_emulated *entries = __atomic_load_n(&chunks[fd / CHUNK], __ATOMIC_ACQUIRE);
        if (entries == NULL) {
            fd |= CHUNK - 1;
            continue;
        }
        if (__atomic_load_n(&entries[fd % CHUNK].opened, __ATOMIC_RELAXED) != 0)
            closed(&entries[fd % CHUNK]);
        __atomic_store_n(&entries[fd % CHUNK].state, SW_FILE_UNKNOWN, __ATOMIC_RELEASE);
    }
}

void sw_descriptor_changed(unsigned fd)
{
    struct sw_emulated *entry = sw_emulating() ? entry_of((int)fd) : NULL;
    if (entry != NULL)
        __atomic_store_n(&entry->state, SW_FILE_UNKNOWN, __ATOMIC_RELEASE);
}

/* ---- what a descriptor is --------------------------------------------------------------------
 */

static struct sw_emulator *storage_of(int fd)
{
    struct sw_guarded guarded;
    struct sw_emulator *found = NULL;
    if (!sw_lock(&guarded))
        return NULL;
    if (sw_real_path(fd, sw_scratch[0], sizeof sw_scratch[0]) != 0)
        found = sw_emulator_of(sw_scratch[0]);
    sw_unlock(&guarded);
    return found;
}

static struct sw_layout_wish inherited(struct sw_emulator *storage, int fd)
{
    struct sw_guarded guarded;
    struct sw_layout_wish wish = SW_NO_WISH;
    if (!sw_lock(&guarded))
        return wish;
    if (sw_real_path(fd, sw_scratch[0], sizeof sw_scratch[0]) != 0)
        wish = sw_layout_inherited(storage, sw_scratch[0]);
    sw_unlock(&guarded);
    return wish;
}

/* Returns the layout stored for the file, completed with defaults. */
static uint64_t kept_layout(struct sw_emulator *storage, int fd)
{
    struct sw_layout_wish wish;
    bool whole =
        sw_layout_read(storage, fd, &wish) && wish.count != 0 && wish.size != 0 && wish.first >= 0;
    return whole ? sw_layout_of(storage, wish, -1) : 0;
}

/* Returns the state; a descriptor that is only a handle for a name moves no data. */
static uint32_t state_of(int fd, mode_t mode)
{
    long flags = syscall(SYS_fcntl, fd, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) != 0)
        return SW_FILE_ELSEWHERE;
    return SW_FILE_HERE | (S_ISDIR(mode) ? SW_EMULATED_DIRECTORY : 0) |
           (flags >= 0 && (flags & O_APPEND) != 0 ? SW_EMULATED_APPENDS : 0);
}

/* *is_new: the file was unknown. Two threads may do this for one descriptor: each value is stored
 * once, and is the same. */
static void describe(int fd, struct sw_emulated *entry, bool *is_new)
{
    struct statx status;
    struct sw_emulator *storage = NULL;
    uint32_t state = SW_FILE_ELSEWHERE;
    *is_new = false;
    if (sw_sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, SW_FILE_KEY_MASK, &status) != 0) {
        __atomic_store_n(&entry->state, SW_FILE_UNKNOWN, __ATOMIC_RELEASE);
        return;
    }
    if (S_ISREG(status.stx_mode) || S_ISDIR(status.stx_mode))
        storage = storage_of(fd);
    if (storage != NULL) {
        uint64_t key = sw_file_key(&status);
        state = state_of(fd, status.stx_mode);
        entry->storage = storage;
        entry->slot = S_ISREG(status.stx_mode) ? sw_file_slot(storage, key, true, is_new) : 0;
        if (S_ISREG(status.stx_mode) && storage->files[entry->slot].key != key)
            state |= SW_EMULATED_SHARES;
        entry->key = key;
        entry->layout = 0;
        entry->cycle = 0;
    }
    __atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
}

struct sw_emulated *sw_emulated_any(int fd)
{
    struct sw_emulated *entry = fd >= 0 ? entry_of(fd) : NULL;
    bool is_new;
    if (entry == NULL)
        return NULL;
    uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
    if (SW_UNLIKELY((state & SW_EMULATED_STATE) == SW_FILE_UNKNOWN)) {
        int saved_errno = errno;
        describe(fd, entry, &is_new);
        errno = saved_errno;
        state = entry->state;
    }
    return (state & SW_EMULATED_STATE) == SW_FILE_HERE ? entry : NULL;
}

struct sw_emulated *sw_emulated_file(int fd)
{
    struct sw_emulated *entry = sw_emulated_any(fd);
    return entry != NULL && (entry->state & SW_EMULATED_DIRECTORY) == 0 ? entry : NULL;
}

/* ---- layouts of open files
 * ----------------------------------------------------------------------- */

static uint64_t settle(int fd, struct sw_emulated *file, uint64_t layout, bool keep)
{
    uint64_t settled = sw_file_settle(file->storage, file->slot, file->key, layout);
    if (settled == layout && keep)
        sw_layout_keep(file->storage, fd, layout);
    __atomic_store_n(&file->layout, settled, __ATOMIC_RELAXED);
    return settled;
}

static uint64_t known_layout(const struct sw_emulated *file)
{
    const struct sw_emulate_file *shared = &file->storage->files[file->slot];
    if (__atomic_load_n(&shared->key, __ATOMIC_ACQUIRE) != file->key)
        return 0;
    return __atomic_load_n(&shared->layout, __ATOMIC_ACQUIRE);
}

/* What is not set, or rejected, follows the directories and then the storage. */
static uint64_t choose(struct sw_emulator *storage, int fd, struct sw_layout_wish wish,
                       int64_t fixed)
{
    uint64_t layout = sw_layout_of(storage, sw_layout_merged(wish, inherited(storage, fd)), fixed);
    if (layout == 0)
        layout = sw_layout_of(storage, inherited(storage, fd), fixed);
    return layout != 0 ? layout : sw_layout_of(storage, SW_NO_WISH, fixed);
}

/* A file with data but without a stored layout came from elsewhere: it always gets the same
 * layout, and is not changed. */
static uint64_t find_layout(int fd, struct sw_emulated *file)
{
    struct stat status;
    struct sw_layout_wish wish;
    uint64_t layout = known_layout(file);
    if (layout != 0)
        return layout;
    layout = kept_layout(file->storage, fd);
    if (layout != 0)
        return settle(fd, file, layout, false);
    bool is_foreign = sw_sys_fstat(fd, &status) == 0 && status.st_size > 0;
    if (!sw_layout_read(file->storage, fd, &wish))
        wish = SW_NO_WISH;
    int64_t fixed = is_foreign ? (int64_t)(status.st_ino % file->storage->header->targets) : -1;
    return settle(fd, file, choose(file->storage, fd, wish, fixed), !is_foreign);
}

uint64_t sw_emulated_layout(int fd, struct sw_emulated *file)
{
    uint64_t layout = __atomic_load_n(&file->layout, __ATOMIC_RELAXED);
    if (SW_LIKELY(layout != 0))
        return layout;
    int saved_errno = errno;
    layout = find_layout(fd, file);
    __atomic_store_n(&file->layout, layout, __ATOMIC_RELAXED);
    errno = saved_errno;
    return layout;
}

int sw_emulated_set_layout(int fd, struct sw_emulated *file, struct sw_layout_wish wish)
{
    if (known_layout(file) != 0 || kept_layout(file->storage, fd) != 0)
        return EEXIST;
    uint64_t layout =
        sw_layout_of(file->storage, sw_layout_merged(wish, inherited(file->storage, fd)), -1);
    if (layout == 0)
        return EINVAL;
    return settle(fd, file, layout, true) == layout ? 0 : EEXIST;
}

/* ---- opens
 * ---------------------------------------------------------------------------------------- */

#define DELAYS_LAYOUT (O_NOCTTY | O_ASYNC) /* O_LOV_DELAY_CREATE */

static void apply_hints(struct sw_emulated *file, int flags)
{
    struct sw_emulate_file *shared = &file->storage->files[file->slot];
    if ((flags & O_ACCMODE) != O_RDONLY)
        sw_lock_opened(file->storage, file->slot);
    file->cycle = sw_open_hints.cycle;
    if (!sw_open_hints.given)
        return;
    if (sw_open_hints.lock_mode != 0)
        __atomic_store_n(&shared->lock_mode, (uint16_t)sw_open_hints.lock_mode, __ATOMIC_RELAXED);
    __atomic_fetch_or(&file->state, sw_open_hints.collective, __ATOMIC_RELAXED);
}

/* Of several processes that found a file absent and opened it, one has created it. None of them
 * can know which, so the first that calls this counts; if the table is full, each of them does. */
static bool first_to_say_so(const struct sw_emulated *entry)
{
    if ((entry->state & SW_EMULATED_SHARES) != 0)
        return true;
    struct sw_emulate_file *shared = &entry->storage->files[entry->slot];
    return __atomic_exchange_n(&shared->created, 1, __ATOMIC_RELAXED) == 0;
}

struct sw_emulated *sw_emulated_opened(int fd, int flags, bool absent, bool *created)
{
    bool is_new;
    bool certain = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    struct sw_emulated *entry = entry_of(fd);
    if (entry == NULL)
        return NULL;
    describe(fd, entry, &is_new);
    if ((entry->state & SW_EMULATED_STATE) != SW_FILE_HERE)
        return NULL;
    *created = false;
    entry->opened = opened_here();
    if ((entry->state & SW_EMULATED_DIRECTORY) != 0)
        return entry;
    bool delays = sw_is_lustre(entry->storage) && (flags & DELAYS_LAYOUT) == DELAYS_LAYOUT;
    if (certain && !is_new) { /* another file had this inode before */
        sw_file_release(entry->storage, entry->key);
        describe(fd, entry, &is_new);
    }
    *created = (certain || absent) && (first_to_say_so(entry) || certain);
    if ((certain || absent) && !delays && known_layout(entry) == 0)
        settle(fd, entry, choose(entry->storage, fd, sw_open_hints.wish, -1), true);
    else
        entry->layout = known_layout(entry);
    if (entry->layout == 0 && !absent && !certain)
        entry->layout = kept_layout(entry->storage, fd);
    apply_hints(entry, flags);
    return entry;
}

void sw_emulated_opened_directory(int fd)
{
    struct sw_emulated *entry = sw_emulated_any(fd);
    if (entry != NULL)
        __atomic_store_n(&entry->opened, opened_here(), __ATOMIC_RELAXED);
}
