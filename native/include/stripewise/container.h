/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The container: one file per node and run, `<STRIPEWISE_DIRECTORY>/<host>.sw`, mode 0600, little
 * endian. It is extended under flock() and preallocated (posix_fallocate), so that a store into
 * the mapping never fails because the disk is full.
 *
 *   file   := file header (SW_PAGE bytes) block*
 *   block  := block header (64 bytes) payload, padded to a multiple of SW_PAGE
 *   PROCESS block payload := struct sw_process, then records
 *   RECORDS block payload := records (a process that needs more room adds one)
 *   record := struct sw_record header, body, padded to 8 bytes
 *
 * A writer commits a record by storing its `bytes` last (release); a reader stops at the first
 * record whose `bytes` is 0. All integers are updated in place while the program runs, so the file
 * is complete up to the last finished call whenever the process dies. Readers compute every
 * summary; nothing is reduced or communicated at exit.
 *
 * A process that ends normally, with a single thread, seals its blocks: each gets a checksum, and
 * finally its PROCESS block records their number. A later call resets this number before it
 * changes anything. A checksum is the sum, modulo 2^64, of (x ^ x >> 32) x w over the 8-byte words
 * x that it covers; word i has the weight w = (i x SW_SUM_STEP) | 1, with i counted from 0. A sum
 * of 0 is stored as 1; 0 means that there is no checksum.
 * src/stripewise/evidence/containers/_container.py mirrors these structs.
 */
#ifndef STRIPEWISE_CONTAINER_H
#define STRIPEWISE_CONTAINER_H

#include <stdint.h>

#define SW_CONTAINER_MAGIC UINT64_C(0x314e4f435754530a) /* "\nSTWCON1" */
#define SW_CONTAINER_VERSION 1
#define SW_PAGE 4096
#define SW_BLOCK_MAGIC UINT32_C(0x4b4c4253) /* "SBLK" */
#define SW_SUM_STEP UINT64_C(0x9e3779b97f4a7c15)

enum sw_block_kind { SW_BLOCK_PROCESS = 1, SW_BLOCK_RECORDS = 2 };

enum sw_record_kind {
    SW_RECORD_FILE = 1,      /* struct sw_file_record + path */
    SW_RECORD_SETTINGS = 2,  /* struct sw_settings_record + text */
    SW_RECORD_NOTE = 3,      /* struct sw_settings_record + text: a problem, in words */
    SW_RECORD_METADATA = 4,  /* struct sw_metadata_record + path */
    SW_RECORD_ISSUED = 5,    /* as SW_RECORD_FILE: system calls that libc made for a stream */
    SW_RECORD_TRANSFERS = 6, /* struct sw_transfers_record + name of the dataset */
};

/* Prefix of a note that names a program without this library. */
#define SW_NOTE_UNSEEN "not seen: "

enum sw_layer {
    SW_LAYER_POSIX = 0,
    SW_LAYER_STDIO = 1,
    SW_LAYER_MPIIO = 2,
    SW_LAYER_PNETCDF = 3,
    SW_LAYER_HDF5 = 4,
    SW_LAYER_ADIOS2 = 5,
    SW_LAYER_COUNT = 6,
};

/* One slot per kind of operation. Collective and independent operations are distinguished if the
 * layer does so; POSIX and stdio use the independent slots. */
enum sw_op {
    SW_OP_OPEN = 0,
    SW_OP_CLOSE = 1,
    SW_OP_READ = 2,
    SW_OP_WRITE = 3,
    SW_OP_READ_COLLECTIVE = 4,
    SW_OP_WRITE_COLLECTIVE = 5,
    SW_OP_SYNC = 6,
    SW_OP_META = 7, /* view, size, stat, seek, truncate, unlink, attribute, dataset */
    SW_OP_COUNT = 8,
};

/* Action of a libc call; those before SW_DO_FIRST_DATA act on names and status. */
enum sw_action {
    SW_DO_OPEN = 0, /* or create */
    SW_DO_STAT = 1,
    SW_DO_ACCESS = 2,
    SW_DO_LIST = 3, /* opendir */
    SW_DO_MKDIR = 4,
    SW_DO_RMDIR = 5,
    SW_DO_UNLINK = 6,
    SW_DO_RENAME = 7,
    SW_DO_LINK = 8,
    SW_DO_SYMLINK = 9, /* and readlink */
    SW_DO_CHANGE = 10, /* mode, owner, times, attributes */
    SW_DO_TRUNCATE = 11,
    SW_DO_STATFS = 12,
    SW_DO_FIRST_DATA = 16,
    SW_DO_CLOSE = 16,
    SW_DO_READ = 17,
    SW_DO_WRITE = 18,
    SW_DO_SYNC = 19,
    SW_DO_ALLOCATE = 20,
    SW_DO_CONTROL = 21, /* ioctl */
    SW_DO_COUNT = 22,
};

struct sw_container_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* SW_PAGE */
    uint64_t created_ns;   /* CLOCK_REALTIME */
    char host[256];
    char run_id[64];
    uint64_t lost_processes; /* without room: see STRIPEWISE_RUN_BYTES */
    uint64_t sum;            /* of everything before lost_processes; 0: none */
};

struct sw_block_header {
    uint32_t magic;
    uint16_t kind; /* enum sw_block_kind */
    uint16_t version;
    uint64_t bytes;      /* of the whole block, header included; multiple of SW_PAGE */
    uint64_t process_id; /* unique in the file: offset of the PROCESS block */
    uint32_t pid;
    uint32_t reserved;
    uint64_t previous; /* offset of this process's previous block; 0: none */
    uint64_t sum;      /* of everything before it here, and of the whole payload; 0: none */
    uint64_t sealed;   /* PROCESS block: number of this process's blocks if all sums are valid */
    uint64_t padding;
};

enum sw_mpi_family { SW_MPI_NONE = 0, SW_MPI_MPICH = 1, SW_MPI_OPENMPI = 2, SW_MPI_OTHER = 3 };

enum sw_plugin_state {
    SW_PLUGIN_UNUSED = 0, /* MPI_Init was not seen */
    SW_PLUGIN_LOADED = 1,
    SW_PLUGIN_MISSING = 2, /* no plug-in for this MPI in STRIPEWISE_PLUGIN_PATH */
    SW_PLUGIN_WRONG = 3,   /* a plug-in was found, but for another MPI or version */
};

/* Bits of sw_process.flags. */
#define SW_PROCESS_MPI_INITIALIZED 0x1u
#define SW_PROCESS_MPI_FINALIZED 0x2u
#define SW_PROCESS_EXITED 0x4u  /* reached exit(); absent after a kill */
#define SW_PROCESS_EXECED 0x8u  /* replaced itself by exec */
#define SW_PROCESS_FORKED 0x10u /* child of fork that never exec'ed */
#define SW_PROCESS_USES_IO_URING 0x20u
#define SW_PROCESS_USES_SHARED_MMAP 0x40u /* writable shared mapping of a regular file */
#define SW_PROCESS_HDF5 0x80u
#define SW_PROCESS_HDF5_PARALLEL 0x100u
#define SW_PROCESS_CONFIG_BAD 0x200u
#define SW_PROCESS_GUARD_HIT 0x400u /* an open was refused by STRIPEWISE_WRITABLE */
#define SW_PROCESS_PNETCDF 0x800u
#define SW_PROCESS_NETCDF4 0x1000u /* HDF5 was called by the netCDF library */
#define SW_PROCESS_ADIOS2 0x2000u
#define SW_PROCESS_ROMIO_CHOSEN 0x4000u    /* Open MPI is configured to use ROMIO for MPI-IO */
#define SW_PROCESS_LOST_OTHERS 0x8000u     /* nested calls without data were not counted */
#define SW_PROCESS_STARTED_UNSEEN 0x10000u /* started a program without this library */

enum sw_capture_mode { SW_CAPTURE_OFF = 0, SW_CAPTURE_FOLD = 1, SW_CAPTURE_ALL = 2 };

struct sw_process {
    uint32_t pid;
    uint32_t ppid;
    int32_t rank;       /* in MPI_COMM_WORLD; -1 without MPI */
    int32_t world_size; /* 0 without MPI */
    uint32_t mpi_family;
    uint32_t plugin_state;
    uint32_t flags;
    uint32_t reserved;
    uint64_t start_ns; /* CLOCK_REALTIME at load */
    uint64_t end_ns;   /* at exit; 0 if exit was not reached */
    uint64_t clock_ns; /* CLOCK_MONOTONIC at load: origin of all *_ns below */
    /* Time in outermost calls (ADIOS2 > HDF5 > PnetCDF > MPI-IO > POSIX/stdio), summed over
     * threads. */
    uint64_t outermost_ns;
    uint64_t outermost_read_bytes;
    uint64_t outermost_write_bytes;
    uint64_t lost_records; /* files without room */
    uint64_t lost_calls;   /* calls not counted (inside a signal handler, no record) */
    char mpi_version[256]; /* MPI_Get_library_version, first line */
    char exe[512];
    char command[1024]; /* arguments separated by 0x1f, cut off if too long */
    uint32_t capture;   /* enum sw_capture_mode */
    uint32_t reserved_number;
    uint64_t lost_events; /* calls without room in the trace (trace.h) */
    /* What this library added to calls inside other calls, as measured in one of 61 of them. */
    uint64_t own_ns[SW_LAYER_COUNT];
    uint32_t own_samples[SW_LAYER_COUNT];
    char reserved_text[40];
};

struct sw_record {
    uint32_t bytes; /* of header + body + padding; stored last */
    uint16_t kind;
    uint16_t version;
};

struct sw_op_counters {
    uint64_t count;
    uint64_t bytes;
    uint64_t ns;
};

#define SW_SIZE_BINS 10  /* 0-100, -1K, -10K, -100K, -1M, -4M, -10M, -100M, -1G, more (bytes) */
#define SW_ALIGN_BINS 32 /* bin = trailing zero bits of the offset, at most 31 */

#define SW_FILE_READ 0x1u
#define SW_FILE_WRITTEN 0x2u
#define SW_FILE_CREATED 0x4u      /* created by this process (did not exist at open) */
#define SW_FILE_OPENED_WRITE 0x8u /* opened with a mode that allows writing */
#define SW_FILE_OPENED_READ 0x10u
#define SW_FILE_UNLINKED 0x20u
#define SW_FILE_TRUNCATED 0x40u
#define SW_FILE_INTERLEAVED 0x80u /* MPI-IO: a noncontiguous file view was set */
#define SW_FILE_CHARACTERS 0x100u /* stdio: characters, scanf; the ISSUED record has the bytes */
#define SW_FILE_WIDE 0x200u       /* stdio: wide characters, whose bytes are unknown */
#define SW_FILE_MAPPED 0x400u     /* read through memory: bytes and times are unknown */
#define SW_FILE_MAPPED_SHARED 0x800u /* written through memory, likewise */
#define SW_FILE_UNFETCHED 0x1000u    /* asynchronous requests whose result was not fetched */
#define SW_FILE_POSTED 0x2000u /* PnetCDF: calls were posted; waits move their data at once */

struct sw_file_record {
    struct sw_record header;
    uint64_t file_id; /* FNV-1a hash of the absolute path; joins the layers and processes */
    uint32_t layer;
    uint32_t flags;
    struct sw_op_counters ops[SW_OP_COUNT];
    uint64_t outermost_ns;
    uint64_t outermost_read_bytes;
    uint64_t outermost_write_bytes;
    uint64_t first_ns; /* CLOCK_MONOTONIC - sw_process.clock_ns, first and last data call */
    uint64_t last_ns;
    uint64_t read_min, read_max; /* bytes of one call */
    uint64_t write_min, write_max;
    uint64_t sequential_writes;  /* offset >= end of the previous one */
    uint64_t consecutive_writes; /* offset == end of the previous one */
    uint64_t sequential_reads;
    uint64_t consecutive_reads;
    uint64_t maximum_offset; /* end of the last byte in the file that was written or read */
    uint32_t read_sizes[SW_SIZE_BINS];
    uint32_t write_sizes[SW_SIZE_BINS];
    uint32_t write_alignment[SW_ALIGN_BINS];
    uint32_t path_bytes; /* without the terminating zero */
    uint32_t reserved;
    char path[]; /* absolute, not resolved, any bytes */
};

struct sw_metadata_counters {
    uint64_t count; /* including failed ones */
    uint64_t failed;
    uint64_t ns;
};

/* Calls on names in one directory, whether or not a file's record includes them as well. */
struct sw_metadata_record {
    struct sw_record header;
    struct sw_metadata_counters actions[SW_DO_FIRST_DATA]; /* enum sw_action */
    uint32_t path_bytes; /* 0: all directories without room for a record */
    uint32_t reserved;
    char path[]; /* of the directory, as in a file's record */
};

/* Numbers of H5D_mpio_actual_io_mode_t, H5D_mpio_actual_chunk_opt_mode_t, and of the bits of
 * H5Pget_mpio_no_collective_cause. Source: H5Dpublic.h and H5Ppublic.h of HDF5 1.10 to 2.0. */
#define SW_H5_MODES 5
#define SW_H5_CHUNK_MODES 3
#define SW_H5_CAUSES 16

/* What HDF5 did with the transfers of one dataset in one direction by this process. The first
 * SW_TRANSFERS_NAMED of a process have a record of their own, others share that of their file. */
#define SW_TRANSFERS_NAMED 32
struct sw_transfers_record {
    struct sw_record header;
    uint64_t file_id;
    uint32_t writes;        /* 1: writes, 0: reads */
    uint32_t element_bytes; /* of an element in the file, 0: unknown, or of several datasets */
    uint64_t count;
    uint64_t bytes; /* elements x size of the memory type */
    uint64_t ns;
    uint64_t compared;  /* transfers whose types in memory and in the file were compared: */
    uint64_t converted; /* values had to be converted; */
    uint64_t converted_bytes;
    uint64_t converted_ns;
    uint64_t members; /* only some members of a compound were moved */
    uint64_t members_bytes;
    uint64_t members_ns;
    uint64_t collective; /* requested to be collective; of these: */
    uint64_t collective_ns;
    uint64_t answered;                       /* HDF5 reported how it had carried them out */
    uint64_t modes[SW_H5_MODES];             /* by actual I/O mode */
    uint64_t independent_ns;                 /* in those whose mode was independent */
    uint64_t chunk_modes[SW_H5_CHUNK_MODES]; /* by chunk optimisation, of chunked datasets */
    uint64_t local_causes[SW_H5_CAUSES];     /* by bit: why this rank could not be collective */
    uint64_t global_causes[SW_H5_CAUSES];    /* by bit: why some rank could not */
    uint32_t name_bytes;                     /* 0: of several datasets of the file */
    uint32_t reserved;
    char name[];
};

enum sw_settings_kind {
    SW_SETTINGS_PROGRAM = 1,  /* MPI_Info that the program passed */
    SW_SETTINGS_APPLIED = 2,  /* hints that Stripewise added or replaced */
    SW_SETTINGS_REPORTED = 3, /* MPI_File_get_info after the open */
};

struct sw_settings_record {
    struct sw_record header;
    uint64_t file_id; /* 0: the process */
    uint32_t layer;
    uint32_t kind; /* enum sw_settings_kind */
    uint32_t text_bytes;
    uint32_t reserved;
    char text[]; /* "key=value\n" lines */
};

#endif
