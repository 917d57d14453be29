/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated storages in one process: each has its own root, clocks, files and locks. The
 * storage of a file is determined from its descriptor or its name, and is passed along with its
 * request. Shared state is in stripewise/emulate.h, the laws are in docs/design/machines.md;
 * hooks/emulate.c calls these functions.
 */
#ifndef STRIPEWISE_EMULATOR_H
#define STRIPEWISE_EMULATOR_H

#include <sys/stat.h>

#include "../hooks/hook.h"
#include "stripewise/emulate.h"

/* ---- the mapping --------------------------------------------------------------------------- */

/* Clocks that are used for the data of a request. */
enum sw_resource {
    SW_ON_PROCESS,
    SW_ON_FILE,
    SW_ON_NODE,
    SW_ON_TARGET,
    SW_ON_WHOLE,
    SW_RESOURCES
};

/* Times in nanoseconds. */
struct sw_rates {
    double byte[2][SW_RESOURCES]; /* of reads, of writes */
    double turns;
    double sharing;
    double exchange_byte;
    double target_request;
    double jitter;
    uint64_t draw;     /* seed of the random times */
    double slow_share; /* share of its speed that one target has */
    uint32_t slow_target;
    uint64_t request;
    uint64_t revoke;
    uint64_t ahead;
    uint64_t hold;
    uint64_t extent;
    uint64_t page;
    uint64_t page_bytes;
    uint64_t exchange_round;
    uint64_t exchange_rank;
    uint64_t object;
    uint64_t latency;
    uint64_t operations[4]; /* enum sw_operation */
    double growth;
};

/* One storage. */
struct sw_emulator {
    const struct sw_emulate_header *header;
    struct sw_emulate_counters *counters;
    uint64_t *clocks;
    uint64_t *target_clocks;
    uint64_t *node_clocks;
    uint64_t *file_clocks;
    struct sw_emulate_file *files;
    struct sw_emulate_object *objects;
    uint64_t *factors;
    struct sw_emulate_job *jobs;
    char *tallies;          /* of all blocks */
    char *own_tallies;      /* of this process's job; NULL: not assigned yet */
    uint64_t process_clock; /* this process's own */
    char job_id[SW_EMULATE_JOB_ID];
    struct sw_emulator_file {
        char path[PATH_MAX]; /* of the mapping */
        uint64_t device;
        uint64_t inode;
    } file;
    struct sw_rates rates;
    bool has_locks;
    size_t root_bytes;
};
#define SW_EMULATORS 4
/* Sorted by the length of the root, longest first. */
extern struct sw_emulator sw_emulators[SW_EMULATORS];
extern unsigned sw_emulators_used;

static inline bool sw_emulating(void)
{
    return sw_emulators_used != 0;
}

static inline bool sw_is_lustre(const struct sw_emulator *storage)
{
    return (storage->header->flags & SW_EMULATE_LUSTRE) != 0;
}

/* Opens the mappings that SW_ENV_EMULATE names; returns false if nothing is emulated. */
bool sw_emulators_load(void);
/* Returns the storage that contains an absolute path without links; NULL if none does. Of nested
 * roots, the longest one counts. */
struct sw_emulator *sw_emulator_of(const char *path);
/* The same for a program's name, whose links are followed except for the last one. */
struct sw_emulator *sw_emulator_at(const struct sw_place *place);
/* Returns the virtual node of this process. */
uint32_t sw_emulator_node(const struct sw_emulator *storage);
uint32_t sw_emulator_ranks(void);
/* Returns the rank of this process; 0 if unknown. */
uint32_t sw_emulator_rank(void);
/* Returns the number of this process among the writers of a file, 0 to 127. */
unsigned sw_emulator_writer(void);

static inline void sw_emulate_add(uint64_t *counter, uint64_t value)
{
    __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}
#define SW_EMULATE_COUNT(storage, name, value) sw_emulate_add(&(storage)->counters->name, value)

/* ---- layouts (layouts.c, files.c) ------------------------------------------------------------
 */

/* A requested layout; see SW_EMULATE_ATTRIBUTE. */
struct sw_layout_wish {
    int64_t count; /* -1: all targets, 0: not set */
    int64_t size;  /* 0: not set */
    int64_t first; /* -1: not set */
};
#define SW_NO_WISH ((struct sw_layout_wish){0, 0, -1})

/* A layout in one word: never 0. */
static inline uint64_t sw_layout_pack(uint32_t count, uint32_t first, uint32_t size)
{
    return (uint64_t)size << 32 | first << 16 | count;
}

static inline uint32_t sw_layout_count(uint64_t layout)
{
    return (uint32_t)(layout & 0xffff);
}

static inline uint32_t sw_layout_first(uint64_t layout)
{
    return (uint32_t)(layout >> 16 & 0xffff);
}

static inline uint32_t sw_layout_size(uint64_t layout)
{
    return (uint32_t)(layout >> 32);
}

/* Returns the layout of a new file; 0 if the storage rejects it (EINVAL). Without `first` in the
 * wish, it begins at `fixed`, or at the next target if that is negative. */
uint64_t sw_layout_of(struct sw_emulator *storage, struct sw_layout_wish wish, int64_t fixed);
/* Reads the layout attribute of a file (by descriptor). */
bool sw_layout_read(struct sw_emulator *storage, int fd, struct sw_layout_wish *wish);
/* Reads the layout attributes of the directories above a file; `path` is changed meanwhile. */
struct sw_layout_wish sw_layout_inherited(struct sw_emulator *storage, char *path);
/* Fills each value that is not set in one wish from the other. */
struct sw_layout_wish sw_layout_merged(struct sw_layout_wish wish, struct sw_layout_wish other);
void sw_layout_keep(struct sw_emulator *storage, int fd, uint64_t layout);

#define SW_NO_FILE UINT32_MAX
struct statx;
/* Identifies a file: its birth distinguishes it from one that had the inode before. */
#define SW_FILE_KEY_MASK (STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_BTIME)
uint64_t sw_file_key(const struct statx *status);
/* Returns its slot; *is_new: it had none. With `add` false: SW_NO_FILE if it has none. */
uint32_t sw_file_slot(struct sw_emulator *storage, uint64_t key, bool add, bool *is_new);
/* Call when the file is gone, or another one has taken its inode. */
void sw_file_release(struct sw_emulator *storage, uint64_t key);
/* Sets the layout of a file for good: an existing one, or `layout`. */
uint64_t sw_file_settle(struct sw_emulator *storage, uint32_t slot, uint64_t key, uint64_t layout);

/* ---- descriptors -----------------------------------------------------------------------------
 */

enum { SW_FILE_UNKNOWN = 0, SW_FILE_ELSEWHERE = 1, SW_FILE_HERE = 2 };
#define SW_EMULATED_STATE 0x3u
#define SW_EMULATED_DIRECTORY 0x4u
#define SW_EMULATED_APPENDS 0x8u
#define SW_EMULATED_ALONE_WRITE 0x10u /* by hints: no collective buffering */
#define SW_EMULATED_ALONE_READ 0x20u
#define SW_EMULATED_ALWAYS_WRITE 0x40u /* always */
#define SW_EMULATED_ALWAYS_READ 0x80u
#define SW_EMULATED_THRESHOLD 0x100u /* ROMIO's Lustre driver may not buffer collectively */
#define SW_EMULATED_SHARES 0x200u    /* shares the clocks of another file: the table was full */

struct sw_emulated {
    uint32_t state; /* set last */
    uint32_t slot;
    uint64_t key;
    uint64_t layout; /* 0: not determined yet */
    struct sw_emulator *storage;
    uint64_t cycle;  /* bytes per data exchange of OMPIO; 0: one per request */
    uint32_t opened; /* generation of the process that opened it, plus 1; 0: not opened */
};

/* Returns the entry of a descriptor of a regular file below a root; NULL for anything else. */
struct sw_emulated *sw_emulated_file(int fd);
/* The same, also for a directory. */
struct sw_emulated *sw_emulated_any(int fd);
/* Returns the layout of an open file, determining it if necessary. */
uint64_t sw_emulated_layout(int fd, struct sw_emulated *file);
/* Sets the layout of a file that has none; returns an errno. */
int sw_emulated_set_layout(int fd, struct sw_emulated *file, struct sw_layout_wish wish);
/* Registers an opened descriptor. *created: whether this open created the file; `absent`: whether
 * it did not exist before, if that was checked. NULL if it is not below a root. */
struct sw_emulated *sw_emulated_opened(int fd, int flags, bool absent, bool *created);
/* The same for a directory that is listed. */
void sw_emulated_opened_directory(int fd);

/* ---- hints (hints.c) ---------------------------------------------------------------------------
 */

struct sw_open_hints {
    bool given;                  /* within MPI_File_open */
    struct sw_emulator *storage; /* of its file; NULL: unknown */
    struct sw_layout_wish wish;
    uint32_t lock_mode;  /* lock mode + 1; 0: not set */
    uint32_t collective; /* SW_EMULATED_ALONE_* and SW_EMULATED_ALWAYS_* */
    uint64_t cycle;      /* see struct sw_emulated */
};
extern __thread struct sw_open_hints sw_open_hints __attribute__((tls_model("initial-exec")));

/* ---- laws ------------------------------------------------------------------------------------
 */

enum sw_operation {
    SW_OPERATION_OPEN,
    SW_OPERATION_CREATE,
    SW_OPERATION_STAT,
    SW_OPERATION_REMOVE
};

struct sw_transfer {
    struct sw_emulator *storage;
    bool writes;
    bool exchanged;    /* by an aggregator, within a collective call */
    bool begins_round; /* and it is the first request after an exchange */
    uint32_t slot;
    uint32_t lock_mode;
    uint64_t layout;
    uint64_t offset;
    uint64_t bytes;
    uint64_t start_ns;
};

/* Uses a clock for `ns` from a moment on; returns the end of the use. */
static inline uint64_t sw_clock_use(uint64_t *clock, uint64_t moment_ns, uint64_t ns)
{
    uint64_t seen = __atomic_load_n(clock, __ATOMIC_RELAXED);
    uint64_t end;
    if (ns == 0)
        return seen > moment_ns ? seen : moment_ns;
    do {
        end = (seen > moment_ns ? seen : moment_ns) + ns;
    } while (
        !__atomic_compare_exchange_n(clock, &seen, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return end;
}

/* Determines whether a transfer of an open file has waited for an exchange. */
void sw_emulate_round(struct sw_transfer *transfer, const struct sw_emulated *file);
/* Records that a rank entered a collective call, or a request ended. */
void sw_law_came(struct sw_emulator *storage, uint64_t moment_ns);
void sw_laws_came(uint64_t moment_ns); /* on each storage */
/* Returns when the storage will have completed the transfer; uses the clocks. */
uint64_t sw_law_data(const struct sw_transfer *transfer);
/* `stripes`: of the file; `objects`: opened with it; *served_ns: time at the server, from the
 * arrival. */
uint64_t sw_law_metadata(struct sw_emulator *storage, enum sw_operation operation,
                         uint32_t stripes, uint32_t objects, uint64_t start_ns,
                         uint64_t *served_ns);
uint64_t sw_law_latency(struct sw_emulator *storage, uint64_t start_ns);

/* ---- locks of a file (locks.c) -------------------------------------------------------------- */

struct sw_lock_use {
    uint64_t cost_ns; /* for which the lock's clock is used */
    uint64_t end_ns;  /* of that use */
};

/* Acquires locks of one object that exclude each other. */
struct sw_lock_use sw_lock_use(const struct sw_transfer *transfer, uint32_t object, bool is_ragged,
                               uint32_t node, uint64_t asked_ns);
/* Returns by which factor the node's stream of the file is slowed down by all its writers. */
double sw_lock_contended(const struct sw_transfer *transfer, uint32_t node);
/* A write with locks that were requested ahead: sets the cost of each part for the node; returns
 * false if it is not such a write. */
bool sw_lock_ahead(const struct sw_transfer *transfer, uint32_t node, uint64_t *cost_ns);
/* Records that this process opened the file for writing. */
void sw_lock_opened(struct sw_emulator *storage, uint32_t slot);

/* ---- what the servers count (servers.c, jobs.c)
 * -------------------------------------------------
 */

/* Times of the parts of the thread's last request at the targets, by the parts' numbers, from its
 * arrival; if there are more parts, an entry has the last one with the same remainder. For a
 * single part, also its target. */
#define SW_SERVED 256
struct sw_served {
    uint64_t start_ns; /* of the request */
    uint32_t parts;
    uint32_t target;
    uint64_t ns[SW_SERVED];
};
extern __thread struct sw_served sw_served __attribute__((tls_model("initial-exec")));

/* Gets the id that a client would send for this process; "" if none. */
void sw_job_id(const struct sw_emulate_header *header, char id[SW_EMULATE_JOB_ID]);
/* Returns the block in which this process counts. */
char *sw_job_tallies(struct sw_emulator *storage);

/* Counts a request that moved so many bytes. `whole_ns`: its duration, in case a signal handler
 * made the thread's last request. */
void sw_served_data(const struct sw_transfer *transfer, uint64_t moved, uint64_t whole_ns);
void sw_served_metadata(struct sw_emulator *storage, enum sw_emulate_at_metadata operation,
                        uint64_t served_ns);
/* Counts one operation for each object of a file; layout 0: unknown. */
void sw_served_objects(struct sw_emulator *storage, enum sw_emulate_at_target operation,
                       uint64_t layout);
/* Counts a successful call at the servers. */
void sw_served_call(const struct sw_request *request, uint64_t layout, uint64_t served_ns);

/* ---- moments (moments.c)
 * ------------------------------------------------------------------------
 */

/* Determines when the request begins in the model. */
void sw_emulated_begin(struct sw_request *request);
/* Makes the chain wait until the end in the model. */
void sw_emulated_hold(struct sw_request *request);

/* ---- asynchronous requests ---------------------------------------------------------------------
 */

/* Remembers when a request will end; returns false if there is no room. */
bool sw_posted_put(const void *block, struct sw_emulator *storage, uint64_t end_ns);

/* Reports something to the user, only the first time. */
void sw_emulator_note_once(const char *text, bool *noted);
/* Call when a static program starts, into which nothing can be preloaded. */
void sw_emulator_static_starts(void);

/* ---- Lustre ----------------------------------------------------------------------------------
 */

/* Returns true if the ioctl is one of Lustre's; then `result` and `error` are set, and *end_ns is
 * when it ends. */
bool sw_lustre_control(struct sw_request *request, struct sw_emulated *file, uint64_t start_ns,
                       uint64_t *end_ns);
/* Sets the answer of a statfs that has succeeded. */
void sw_lustre_statfs(struct sw_request *request);

#endif
