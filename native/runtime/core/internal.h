/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the core and the libc layers share. It is not for other layers. */
#ifndef STRIPEWISE_INTERNAL_H
#define STRIPEWISE_INTERNAL_H

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "core.h"
#include "bins.h"
#include "stripewise/trace.h"

#define SW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SW_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- life cycle ---------------------------------------------------------------- */

enum sw_state {
    SW_STATE_FRESH = 0, /* not started, or just forked: the page is wiped on fork */
    SW_STATE_STARTING = 1,
    SW_STATE_ON = 2,
    SW_STATE_OFF = 3,
    SW_STATE_SEALED = 4, /* ended with checksums stored: the next call invalidates them */
};

/* It is in a page of its own that fork() wipes (MADV_WIPEONFORK), so that one load per call
 * distinguishes disabled, running and "I am a new process". */
extern uint32_t *sw_state;

/* Fixed at load. */
struct sw_options {
    uint32_t capture; /* enum sw_capture_mode */
    bool sync;
    bool verbose;
    bool by_preload; /* programs that are started are recorded if LD_PRELOAD names this library */
    uint64_t max_bytes;
    uint64_t capture_bytes;
    uint64_t run_bytes;       /* of all processes of the node */
    uint64_t run_start_ns;    /* CLOCK_REALTIME; files born later belong to this run */
    uint64_t run_device;      /* device of the directory with that birth time; 0: none */
    uint64_t clock_origin_ns; /* CLOCK_MONOTONIC of this process */
    uint64_t start_ns;        /* CLOCK_REALTIME of this process */
    pid_t pid;
    uint32_t generation; /* counts forks; records of older ones belong to the parent */
    bool forked;
};
extern struct sw_options sw_options;

/* Moves FRESH to ON or OFF, SEALED to ON; returns whether it is ON now. Keeps errno. */
bool sw_start(void);
/* Disables the library for good, including in children. Safe in signal handlers. */
void sw_switch_off(void);
/* Returns whether this is really the process of sw_options.pid. A child of vfork shares our memory
 * and must not touch the tables of its parent. */
extern bool sw_memory_is_shared; /* since a clone() that shares memory with another process */
bool sw_ask_own_process(void);
/* exit() flushes streams, _exit() and exec do not: nor may we for them. */
enum sw_ending { SW_ENDING_EXIT, SW_ENDING_ABRUPT, SW_ENDING_EXEC };
/* Marks the end of the process image; syncs what is still open if requested. */
void sw_finish(enum sw_ending ending);
/* Undoes sw_finish after an exec that failed. */
void sw_unfinish(void);

static inline bool sw_running(void)
{
    return SW_LIKELY(__atomic_load_n(sw_state, __ATOMIC_ACQUIRE) == SW_STATE_ON) || sw_start();
}

static inline uint64_t sw_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Converts a time for the trace; 0 for what began before a fork. */
static inline uint64_t sw_age_ns(uint64_t now_ns)
{
    return now_ns > sw_options.clock_origin_ns ? now_ns - sw_options.clock_origin_ns : 0;
}

/* ---- one layer's table ----------------------------------------------------------- */

/* Functions of a layer that the life cycle calls; all are required, none may be NULL. */
struct sw_layer_table {
    const char *name;
    void (*start)(void);                   /* at load, before the first record: resolve symbols */
    void (*finish)(enum sw_ending ending); /* sync what is still open, if asked to */
};
/* X(name): layers with a table sw_layer_NAME, called in this order. */
#define SW_LAYERS(X)                                                                              \
    X(null)                                                                                       \
    X(stdio) /* before posix, which then writes what stdio flushes */                             \
    X(posix)
#define SW_DECLARE_LAYER(name) extern const struct sw_layer_table sw_layer_##name;
SW_LAYERS(SW_DECLARE_LAYER)

/* ---- threads --------------------------------------------------------------------- */

struct sw_thread {
    uint32_t vforked;     /* by vfork(), in assembly: the first member */
    uint32_t active;      /* bit per layer that is on this thread's stack */
    uint32_t inside;      /* depth of sw_inside_begin */
    uint32_t refused;     /* entries in a row that found their layer on the stack */
    const void *busy;     /* frame of a sw_leave that is updating counters */
    const void *doubtful; /* frame of one that may be writing the trace; NULL: none */
    const void *frames[SW_LAYER_COUNT];
    const char *names[SW_LAYER_COUNT]; /* of the calls in `frames` */
    uint64_t sequence;                 /* of the last call that was entered */
    struct sw_tracer *tracer;          /* NULL: no event yet */
    uint32_t number;                   /* in the trace, 0: none yet */
    const void *request;               /* being processed by a member of the chain */
    uint32_t own_turn;                 /* number of nested calls, to measure some */
    uint64_t late_ns;                  /* by how much its last delayed request ended too late */
};
extern __thread struct sw_thread sw_thread __attribute__((tls_model("initial-exec")));

static inline bool sw_own_process(void)
{
#if defined(__x86_64__) /* where vfork() is wrapped */
    if (SW_LIKELY(sw_thread.vforked == 0 && !sw_memory_is_shared))
        return true;
#endif
    return sw_ask_own_process();
}

/* ---- slow path lock ---------------------------------------------------------------- */

/* Only held to create records and to process paths. It blocks signals, so that no handler can run
 * (or jump away) inside; it gives up after a bounded wait. */
struct sw_guarded {
    unsigned long long signals;
    int saved_errno;
};
bool sw_lock(struct sw_guarded *guarded);
void sw_unlock(struct sw_guarded *guarded);
void sw_lock_reset(void); /* in a new child, whose parent may have held it */
/* Scratch buffers for paths, valid under the lock: host threads may have tiny stacks. */
extern char sw_scratch[2][PATH_MAX + 256];

/* ---- container --------------------------------------------------------------------- */

/* The process record; a private substitute while no container is mapped. */
extern struct sw_process *sw_process_live;
/* Determines the location of the container; once, at load, as the program may change its
 * environment. */
void sw_container_load(void);
/* Maps this process's block; returns false if there is none. Call under the lock. */
bool sw_container_open(void);
bool sw_container_mapped(void);
void sw_container_forget(void); /* in a new child */
/* Stores the checksums of this process's blocks; returns false if there are none. Call under the
 * lock, with a mapped container and no other thread that could change the blocks. */
bool sw_container_seal(void);
/* Invalidates the checksums, because the blocks will change. One store. */
void sw_container_unseal(void);
/* Allocates a record of `bytes` (multiple of 8), zeroed; NULL if there is no room. Call under the
 * lock. */
void *sw_container_reserve(uint32_t bytes);
/* Publishes a record: stores `bytes` last. */
void sw_container_commit(struct sw_record *record, uint32_t bytes);
const char *sw_container_trouble(void); /* NULL: none */
/* Like sw_container_reserve, for records of the trace, which have their own limit. */
void *sw_container_reserve_trace(uint32_t bytes);
/* Returns whether so many bytes are left for THREAD and EVENTS blocks. Call under the lock. */
bool sw_container_has_trace_room(uint64_t bytes);
/* Maps a thread's block of the trace, including its header; NULL if there is no room. */
char *sw_container_thread_block(uint64_t bytes);
/* Creates an EVENTS block without mapping it, with *room bytes or what is left, but not less than
 * `least`; returns the place of its payload in the file, 0 if there is no room. */
uint64_t sw_container_events_block(uint64_t *room, uint64_t least);
/* Writes records into such a block, all or none; returns false if that fails. */
bool sw_container_put_events(uint64_t place, const void *records, uint64_t bytes);
/* Returns whether no further THREAD or EVENTS block can be created, for now. */
bool sw_container_trace_full(void);
/* Returns whether no further block for names, shapes and time bins can be created either. */
bool sw_container_records_full(void);
void sw_process_describe(struct sw_process *process);
/* Like sw_note, under the lock. */
void sw_note_locked(const char *text);

/* ---- files --------------------------------------------------------------------------- */

struct sw_file {
    struct sw_file_record *record;
    uint32_t generation;
    uint32_t layer;
    uint32_t counting; /* enum in call.c: who may add without atomics */
    bool unsynced;     /* closed without the requested fsync */
    bool layout_seen;  /* its layout was queried */
    int64_t read_end;  /* ends of the last read and write, for the sequence counters */
    int64_t write_end;
    struct sw_bins bins; /* time bins, used under `counting` */
};

/* Used in place of a layer: what libc itself does for the streams of a file (SW_RECORD_ISSUED). */
#define SW_ISSUED SW_LAYER_COUNT

/* Like sw_file_get, but never creates a record. */
struct sw_file *sw_file_find(int layer, const char *path);
/* Like sw_file_get, relative to a directory descriptor (AT_FDCWD or an open one). */
struct sw_file *sw_file_get_at(int layer, int directory, const char *path, bool create);
/* Like sw_file_get_at for a file that is being opened. `wanted`: it is not excluded, even if there
 * is no room for its record. */
struct sw_file *sw_file_opened(int layer, int directory, const char *path, bool *wanted);
/* Returns the record of all files in a directory that have no names of their own. */
struct sw_file *sw_file_unnamed(int layer, int directory, const char *path);
/* Returns the record of the file behind a descriptor, by its name in the kernel; never of an
 * excluded one. `make`: see sw_file_get. `*wanted`: it is not excluded. */
struct sw_file *sw_file_behind(int layer, int fd, bool make, bool *wanted);
/* Call when a call on a name has ended: counts it for its directory, if names there are counted.
 * Returns true if so; *file: its record, if it has one. */
bool sw_name_used(const struct sw_call *call, int directory, const char *path,
                  enum sw_action action, bool failed, struct sw_file **file);
/* Calls `visit` for every file of this process. */
void sw_file_each(void (*visit)(struct sw_file *file));
void sw_files_forget(void); /* in a new child */
/* Returns the record of this process that corresponds to one of the parent's. */
struct sw_file *sw_file_renew(struct sw_file *file);
/* Returns the record of the same file in another layer. */
struct sw_file *sw_file_sibling(struct sw_file *file, int layer);

/* Writes the absolute form of path to `out`; returns 0 if it does not fit or is unknown. */
size_t sw_path_absolute(int directory, const char *path, char *out, size_t room);
/* The same without a system call; also returns 0 if that needs one. */
size_t sw_path_absolute_quick(int directory, const char *path, char *out, size_t room);
/* Determines the working directory if it is unknown; call under the lock. */
void sw_cwd_remember(void);
void sw_cwd_changed(void);
/* Returns a number that changes when relative names may change meaning; 0 if that is unknown. */
uint32_t sw_cwd_version(void);
/* +1: it may change unnoticed from now on; -1: not any more. */
void sw_cwd_unsteady(int more);
/* Removes a ROMIO file system prefix ("ufs:"). */
const char *sw_path_without_prefix(const char *path);
void sw_filter_load(void);
bool sw_filter_wanted(const char *absolute);
bool sw_filter_is_code(const char *name, size_t bytes);
/* How the filter treats the names directly in a directory. */
enum sw_filtered {
    SW_FILTERED_NOTHING, /* all are wanted */
    SW_FILTERED_CODE,    /* all but code */
    SW_FILTERED_OUT,     /* none */
    SW_FILTERED_BY_NAME, /* each must be checked */
};
enum sw_filtered sw_filter_directory(const char *absolute, size_t bytes);

/* ---- calls ----------------------------------------------------------------------------- */

/* Ends a call that does not concern us: nothing is added. */
void sw_leave_uncounted(struct sw_call *call);
/* Counts bytes that moved outside of any timed call (second file of copy_file_range). */
void sw_count_data(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                   bool outermost);
/* The same for data that an event has already reported. */
void sw_count_told(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                   bool outermost);
/* Counts a system call that libc made for a stream, without time of its own. */
void sw_count_issued(struct sw_file *file, enum sw_op op, uint64_t bytes, int64_t offset);
/* The file's calls have reached this place, whatever their offsets. */
void sw_file_reached(struct sw_file *file, int64_t end);
/* Records the event of a part of the current call, which is counted elsewhere. */
void sw_capture_part(struct sw_file *file, enum sw_op op, int64_t bytes, int64_t offset,
                     uint32_t flags);
void sw_count_lost(void);
/* Returns whether we are on a signal stack, whose frames say nothing about those of the thread. */
bool sw_on_signal_stack(void);

/* ---- capture ------------------------------------------------------------------------------ */

/* Reads SW_ENV_CAPTURE, once, at load; reports if it is invalid. */
void sw_capture_load(void);
void sw_capture_forget(void); /* in a new child */
/* Records the event of a call that ends now. `bytes` < 0: failed; `offset` < 0: unknown. */
void sw_capture_event(const struct sw_call *call, const struct sw_file *file, enum sw_op op,
                      int64_t bytes, int64_t offset, uint64_t now);

/* ---- plug-ins ---------------------------------------------------------------------------- */

/* Returns the MPI library that an ELF file needs and that is not in this process; NULL if there is
 * none. */
const char *sw_needed_absent(const char *bytes, size_t n_bytes);

/* ---- no fault in a mapping of ours reaches the program (fault.c) -----------------------------
 */

/* Called once, at load, if there is a container. */
void sw_fault_start(void);
/* Registers a part of the container that is mapped here for good. */
void sw_fault_mapped(const void *address, size_t bytes);

#endif
