/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapping shared by the processes that use an emulated storage: its description, its clocks,
 * and the counters of its servers. Python creates the file, with zeros behind the header: for one
 * run, whose launcher names it in SW_ENV_EMULATE and reads the counters after the run, or for as
 * long as the host is up. SW_ENV_EMULATE can name several, one for each storage.
 * docs/design/machines.md describes the laws.
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
 * Each part begins where the previous one ends (sw_emulate_places). All sizes are multiples of 64,
 * except clocks and factors, which are padded, and blocks, which begin at a page. At first the
 * file has room for everything except the blocks of jobs; the process that takes a job's entry
 * allocates its block before it is used. A clock is a moment of CLOCK_MONOTONIC in nanoseconds, so
 * a mapping is useless after the host has been restarted.
 *
 * All words behind the header are changed only by atomic operations, and a process that is killed
 * leaves nothing there that blocks others. Little-endian.
 */
#ifndef STRIPEWISE_EMULATE_H
#define STRIPEWISE_EMULATE_H

#include <stdint.h>

#define SW_EMULATE_MAGIC "SWEMULAT"
#define SW_EMULATE_VERSION 3

#define SW_EMULATE_HEADER 4096
#define SW_EMULATE_COUNTERS 512
#define SW_EMULATE_ROOT 3072 /* maximum length of the root, including its zero */
#define SW_EMULATE_FIGURES_ROOM 64
#define SW_EMULATE_JOB_ID 32 /* maximum length of a job id, including its zero, as on Lustre */
#define SW_EMULATE_PAGE 4096

/* X(name, figure): figures of a description, in base units and with slow motion applied; an
 * unlimited bandwidth is infinite. */
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

#define SW_EMULATE_LUSTRE 0x1u  /* statfs and the ioctls answer like a Lustre client */
#define SW_EMULATE_PRIVATE 0x2u /* each node has its own target: burst buffer, private access */

struct sw_emulate_header {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint64_t bytes;          /* of the whole mapping */
    uint32_t targets;        /* 1 to 65535 */
    uint32_t nodes;          /* number of clocks of nodes: node n uses n % nodes */
    uint32_t ranks_per_node; /* rank r is on node r / ranks_per_node; 0: all on node 0 */
    uint32_t lock_mode;      /* 0 extent locks, 1 one lock, 2 lock-ahead; hints override it */
    uint32_t files;          /* room, a power of two */
    uint32_t objects;        /* room, a power of two */
    int32_t stripe_count;    /* default of a new file; -1: all targets */
    uint32_t figures_used;   /* SW_FIGURE_COUNT of the writer */
    uint64_t stripe_size;    /* default of a new file, in bytes */
    double noise;            /* factor on the times of the targets and of the whole; 1: none */
    uint64_t draw;           /* seed of the random times of requests; 0: as in the simulation */
    double figures[SW_EMULATE_FIGURES_ROOM]; /* enum sw_emulate_figure */
    char root[SW_EMULATE_ROOT];              /* real path of the directory that is emulated */
    char fs[16];                             /* name of the file system: letters and digits */
    char jobid_var[SW_EMULATE_JOB_ID];       /* how clients identify jobs, as in Lustre */
    char jobid_name[SW_EMULATE_JOB_ID];      /* the same */
    uint64_t began_ns;                       /* CLOCK_REALTIME at the start */
    uint32_t jobs;                           /* room, a power of two */
    uint32_t reserved;
};
_Static_assert(sizeof(struct sw_emulate_header) <= SW_EMULATE_HEADER, "the header has room");

/* What a request waited for: the resource that was released last. */
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
    X(processes) /* that opened the mapping */                                                    \
    X(writes)    /* data requests */                                                              \
    X(reads)                                                                                      \
    X(written_bytes)                                                                              \
    X(read_bytes)                                                                                 \
    X(metadata)        /* operations of the metadata server, and fsyncs */                        \
    X(exchanges)       /* data requests within collective calls */                                \
    X(held)            /* requests that were delayed for the model */                             \
    X(held_ns)         /* total of these delays */                                                \
    X(model_ns)        /* total duration of all requests in the model */                          \
    X(late)            /* requests that ended more than 2 ms and 2 % after the model */           \
    X(late_ns)         /* total of these excesses */                                              \
    X(mapped)          /* memory maps of files below the root: not delayed */                     \
    X(rings)           /* processes with io_uring: not delayed */                                 \
    X(tables_full)     /* files or objects without room: they share clocks */                     \
    X(stripes_cut)     /* layouts with more stripes than targets */                               \
    X(layouts_refused) /* that the storage rejects: the default is used */                        \
    X(layouts_unkept)  /* that could not be stored as an attribute */                             \
    X(static_programs) /* started programs whose calls are not delayed */                         \
    X(jobs_full)       /* processes whose job has no room: counted by target */

#define SW_EMULATE_COUNTER(name) uint64_t name;
struct sw_emulate_counters {
    SW_EMULATE_COUNTERS_OF(SW_EMULATE_COUNTER)
    uint64_t limit_ns[SW_LIMIT_COUNT]; /* enum sw_emulate_limit */
};
_Static_assert(sizeof(struct sw_emulate_counters) <= SW_EMULATE_COUNTERS, "they have room");

/* Indices of the words before those of the targets. */
enum sw_emulate_clock {
    SW_CLOCK_WHOLE,
    SW_CLOCK_METADATA,
    SW_CLOCK_NEXT_TARGET, /* not a clock: number of targets assigned to new files */
    SW_CLOCK_CAME,        /* last time that a rank entered a collective call, or a request ended */
    SW_CLOCK_FIXED = 8,
};

/* Slot of a file, found by `key` with open addressing. Processes are bits, by their rank % 128. */
struct sw_emulate_file {
    uint64_t key;        /* of device and inode; 0: free, 1: formerly used */
    uint64_t layout;     /* one word, 0: none yet */
    uint16_t lock_mode;  /* lock mode + 1; 0: the default */
    uint16_t created;    /* 1: a process is known to have created it; others may have tried, too */
    uint32_t uses;       /* number of files that have had this slot */
    uint64_t openers[2]; /* processes that opened it for writing */
    uint64_t writers[2]; /* processes that wrote to it */
    uint64_t nodes;      /* their nodes, by number % 64 */
};
_Static_assert(sizeof(struct sw_emulate_file) == 64, "one cache line");

/* One stripe object of a file that is locked. */
struct sw_emulate_object {
    uint64_t key;    /* of the file's slot and the stripe index; 0: free */
    uint64_t clock;  /* of its lock */
    uint64_t holder; /* of its lock: use count of the slot, node and mode */
    uint64_t reserved[5];
};
_Static_assert(sizeof(struct sw_emulate_object) == 64, "one cache line");

/* ---- what the servers counted -----------------------------------------------------------------
 */

#define SW_EMULATE_BULK (UINT64_C(4) << 20) /* maximum size of one request at a target */
#define SW_EMULATE_SIZES 24
#define SW_EMULATE_TIMES 16
#define SW_EMULATE_TARGET_BYTES 1024
#define SW_EMULATE_METADATA_BYTES 640

/* Operations of one kind. Times are whole microseconds, each rounded down before it is added, as
 * in Lustre; squares wrap around as in Lustre. `under` is UINT64_MAX minus the shortest time; 0 if
 * there is none. */
struct sw_emulate_tally {
    uint64_t samples;
    uint64_t sum_us;
    uint64_t squares_us;
    uint64_t under_us;
    uint64_t most_us;
};

/* Reads or writes of a target; their number is the total over `sizes`, and over `times`. */
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

/* X(name, name in Lustre) */
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

/* A job, found by `key` with open addressing. It is never freed. */
struct sw_emulate_job {
    uint64_t key; /* of the id; 0: free */
    uint64_t id[SW_EMULATE_JOB_ID /
                8]; /* all 0 if the process that took the entry was killed meanwhile */
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct sw_emulate_job) == 64, "one cache line");

static inline uint64_t sw_emulate_tally_bytes(const struct sw_emulate_header *header)
{
    uint64_t bytes =
        (uint64_t)header->targets * SW_EMULATE_TARGET_BYTES + SW_EMULATE_METADATA_BYTES;
    return (bytes + SW_EMULATE_PAGE - 1) / SW_EMULATE_PAGE * SW_EMULATE_PAGE;
}

/* Offsets of the parts. */
struct sw_emulate_places {
    uint64_t counters;
    uint64_t clocks;
    uint64_t files;
    uint64_t objects;
    uint64_t factors;
    uint64_t jobs;
    uint64_t tallies;
    uint64_t bytes; /* of the whole mapping */
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

/* Ratio of a request's time at a target to its mean, if the time is entirely random, as in
 * simulation/_chance.py. `offset`: the first byte of the request; `rank`: of the process; `draw`:
 * the seed. */
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

/* Where a layout is stored: that of a file, or for a directory that of new files in it. It
 * consists of three decimal numbers separated by blanks: stripe count (-1: all targets, 0: the
 * default), stripe size in bytes (0: the default), first target (-1: the next one). */
#define SW_EMULATE_ATTRIBUTE "user.stripewise.layout"
#define SW_EMULATE_GRAIN 65536 /* a stripe size is a multiple of this */

#endif
