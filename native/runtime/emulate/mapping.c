/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The mapping taken up, and who this process is on the emulated machine. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "../core/system.h"

struct sw_emulator sw_emulator;

/* ---- figures ---------------------------------------------------------------------------------
 */

static double figure(enum sw_emulate_figure which)
{
    return sw_emulator.header->figures[which];
}

/* An hour is more than any request takes; it keeps sums of nanoseconds from overflowing. */
static uint64_t ns_of(double seconds)
{
    return seconds > 0 ? (uint64_t)((seconds < 3600 ? seconds : 3600) * 1e9 + 0.5) : 0;
}

static double ns_of_byte(enum sw_emulate_figure bandwidth)
{
    return figure(bandwidth) > 0 ? 1e9 / figure(bandwidth) : 0; /* of an infinite one: 0 */
}

static void take_rates(struct sw_rates *rates, double noise)
{
    *rates = (struct sw_rates){
        .byte = {{ns_of_byte(SW_FIGURE_PROCESS_READ), ns_of_byte(SW_FIGURE_FILE_READ),
                  ns_of_byte(SW_FIGURE_NODE_READ), noise * ns_of_byte(SW_FIGURE_TARGET_READ),
                  noise * ns_of_byte(SW_FIGURE_WHOLE_READ)},
                 {ns_of_byte(SW_FIGURE_PROCESS_WRITE), ns_of_byte(SW_FIGURE_FILE_WRITE),
                  ns_of_byte(SW_FIGURE_NODE_WRITE), noise * ns_of_byte(SW_FIGURE_TARGET_WRITE),
                  noise * ns_of_byte(SW_FIGURE_WHOLE_WRITE)}},
        .turns = figure(SW_FIGURE_TURNS) < 1 ? figure(SW_FIGURE_TURNS) : 1,
        .sharing = figure(SW_FIGURE_SHARING),
        .exchange_byte = ns_of_byte(SW_FIGURE_EXCHANGE_BANDWIDTH),
        .target_request = noise * (double)ns_of(figure(SW_FIGURE_TARGET_REQUEST)),
        .jitter = figure(SW_FIGURE_TARGET_JITTER) < 1 ? figure(SW_FIGURE_TARGET_JITTER) : 1,
        .request = ns_of(figure(SW_FIGURE_REQUEST)),
        .revoke = ns_of(figure(SW_FIGURE_LOCK_REVOKE)),
        .ahead = ns_of(figure(SW_FIGURE_LOCK_AHEAD)),
        .hold = ns_of(figure(SW_FIGURE_LOCK_HOLD)),
        .extent = ns_of(figure(SW_FIGURE_LOCK_EXTENT)),
        .page = ns_of(figure(SW_FIGURE_LOCK_PAGE)),
        .page_bytes =
            figure(SW_FIGURE_LOCK_PAGE_SIZE) >= 1 ? (uint64_t)figure(SW_FIGURE_LOCK_PAGE_SIZE) : 1,
        .exchange_round = ns_of(figure(SW_FIGURE_EXCHANGE_ROUND)),
        .exchange_rank = ns_of(figure(SW_FIGURE_EXCHANGE_RANK)),
        .object = ns_of(figure(SW_FIGURE_METADATA_OBJECT)),
        .latency = ns_of(figure(SW_FIGURE_METADATA_LATENCY)),
        .operations = {ns_of(figure(SW_FIGURE_METADATA_OPEN)),
                       ns_of(figure(SW_FIGURE_METADATA_CREATE)),
                       ns_of(figure(SW_FIGURE_METADATA_STAT)),
                       ns_of(figure(SW_FIGURE_METADATA_REMOVE))},
        .growth = figure(SW_FIGURE_METADATA_GROWTH),
    };
    sw_emulator.has_locks =
        rates->revoke + rates->page + rates->ahead + rates->hold + rates->extent > 0;
}

/* ---- the mapping -----------------------------------------------------------------------------
 */

static bool is_power_of_two(uint32_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static bool is_sound(const struct sw_emulate_header *header, uint64_t bytes)
{
    return memcmp(header->magic, SW_EMULATE_MAGIC, sizeof header->magic) == 0 &&
           header->version == SW_EMULATE_VERSION && header->figures_used == SW_FIGURE_COUNT &&
           header->bytes <= bytes && header->targets >= 1 && header->targets <= UINT16_MAX &&
           header->nodes >= 1 && header->nodes <= UINT16_MAX && is_power_of_two(header->files) &&
           is_power_of_two(header->objects) && header->files <= 1u << 24 &&
           sw_emulate_places(header).bytes <= header->bytes && header->stripe_size >= 1 &&
           header->root[0] == '/' && memchr(header->root, '\0', sizeof header->root) != NULL;
}

static void take(char *base)
{
    const struct sw_emulate_header *header = (const struct sw_emulate_header *)base;
    struct sw_emulate_places places = sw_emulate_places(header);
    sw_emulator.header = header;
    sw_emulator.counters = (struct sw_emulate_counters *)(base + places.counters);
    sw_emulator.clocks = (uint64_t *)(base + places.clocks);
    sw_emulator.target_clocks = sw_emulator.clocks + SW_CLOCK_FIXED;
    sw_emulator.node_clocks = sw_emulator.target_clocks + header->targets;
    sw_emulator.file_clocks = sw_emulator.node_clocks + header->nodes;
    sw_emulator.files = (struct sw_emulate_file *)(base + places.files);
    sw_emulator.objects = (struct sw_emulate_object *)(base + places.objects);
    sw_emulator.root_bytes = strlen(header->root);
    take_rates(&sw_emulator.rates, header->noise > 0 ? header->noise : 1);
    SW_EMULATE_COUNT(processes, 1);
}

static char *map(const char *path, uint64_t *bytes)
{
    struct stat status;
    int fd = sw_sys_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    *bytes = fd >= 0 && sw_sys_fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
    void *base = MAP_FAILED;
    if (*bytes >= SW_EMULATE_HEADER)
        base = sw_sys_mmap(*bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        sw_sys_close(fd);
    return base != MAP_FAILED ? base : NULL;
}

/* ---- who we are ------------------------------------------------------------------------------
 */

static int number_of(const char *const *variables)
{
    for (; *variables != NULL; variables++) {
        const char *value = getenv(*variables);
        if (value != NULL && *value >= '0' && *value <= '9')
            return atoi(value);
    }
    return -1;
}

static void ask_launcher(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    sw_emulator.launcher_rank = number_of(ranks);
    sw_emulator.launcher_size = number_of(sizes);
}

static int rank(void)
{
    int known = sw_mpi_rank();
    return known >= 0 ? known : sw_emulator.launcher_rank;
}

uint32_t sw_emulator_node(void)
{
    const struct sw_emulate_header *header = sw_emulator.header;
    int number = rank();
    if (header->ranks_per_node == 0 || number < 0)
        return 0;
    return (uint32_t)number / header->ranks_per_node % header->nodes;
}

uint32_t sw_emulator_ranks(void)
{
    int size = sw_mpi_size() > 0 ? sw_mpi_size() : sw_emulator.launcher_size;
    return size > 0 ? (uint32_t)size : 1;
}

unsigned sw_emulator_writer(void)
{
    int number = rank();
    return (unsigned)(number >= 0 ? number : sw_options.pid) % 128;
}

/* ---- start -----------------------------------------------------------------------------------
 */

bool sw_emulator_load(void)
{
    const char *path = getenv(SW_ENV_EMULATE);
    uint64_t bytes;
    if (path == NULL || *path == '\0')
        return false;
    char *base = map(path, &bytes);
    if (base == NULL || !is_sound((const struct sw_emulate_header *)base, bytes)) {
        if (base != NULL)
            syscall(SYS_munmap, base, bytes);
        sw_note(SW_ENV_EMULATE " names no storage that this version can emulate: nothing is held "
                               "back");
        return false;
    }
    take(base);
    ask_launcher();
    return true;
}

bool sw_emulator_has(const char *path)
{
    const char *root = sw_emulator.header->root;
    size_t bytes = sw_emulator.root_bytes;
    return strncmp(path, root, bytes) == 0 &&
           (path[bytes] == '/' || path[bytes] == '\0' || root[bytes - 1] == '/');
}
