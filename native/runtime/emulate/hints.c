/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Hints of MPI-IO that the storage acts upon: a file that is made within MPI_File_open gets the
 * layout that they ask for, also where the MPI has no driver that would ask the storage for it. */
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

/* The storage that MPI-IO will find behind a name; NULL: none that is known. */
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
