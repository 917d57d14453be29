/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapping that the processes which use an emulated storage share: what the storage is, its
 * clocks, and what its servers counted.  Python makes the file, of zeros behind the header: for
 * one run, whose launcher names it in SW_ENV_EMULATE and reads the counters when the run is over,
 * or for as long as the host is up. SW_ENV_EMULATE can name several, one for each storage.
 * docs/design/machines.md has the laws.
 *
 *   header      sw_emulate_header, SW_EMULATE_HEADER bytes
 *   counters    sw_emulate_counters, SW_EMULATE_COUNTERS bytes
 *   clocks      8-byte words: SW_CLOCK_FIXED of them, one for each target, one for each node, and
 *               one for each file and node, those of a file side by side
 *   files       `files` times sw_emulate_file
 *   objects     `objects` times sw_emulate_object
 *   factors     8-byte words, one for each target: a double, how many times as long its requests
 *               take; 0: once.  May be changed at any time
 *   jobs        `jobs` times sw_emulate_job
 *   tallies     what the servers counted: 1 + `jobs` blocks of sw_emulate_tally_bytes, each with a
 *               sw_emulate_target for each target and one sw_emulate_metadata.  The first block is
 *               for requests of no job, or of one without room; block 1 + i is of jobs[i].  So a
 *               target's own counters are the sums over all blocks
 *
 * Each part begins where the one before ends (sw_emulate_places); all sizes are multiples of 64
 * but for clocks and factors, which are padded, and blocks, which begin with a page.  The file has
 * room for all but the blocks of jobs from the beginning; whoever takes a job's entry gets the
 * room for its block before it is used.  A clock is a moment of CLOCK_MONOTONIC in nanoseconds, so
 * a mapping is of no use once the host has been started again.
 * All words behind the header are changed by atomic operations alone, and nothing that a process
 * that is killed leaves there keeps others waiting.  Little-endian.
 */
#ifndef STRIPEWISE_EMULATE_H
#define STRIPEWISE_EMULATE_H

#include <stdint.h>

#define SW_EMULATE_MAGIC "SWEMULAT"
#define SW_EMULATE_VERSION 3

#define SW_EMULATE_HEADER 4096
#define SW_EMULATE_COUNTERS 512
#define SW_EMULATE_ROOT 3072 /* most bytes of the root, with its zero */
#define SW_EMULATE_FIGURES_ROOM 64
#define SW_EMULATE_JOB_ID 32 /* most bytes of a job's id, with its zero: as on Lustre */
#define SW_EMULATE_PAGE 4096

/* X(name, figure): of a description, in base units, with slow motion applied; a bandwidth without
 * limit is infinite. */
#define SW_EMULATE_FIGURES(X)                                                                     \
    X(PROCESS_WRITE, "client.process_write")                                                      \
    X(PROCESS_READ, "client.process_read")                                                        \
    X(FILE_WRITE, "client.file_write")                                                            \
    X(FILE_READ, "client.file_read")                                                              \
    X(TURNS, "client.turns")                                                                      \
    X(SHARING, "client.sharing")                                                                  \
    X(NODE_WRITE, "client.node_write")                                                            \
    X(NODE_READ, "client.node_read")                                                              \
    X(REQUEST, "client.request")                                                                  \
    X(TARGET_WRITE, "servers.target_write")                                                       \
    X(TARGET_READ, "servers.target_read")                                                         \
    X(TARGET_REQUEST, "servers.target_request")                                                   \
    X(TARGET_JITTER, "servers.jitter")                                                            \
    X(WHOLE_WRITE, "servers.whole_write")                                                         \
    X(WHOLE_READ, "servers.whole_read")                                                           \
    X(LOCK_REVOKE, "locks.revoke")                                                                \
    X(LOCK_AHEAD, "locks.ahead")                                                                  \
    X(LOCK_HOLD, "locks.hold")                                                                    \
    X(LOCK_EXTENT, "locks.extent")                                                                \
    X(LOCK_PAGE, "locks.page")                                                                    \
    X(LOCK_PAGE_SIZE, "locks.page_size")                                                          \
    X(EXCHANGE_ROUND, "exchange.round")                                                           \
    X(EXCHANGE_RANK, "exchange.rank")                                                             \
    X(EXCHANGE_BANDWIDTH, "exchange.bandwidth")                                                   \
    X(METADATA_OPEN, "metadata.open")                                                             \
    X(METADATA_CREATE, "metadata.create")                                                         \
    X(METADATA_STAT, "metadata.stat")                                                             \
    X(METADATA_REMOVE, "metadata.remove")                                                         \
    X(METADATA_OBJECT, "metadata.object")                                                         \
    X(METADATA_LATENCY, "metadata.latency")                                                       \
    X(METADATA_GROWTH, "metadata.growth")                                                         \
    X(SLOW_SHARE, "servers.slow_share")                                                           \
    X(SLOW_TARGET, "servers.slow_target")

#define SW_EMULATE_FIGURE_OF(name, figure) SW_FIGURE_##name,
enum sw_emulate_figure { SW_EMULATE_FIGURES(SW_EMULATE_FIGURE_OF) SW_FIGURE_COUNT };
_Static_assert(SW_FIGURE_COUNT <= SW_EMULATE_FIGURES_ROOM, "the header has room");

#define SW_EMULATE_LUSTRE 0x1u /* statfs and the ioctls answer as a Lustre client does */
#define SW_EMULATE_PRIVATE                                                                        \
    0x2u /* each node has a target of its own: burst buffer, private access */

struct sw_emulate_header {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint64_t bytes;          /* of the whole mapping */
    uint32_t targets;        /* 1 to 65535 */
    uint32_t nodes;          /* that have a clock: node n uses n % nodes */
    uint32_t ranks_per_node; /* rank r is on node r / ranks_per_node; 0: all on node 0 */
    uint32_t lock_mode;      /* 0 extent locks, 1 one lock, 2 lock-ahead: where no hint says */
    uint32_t files;          /* room, a power of two */
    uint32_t objects;        /* room, a power of two */
    int32_t stripe_count;    /* of a new file by default; -1: all targets */
    uint32_t figures_used;   /* SW_FIGURE_COUNT of who wrote it */
    uint64_t stripe_size;    /* of a new file by default, bytes */
    double noise;            /* factor for the times of the targets and of the whole; 1: none */
    uint64_t draw;           /* of what chance gives to requests; 0: as the simulation has it */
    double figures[SW_EMULATE_FIGURES_ROOM]; /* enum sw_emulate_figure */
    char root[SW_EMULATE_ROOT];              /* real path of a directory: what is below it */
    char fs[16];                             /* name of the file system: letters and digits */
    char jobid_var[SW_EMULATE_JOB_ID];       /* how clients tell jobs apart, as Lustre's have it */
    char jobid_name[SW_EMULATE_JOB_ID];      /* the same */
    uint64_t began_ns;                       /* CLOCK_REALTIME */
    uint32_t jobs;                           /* room, a power of two */
    uint32_t reserved;
};
_Static_assert(sizeof(struct sw_emulate_header) <= SW_EMULATE_HEADER, "the header has room");

/* What a request waited for: the resource whose use ended last. */
#define SW_EMULATE_LIMITS(X)                                                                      \
    X(REQUEST)  /* client.request */                                                              \
    X(EXCHANGE) /* of collective buffering */                                                     \
    X(LOCK)                                                                                       \
    X(PROCESS)                                                                                    \
    X(FILE) /* the node, for this file */                                                         \
    X(NODE)                                                                                       \
    X(TARGET)                                                                                     \
    X(WHOLE)                                                                                      \
    X(METADATA)
#define SW_EMULATE_LIMIT_OF(name) SW_LIMIT_##name,
enum sw_emulate_limit { SW_EMULATE_LIMITS(SW_EMULATE_LIMIT_OF) SW_LIMIT_COUNT };

/* X(name): 8-byte words, in this order; times in nanoseconds. */
#define SW_EMULATE_COUNTERS_OF(X)                                                                 \
    X(processes) /* that took the mapping up */                                                   \
    X(writes)    /* requests of data */                                                           \
    X(reads)                                                                                      \
    X(written_bytes)                                                                              \
    X(read_bytes)                                                                                 \
    X(metadata)        /* operations of the metadata server, and fsyncs */                        \
    X(exchanges)       /* requests of data within a collective call */                            \
    X(held)            /* requests that waited for the model */                                   \
    X(held_ns)         /* so long in all */                                                       \
    X(model_ns)        /* from beginning to end of all requests, as the model has it */           \
    X(late)            /* requests that this host ended more than 2 ms and 2 % after the model */ \
    X(late_ns)         /* by so much more in all */                                               \
    X(mapped)          /* memory maps of files below the root: not held */                        \
    X(rings)           /* processes with io_uring: not held */                                    \
    X(tables_full)     /* files or objects without room: they share clocks with others */         \
    X(stripes_cut)     /* layouts that asked for more stripes than there are targets */           \
    X(layouts_refused) /* that the storage does not take: the default is used */                  \
    X(layouts_unkept)  /* that could not be kept as an attribute of the file */                   \
    X(static_programs) /* started, so that nothing of theirs is held */                           \
    X(jobs_full)       /* processes whose job has no room: counted for the targets alone */

#define SW_EMULATE_COUNTER(name) uint64_t name;
struct sw_emulate_counters {
    SW_EMULATE_COUNTERS_OF(SW_EMULATE_COUNTER)
    uint64_t limit_ns[SW_LIMIT_COUNT]; /* enum sw_emulate_limit */
};
_Static_assert(sizeof(struct sw_emulate_counters) <= SW_EMULATE_COUNTERS, "they have room");

/* Words before those of the targets. */
enum sw_emulate_clock {
    SW_CLOCK_WHOLE,
    SW_CLOCK_METADATA,
    SW_CLOCK_NEXT_TARGET, /* no clock: targets that new files have got */
    SW_CLOCK_CAME,        /* when a rank last came into a collective call, or a request ended */
    SW_CLOCK_FIXED = 8,
};

/* Slot of a file: by `key`, open addressing.  Processes are bits by their rank % 128. */
struct sw_emulate_file {
    uint64_t key;        /* of device and inode; 0: free, 1: was in use */
    uint64_t layout;     /* one word, 0: none yet */
    uint16_t lock_mode;  /* 1 more than it is; 0: the default */
    uint16_t created;    /* 1: one process is known to have made it; others may have tried, too */
    uint32_t uses;       /* how many files have had this slot */
    uint64_t openers[2]; /* processes that opened it for writing */
    uint64_t writers[2]; /* that wrote to it */
    uint64_t nodes;      /* on which those are, by their number % 64 */
};
_Static_assert(sizeof(struct sw_emulate_file) == 64, "one cache line");

/* One stripe object of a file that is locked. */
struct sw_emulate_object {
    uint64_t key;    /* of the file's slot and the index; 0: free */
    uint64_t clock;  /* of its lock */
    uint64_t holder; /* of its lock: uses of the slot, node and how */
    uint64_t reserved[5];
};
_Static_assert(sizeof(struct sw_emulate_object) == 64, "one cache line");

/* ---- what the servers counted -----------------------------------------------------------------
 */

#define SW_EMULATE_BULK (UINT64_C(4) << 20) /* most bytes of one request at a target */
#define SW_EMULATE_SIZES 24
#define SW_EMULATE_TIMES 16
#define SW_EMULATE_TARGET_BYTES 1024
#define SW_EMULATE_METADATA_BYTES 640

/* Operations of one kind.  Times are whole microseconds, each cut to them before it is added, as
 * Lustre's are; squares wrap as Lustre's do.  `under` is UINT64_MAX less the shortest: 0 as long
 * as there is none. */
struct sw_emulate_tally {
    uint64_t samples;
    uint64_t sum_us;
    uint64_t squares_us;
    uint64_t under_us;
    uint64_t most_us;
};

/* Reads or writes of a target.  There are as many as in `sizes` (and in `times`) together. */
struct sw_emulate_transfers {
    uint64_t sum_bytes;
    uint64_t squares_bytes;
    uint64_t under_bytes;
    uint64_t most_bytes;
    uint64_t sum_us;
    uint64_t squares_us;
    uint64_t under_us;
    uint64_t most_us;
    uint64_t sizes[SW_EMULATE_SIZES]; /* [i]: above 2^(i-1), up to 2^i bytes */
    uint64_t times[SW_EMULATE_TIMES]; /* [i]: the same in whole milliseconds; [0]: below 2 */
};

/* X(name, as Lustre has it) */
#define SW_EMULATE_TARGET_OPERATIONS(X)                                                           \
    X(PUNCH, "punch")                                                                             \
    X(SYNC, "sync")                                                                               \
    X(PREALLOC, "prealloc")

#define SW_EMULATE_METADATA_OPERATIONS(X)                                                         \
    X(OPEN, "open")                                                                               \
    X(CLOSE, "close")                                                                             \
    X(MKNOD, "mknod")                                                                             \
    X(LINK, "link")                                                                               \
    X(UNLINK, "unlink")                                                                           \
    X(MKDIR, "mkdir")                                                                             \
    X(RMDIR, "rmdir")                                                                             \
    X(RENAME, "rename")                                                                           \
    X(GETATTR, "getattr")                                                                         \
    X(SETATTR, "setattr")                                                                         \
    X(GETXATTR, "getxattr")                                                                       \
    X(SETXATTR, "setxattr")                                                                       \
    X(STATFS, "statfs")                                                                           \
    X(SYNC, "sync")

#define SW_EMULATE_AT_TARGET(name, text) SW_AT_TARGET_##name,
enum sw_emulate_at_target {
    SW_EMULATE_TARGET_OPERATIONS(SW_EMULATE_AT_TARGET) SW_AT_TARGET_COUNT
};
#define SW_EMULATE_AT_METADATA(name, text) SW_AT_METADATA_##name,
enum sw_emulate_at_metadata {
    SW_EMULATE_METADATA_OPERATIONS(SW_EMULATE_AT_METADATA) SW_AT_METADATA_COUNT
};

/* Moments of CLOCK_MONOTONIC, in nanoseconds; 0: never. */
struct sw_emulate_span {
    uint64_t first_ns;
    uint64_t last_ns;
};

struct sw_emulate_target {
    struct sw_emulate_span span;
    struct sw_emulate_transfers transfers[2]; /* reads, writes */
    struct sw_emulate_tally operations[SW_AT_TARGET_COUNT];
};
_Static_assert(sizeof(struct sw_emulate_target) <= SW_EMULATE_TARGET_BYTES, "it has room");

struct sw_emulate_metadata {
    struct sw_emulate_span span;
    struct sw_emulate_tally operations[SW_AT_METADATA_COUNT];
};
_Static_assert(sizeof(struct sw_emulate_metadata) <= SW_EMULATE_METADATA_BYTES, "it has room");

/* A job: by `key`, open addressing.  Never freed. */
struct sw_emulate_job {
    uint64_t key;                       /* of the id; 0: free */
    uint64_t id[SW_EMULATE_JOB_ID / 8]; /* all 0 where who took the entry was killed amid that */
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct sw_emulate_job) == 64, "one cache line");

static inline uint64_t sw_emulate_tally_bytes(const struct sw_emulate_header *header)
{
    uint64_t bytes =
        (uint64_t)header->targets * SW_EMULATE_TARGET_BYTES + SW_EMULATE_METADATA_BYTES;
    return (bytes + SW_EMULATE_PAGE - 1) / SW_EMULATE_PAGE * SW_EMULATE_PAGE;
}

/* Where the parts are. */
struct sw_emulate_places {
    uint64_t counters;
    uint64_t clocks;
    uint64_t files;
    uint64_t objects;
    uint64_t factors;
    uint64_t jobs;
    uint64_t tallies;
    uint64_t bytes; /* of all */
};

static inline struct sw_emulate_places sw_emulate_places(const struct sw_emulate_header *header)
{
    struct sw_emulate_places places;
    uint64_t clocks =
        SW_CLOCK_FIXED + header->targets + header->nodes + (uint64_t)header->files * header->nodes;
    places.counters = SW_EMULATE_HEADER;
    places.clocks = places.counters + SW_EMULATE_COUNTERS;
    places.files = places.clocks + (clocks * 8 + 63) / 64 * 64;
    places.objects = places.files + sizeof(struct sw_emulate_file) * (uint64_t)header->files;
    places.factors = places.objects + sizeof(struct sw_emulate_object) * (uint64_t)header->objects;
    places.jobs = places.factors + ((uint64_t)header->targets * 8 + 63) / 64 * 64;
    places.tallies = places.jobs + sizeof(struct sw_emulate_job) * (uint64_t)header->jobs;
    places.tallies = (places.tallies + SW_EMULATE_PAGE - 1) / SW_EMULATE_PAGE * SW_EMULATE_PAGE;
    places.bytes = places.tallies + sw_emulate_tally_bytes(header) * (1 + (uint64_t)header->jobs);
    return places;
}

/* How many times as long as its mean a request takes at a target, where all of it is chance: as
 * simulation/_chance.py has it.  `offset`: the first byte of the request; `rank`: who asks;
 * `draw`: another one, other times. */
static inline double sw_emulate_chance(uint32_t target, uint64_t offset, uint32_t rank,
                                       uint64_t draw)
{
    uint64_t word = offset + UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)target + 1) +
                    UINT64_C(0xD1B54A32D192ED03) * rank + UINT64_C(0xA24BAED4963EE407) * draw;
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    word = (word ^ word >> 31) | 1;
    int zeros = __builtin_clzll(word);
    double mantissa = (double)word / (double)(UINT64_C(1) << (63 - zeros));
    return (zeros + 2 - mantissa) / 1.5;
}

/* Where a layout is kept: on a file what it has, on a directory what new files below it get. Three
 * decimal numbers with a blank between them: stripe count (-1: all targets, 0: the default),
 * stripe size in bytes (0: the default), first target (-1: the next one). */
#define SW_EMULATE_ATTRIBUTE "user.stripewise.layout"
#define SW_EMULATE_GRAIN 65536 /* a stripe size is a multiple of it */

#endif
