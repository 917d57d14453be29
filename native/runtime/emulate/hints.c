/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hints of MPI-IO that affect the storage: a file that is created within MPI_File_open gets the
 * requested layout, even if the MPI has no driver that would request it from the storage. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "hints.h"

__thread struct sw_open_hints sw_open_hints
    __attribute__((tls_model("initial-exec"))) = {.wish = {.first = -1}};

static bool is_on(const char *value)
{
    return *value == '1' || strncmp(value, "enable", 6) == 0 || strncmp(value, "true", 4) == 0;
}

static void take(struct sw_open_hints *hints, const char *key, size_t bytes, const char *value)
{
#define IS(name) (bytes == sizeof name - 1 && memcmp(key, name, bytes) == 0)
    if (IS("striping_factor"))
        hints->wish.count = strtoll(value, NULL, 10);
    else if (IS("striping_unit"))
        hints->wish.size = strtoll(value, NULL, 10);
    else if (IS("start_iodevice") || IS("romio_lustre_start_iodevice"))
        hints->wish.first = strtoll(value, NULL, 10);
    else if (IS("cray_cb_write_lock_mode"))
        hints->lock_mode = (uint32_t)(strtoul(value, NULL, 10) % 3) + 1;
    else if (IS("romio_lustre_cb_lock_ahead_write") && is_on(value))
        hints->lock_mode = 3;
    else if (IS("cb_buffer_size") && hints->cycle != 0 && strtoull(value, NULL, 10) != 0)
        hints->cycle = strtoull(value, NULL, 10);
    else if (IS("romio_cb_write"))
        hints->collective |= strncmp(value, "disable", 7) == 0  ? SW_EMULATED_ALONE_WRITE
                             : strncmp(value, "enable", 6) == 0 ? SW_EMULATED_ALWAYS_WRITE
                                                                : 0;
    else if (IS("romio_cb_read"))
        hints->collective |= strncmp(value, "disable", 7) == 0  ? SW_EMULATED_ALONE_READ
                             : strncmp(value, "enable", 6) == 0 ? SW_EMULATED_ALWAYS_READ
                                                                : 0;
    else if (IS("romio_lustre_coll_threshold") && strtoull(value, NULL, 10) != 0)
        hints->collective |= SW_EMULATED_THRESHOLD;
#undef IS
}

#define BYTES_PER_AGGREGATOR (UINT64_C(32) << 20)

static uint64_t ompio_cycle(void)
{
    const char *bytes = getenv("OMPI_MCA_io_ompio_bytes_per_agg");
    uint64_t asked = bytes != NULL ? strtoull(bytes, NULL, 10) : 0;
    return asked != 0 ? asked : BYTES_PER_AGGREGATOR;
}

/* Returns the storage that MPI-IO will find behind a name; NULL if unknown. */
static struct sw_emulator *storage_of(const char *path, bool creates)
{
    char absolute[PATH_MAX];
    int saved_errno = errno;
    struct sw_emulator *found = NULL;
    if (sw_emulators_used == 1)
        return &sw_emulators[0];
    if (sw_path_is_readable(path)) {
        size_t bytes =
            sw_path_absolute(AT_FDCWD, sw_path_without_prefix(path), absolute, sizeof absolute);
        if (bytes != 0) {
            sw_redirected(absolute, bytes, sizeof absolute,
                          creates ? SW_REDIRECT_MAKE : SW_REDIRECT_FIND);
            found = sw_emulator_at(&(struct sw_place){AT_FDCWD, absolute});
        }
    }
    errno = saved_errno;
    return found;
}

struct sw_emulator *sw_emulate_open_begin(const char *path, bool creates, const char *text,
                                          bool is_openmpi)
{
    struct sw_open_hints hints = {
        .given = true, .storage = storage_of(path, creates), .wish = SW_NO_WISH};
    if (is_openmpi && !sw_openmpi_has_romio())
        hints.cycle = ompio_cycle();
    for (const char *line = text; *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        const char *equals = memchr(line, '=', bytes);
        if (equals != NULL)
            take(&hints, line, (size_t)(equals - line), equals + 1);
        line += bytes + (line[bytes] == '\n');
    }
    if (hints.wish.first < 0)
        hints.wish.first = -1;
    sw_open_hints = hints;
    return hints.storage;
}

bool sw_emulate_opens(uint32_t *node)
{
    const struct sw_emulator *storage = sw_open_hints.storage;
    if (storage == NULL || storage->header->ranks_per_node == 0)
        return false;
    *node = sw_emulator_node(storage);
    return true;
}

void sw_emulate_open_end(void)
{
    sw_open_hints = (struct sw_open_hints){.given = false, .wish = SW_NO_WISH};
}

/* ---- rounds ------------------------------------------------------------------------------- */

/*
 * Exchange of collective buffering. An aggregator's requests within a collective call have waited
 * for data of other ranks, or will pass data on, once in each round. Where rounds begin can only
 * be derived from the requests.
 */
static __thread struct {
    int64_t start; /* this rank's own data of the call; 0 bytes: not contiguous */
    int64_t bytes;
    uint64_t moved;  /* by its requests in the call */
    uint64_t rounds; /* number of rounds whose exchange they have waited for */
} own __attribute__((tls_model("initial-exec")));

void sw_emulate_share(struct sw_emulator *storage, int64_t start, int64_t bytes)
{
    own.start = start;
    own.bytes = bytes;
    own.moved = 0;
    own.rounds = 0;
    if (storage != NULL)
        sw_law_came(storage, sw_now_ns());
    else
        sw_laws_came(sw_now_ns());
}

/* ROMIO carries out calls one by one if their data does not interleave, unless a hint or its
 * driver forces collective buffering: then a request within the data of this rank is its own.
 * Reads during a write concern holes, before the exchange. */
static bool is_exchanged(const struct sw_emulated *file, bool writes, int64_t offset,
                         int64_t bytes)
{
    const char *name = sw_thread.names[SW_LAYER_MPIIO];
    uint32_t alone = writes ? SW_EMULATED_ALONE_WRITE : SW_EMULATED_ALONE_READ;
    uint32_t always = writes ? SW_EMULATED_ALWAYS_WRITE : SW_EMULATED_ALWAYS_READ;
    if ((file->state & alone) != 0)
        return false;
    if (offset >= own.start && offset + bytes <= own.start + own.bytes &&
        (file->state & always) == 0)
        return false;
    return strstr(name, writes ? "_write" : "_read") != NULL &&
           (strstr(name, "_all") != NULL || strstr(name, "_ordered") != NULL);
}

/* OMPIO exchanges data for a cycle, which may consist of several pieces of the file; its writes
 * use two buffers in turn. ROMIO exchanges for each request. */
static bool begins_round(const struct sw_emulated *file, bool writes)
{
    uint64_t cycle = writes ? file->cycle / 2 : file->cycle;
    if (cycle == 0)
        return true;
    uint64_t round = own.moved / cycle + 1;
    bool begins = own.rounds != round;
    own.rounds = round;
    return begins;
}

void sw_emulate_round(struct sw_transfer *transfer, const struct sw_emulated *file)
{
    bool within = (sw_thread.active & 1u << SW_LAYER_MPIIO) != 0;
    transfer->exchanged = within && is_exchanged(file, transfer->writes, (int64_t)transfer->offset,
                                                 (int64_t)transfer->bytes);
    transfer->begins_round = transfer->exchanged && begins_round(file, transfer->writes);
    own.moved += transfer->bytes;
}
