/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Opens the mappings, and determines which node this process is on in the emulated machine, and
 * which storage contains a name. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "../core/system.h"
#include "../hooks/places.h"

struct sw_emulator sw_emulators[SW_EMULATORS];
unsigned sw_emulators_used;

/* ---- figures ---------------------------------------------------------------------------------
 */

/* An hour is longer than any request takes; it keeps sums of nanoseconds from overflowing. */
static uint64_t ns_of(double seconds)
{
    return seconds > 0 ? (uint64_t)((seconds < 3600 ? seconds : 3600) * 1e9 + 0.5) : 0;
}

static double ns_of_byte(double bandwidth)
{
    return bandwidth > 0 ? 1e9 / bandwidth : 0; /* of an infinite one: 0 */
}

static struct sw_rates rates_of(const double *figures, double noise)
{
    return (struct sw_rates){
        .byte = {{ns_of_byte(figures[SW_FIGURE_PROCESS_READ]),
                  ns_of_byte(figures[SW_FIGURE_FILE_READ]),
                  ns_of_byte(figures[SW_FIGURE_NODE_READ]),
                  noise * ns_of_byte(figures[SW_FIGURE_TARGET_READ]),
                  noise * ns_of_byte(figures[SW_FIGURE_WHOLE_READ])},
                 {ns_of_byte(figures[SW_FIGURE_PROCESS_WRITE]),
                  ns_of_byte(figures[SW_FIGURE_FILE_WRITE]),
                  ns_of_byte(figures[SW_FIGURE_NODE_WRITE]),
                  noise * ns_of_byte(figures[SW_FIGURE_TARGET_WRITE]),
                  noise * ns_of_byte(figures[SW_FIGURE_WHOLE_WRITE])}},
        .turns = figures[SW_FIGURE_TURNS] < 1 ? figures[SW_FIGURE_TURNS] : 1,
        .sharing = figures[SW_FIGURE_SHARING],
        .exchange_byte = ns_of_byte(figures[SW_FIGURE_EXCHANGE_BANDWIDTH]),
        .target_request = noise * (double)ns_of(figures[SW_FIGURE_TARGET_REQUEST]),
        .jitter = figures[SW_FIGURE_TARGET_JITTER] < 1 ? figures[SW_FIGURE_TARGET_JITTER] : 1,
        .slow_share = figures[SW_FIGURE_SLOW_SHARE] > 0 ? figures[SW_FIGURE_SLOW_SHARE] : 1,
        .slow_target = (uint32_t)figures[SW_FIGURE_SLOW_TARGET],
        .request = ns_of(figures[SW_FIGURE_REQUEST]),
        .revoke = ns_of(figures[SW_FIGURE_LOCK_REVOKE]),
        .ahead = ns_of(figures[SW_FIGURE_LOCK_AHEAD]),
        .hold = ns_of(figures[SW_FIGURE_LOCK_HOLD]),
        .extent = ns_of(figures[SW_FIGURE_LOCK_EXTENT]),
        .page = ns_of(figures[SW_FIGURE_LOCK_PAGE]),
        .page_bytes = figures[SW_FIGURE_LOCK_PAGE_SIZE] >= 1
                          ? (uint64_t)figures[SW_FIGURE_LOCK_PAGE_SIZE]
                          : 1,
        .exchange_round = ns_of(figures[SW_FIGURE_EXCHANGE_ROUND]),
        .exchange_rank = ns_of(figures[SW_FIGURE_EXCHANGE_RANK]),
        .object = ns_of(figures[SW_FIGURE_METADATA_OBJECT]),
        .latency = ns_of(figures[SW_FIGURE_METADATA_LATENCY]),
        .operations = {ns_of(figures[SW_FIGURE_METADATA_OPEN]),
                       ns_of(figures[SW_FIGURE_METADATA_CREATE]),
                       ns_of(figures[SW_FIGURE_METADATA_STAT]),
                       ns_of(figures[SW_FIGURE_METADATA_REMOVE])},
        .growth = figures[SW_FIGURE_METADATA_GROWTH],
    };
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
           (header->jobs == 0 || is_power_of_two(header->jobs)) && header->jobs <= 1u << 20 &&
           header->root[0] == '/' && memchr(header->root, '\0', sizeof header->root) != NULL &&
           memchr(header->jobid_var, '\0', sizeof header->jobid_var) != NULL &&
           memchr(header->jobid_name, '\0', sizeof header->jobid_name) != NULL;
}

static struct sw_emulator taken(char *base)
{
    const struct sw_emulate_header *header = (const struct sw_emulate_header *)base;
    struct sw_emulate_places places = sw_emulate_places(header);
    uint64_t *clocks = (uint64_t *)(base + places.clocks);
    struct sw_rates rates = rates_of(header->figures, header->noise > 0 ? header->noise : 1);
    rates.draw = header->draw;
    return (struct sw_emulator){
        .header = header,
        .counters = (struct sw_emulate_counters *)(base + places.counters),
        .clocks = clocks,
        .target_clocks = clocks + SW_CLOCK_FIXED,
        .node_clocks = clocks + SW_CLOCK_FIXED + header->targets,
        .file_clocks = clocks + SW_CLOCK_FIXED + header->targets + header->nodes,
        .files = (struct sw_emulate_file *)(base + places.files),
        .objects = (struct sw_emulate_object *)(base + places.objects),
        .factors = (uint64_t *)(base + places.factors),
        .jobs = (struct sw_emulate_job *)(base + places.jobs),
        .tallies = base + places.tallies,
        .rates = rates,
        .has_locks = rates.revoke + rates.page + rates.ahead + rates.hold + rates.extent > 0,
        .root_bytes = strlen(header->root),
    };
}

/* *file: its identity, for later comparison. */
static char *map(const char *path, uint64_t *bytes, struct sw_emulator_file *file)
{
    struct stat status = {.st_size = 0};
    int fd = sw_sys_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    *bytes = fd >= 0 && sw_sys_fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
    void *base = MAP_FAILED;
    if (*bytes >= SW_EMULATE_HEADER)
        base = sw_sys_mmap(*bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        sw_sys_close(fd);
    file->device = status.st_dev;
    file->inode = status.st_ino;
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

/* Rank before MPI_Init; -1: unknown. */
static int launcher_rank = -1;
static int launcher_size = -1;

static void ask_launcher(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    launcher_rank = number_of(ranks);
    launcher_size = number_of(sizes);
}

static int rank(void)
{
    int known = sw_mpi_rank();
    return known >= 0 ? known : launcher_rank;
}

uint32_t sw_emulator_node(const struct sw_emulator *storage)
{
    const struct sw_emulate_header *header = storage->header;
    int number = rank();
    if (header->ranks_per_node == 0 || number < 0)
        return 0;
    return (uint32_t)number / header->ranks_per_node % header->nodes;
}

uint32_t sw_emulator_rank(void)
{
    int number = rank();
    return number > 0 ? (uint32_t)number : 0;
}

uint32_t sw_emulator_ranks(void)
{
    int size = sw_mpi_size() > 0 ? sw_mpi_size() : launcher_size;
    return size > 0 ? (uint32_t)size : 1;
}

unsigned sw_emulator_writer(void)
{
    int number = rank();
    return (unsigned)(number >= 0 ? number : sw_options.pid) % 128;
}

/* ---- start -----------------------------------------------------------------------------------
 */

/* Sorts by length, longest root first, so that of nested ones the inner one is found. */
static void insert(char *base, const char *path, const struct sw_emulator_file *file)
{
    struct sw_emulator storage = taken(base);
    unsigned at = sw_emulators_used++;
    for (; at > 0 && sw_emulators[at - 1].root_bytes < storage.root_bytes; at--)
        sw_emulators[at] = sw_emulators[at - 1];
    sw_emulators[at] = storage;
    sw_emulators[at].file = *file;
    snprintf(sw_emulators[at].file.path, sizeof file->path, "%s", path);
    sw_job_id(storage.header, sw_emulators[at].job_id);
    SW_EMULATE_COUNT(&sw_emulators[at], processes, 1);
}

static bool add(const char *path)
{
    uint64_t bytes;
    struct sw_emulator_file file;
    char *base = sw_emulators_used < SW_EMULATORS ? map(path, &bytes, &file) : NULL;
    if (base != NULL && is_sound((const struct sw_emulate_header *)base, bytes)) {
        insert(base, path, &file);
        return true;
    }
    if (base != NULL)
        syscall(SYS_munmap, base, bytes);
    return false;
}

/* One that cannot be used does not prevent the use of others. */
bool sw_emulators_load(void)
{
    char path[PATH_MAX];
    bool all = true;
    const char *value = getenv(SW_ENV_EMULATE);
    for (size_t bytes; value != NULL && *value != '\0'; value += bytes + (value[bytes] == ':')) {
        bytes = strcspn(value, ":");
        if (bytes == 0)
            continue;
        int length = snprintf(path, sizeof path, "%.*s", (int)bytes, value);
        all &= length > 0 && (size_t)length < sizeof path && add(path);
    }
    if (!all)
        sw_note(SW_ENV_EMULATE " names no storage that this version can emulate, or more than 4: "
                               "nothing is held back there");
    ask_launcher();
    return sw_emulators_used != 0;
}

/* ---- which storage a name is on ---------------------------------------------------------- */

struct sw_emulator *sw_emulator_of(const char *path)
{
    for (unsigned i = 0; i < sw_emulators_used; i++) {
        const char *root = sw_emulators[i].header->root;
        size_t bytes = sw_emulators[i].root_bytes;
        if (strncmp(path, root, bytes) == 0 &&
            (path[bytes] == '/' || path[bytes] == '\0' || root[bytes - 1] == '/'))
            return &sw_emulators[i];
    }
    return NULL;
}

/* The kernel resolves links in the path. Call under the lock. */
static struct sw_emulator *behind_links(char *path)
{
    struct sw_emulator *found = NULL;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int fd =
        sw_sys_openat(AT_FDCWD, slash != path ? path : "/", O_PATH | O_CLOEXEC | O_DIRECTORY, 0);
    if (fd >= 0 && sw_real_path(fd, path, sizeof sw_scratch[0]) != 0)
        found = sw_emulator_of(path);
    if (fd >= 0)
        sw_sys_close(fd);
    return found;
}

static struct sw_emulator *look_up(const struct sw_place *place)
{
    char *path = sw_scratch[0];
    size_t bytes = sw_path_absolute(place->directory, place->path, path, sizeof sw_scratch[0]);
    if (bytes == 0)
        return NULL;
    struct sw_emulator *found = sw_emulator_of(path);
    if (found != NULL && strstr(path, "/..") == NULL)
        return found;
    if (sw_is_below(path, "/proc") || sw_is_below(path, "/sys") || sw_is_below(path, "/dev") ||
        sw_is_below(path, "/usr") || sw_is_below(path, "/etc"))
        return NULL;
    return behind_links(path);
}

struct sw_emulator *sw_emulator_at(const struct sw_place *place)
{
    struct sw_guarded guarded;
    if (!sw_lock(&guarded))
        return NULL;
    struct sw_emulator *found = look_up(place);
    sw_unlock(&guarded);
    return found;
}
