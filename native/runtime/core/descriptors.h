/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Open descriptors of regular files that are recorded. */
#ifndef STRIPEWISE_DESCRIPTORS_H
#define STRIPEWISE_DESCRIPTORS_H

#include "internal.h"

#define SW_FD_TRACKED 0x1u
#define SW_FD_WRITTEN 0x2u /* written through this descriptor since the last sync */
#define SW_FD_ASK 0x4u     /* the position must be queried: shared, or O_APPEND */
#define SW_FD_CAN_WRITE 0x8u
#define SW_FD_TAKEN_OVER 0x10u /* inherited open: its record is created at first use */

struct sw_fd {
    struct sw_file *posix; /* NULL: not recorded, or opened by stdio and not used directly */
    struct sw_file *stdio;
    struct sw_file *issued; /* calls of libc for its stream; NULL: none yet */
    int64_t position;       /* -1: unknown */
    uint32_t flags;
    uint32_t generation; /* of sw_options; an older one: inherited from the parent */
};

#define SW_FD_CHUNK 1024
#define SW_FD_CHUNKS 256
extern struct sw_fd *sw_fd_chunks[SW_FD_CHUNKS];

/* Returns the entry of a tracked descriptor, NULL otherwise. */
static inline struct sw_fd *sw_fd_entry(int fd)
{
    unsigned chunk = (unsigned)fd / SW_FD_CHUNK;
    if (SW_UNLIKELY(chunk >= SW_FD_CHUNKS))
        return NULL;
    struct sw_fd *entries = __atomic_load_n(&sw_fd_chunks[chunk], __ATOMIC_ACQUIRE);
    if (entries == NULL)
        return NULL;
    struct sw_fd *entry = &entries[(unsigned)fd % SW_FD_CHUNK];
    return (__atomic_load_n(&entry->flags, __ATOMIC_ACQUIRE) & SW_FD_TRACKED) != 0 ? entry : NULL;
}

/* Returns the record of the entry in this process, whatever its parent had. */
struct sw_file *sw_fd_posix(struct sw_fd *entry);
struct sw_file *sw_fd_stdio(struct sw_fd *entry);
/* Returns the record of the system calls below the stream; call after sw_fd_stdio. */
struct sw_file *sw_fd_issued(struct sw_fd *entry);

/* ---- what an open opened ------------------------------------------------------------- */

/* The file system's time before an open that may create a file. */
struct sw_birth {
    int64_t seconds;
    uint32_t nanoseconds;
};
struct sw_birth sw_birth_before(void);
/* Returns the type of the opened file (S_IFMT), 0 if unknown. With `before`, *existed is set to
 * whether it existed then; no name is looked up for that. */
mode_t sw_opened_type(int fd, const struct sw_birth *before, bool *existed);

/* Starts tracking a descriptor. `position` is where the next read or write takes place. */
void sw_fd_track(int fd, struct sw_file *posix, struct sw_file *stdio, uint32_t flags,
                 int64_t position);
/* Tracks the regular files that this process inherited open, except its standard output and error,
 * as if a parent had opened them. Called at load. */
void sw_fd_take_over(void);
/* Tracks a new descriptor for the same open file; untracks `copy` if `fd` is not tracked. */
void sw_fd_copy(int fd, int copy);
/* Stops tracking a descriptor, which does not refer to that file any more. */
void sw_fd_untrack(int fd);
/* Syncs what was written through fd if SW_ENV_SYNC requests it; returns true if so. It does
 * nothing where that would delay a signal handler. Keeps errno. */
bool sw_fd_sync(int fd);
/* Call when a descriptor is closed without a requested sync: the file is then synced at exit. */
void sw_fd_leave_unsynced(struct sw_fd *entry);
void sw_sync_what_is_left(enum sw_ending ending);
void sw_unsynced_forget(void); /* in a new child */
/* Returns whether something was written through fd and not synced; it counts as synced from now
 * on.
 */
bool sw_fd_take_written(int fd);
/* Records the layout of a file on Lustre that is about to be closed, once. */
void sw_layout_record(int fd, struct sw_file *file);
/* Calls `visit` for every tracked descriptor from first to last. */
void sw_fd_each(unsigned first, unsigned last, void (*visit)(int fd));

/* Returns where a transfer of `bytes` at the current position took place, after the fact, and
 * moves the position. -1 if unknown. */
int64_t sw_fd_advance(int fd, struct sw_fd *entry, int64_t bytes);
void sw_fd_set_position(struct sw_fd *entry, int64_t position);
void sw_fd_add_flags(struct sw_fd *entry, uint32_t flags);
/* Records that this process wrote through it, so that it is synced when it is closed. */
void sw_fd_wrote(struct sw_fd *entry);

#endif
