/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The process record and the text records. */
#define _GNU_SOURCE
#include <string.h>

#include "internal.h"
#include "system.h"

struct sw_process *sw_process_get(void)
{
    return sw_container_mapped() ? sw_process_live : NULL;
}

bool sw_active(void)
{
    return sw_running();
}

bool sw_recording(void)
{
    return sw_running() && sw_container_mapped();
}

static void describe_command(struct sw_process *process)
{
    int fd = sw_sys_openat(AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t length = sw_sys_read(fd, process->command, sizeof process->command - 1);
    sw_sys_close(fd);
    if (length <= 0) {
        process->command[0] = '\0';
        return;
    }
    process->command[length] = '\0';
    if (process->command[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++) {
        if (process->command[i] == '\0')
            process->command[i] = 0x1f;
    }
}

void sw_process_describe(struct sw_process *process)
{
    process->pid = (uint32_t)sw_options.pid;
    process->ppid = (uint32_t)syscall(SYS_getppid);
    process->start_ns = sw_options.start_ns;
    process->clock_ns = sw_options.clock_origin_ns;
    process->capture = sw_options.capture;
    if (sw_options.forked)
        process->flags |= SW_PROCESS_FORKED;
    ssize_t length =
        sw_sys_readlinkat(AT_FDCWD, "/proc/self/exe", process->exe, sizeof process->exe - 1);
    process->exe[length > 0 ? length : 0] = '\0';
    describe_command(process);
}

void sw_process_flag(uint32_t flags)
{
    if (!sw_running())
        return;
    struct sw_guarded guarded;
    if (!sw_container_mapped() && sw_lock(&guarded)) {
        sw_container_open();
        sw_unlock(&guarded);
    }
    if ((__atomic_load_n(&sw_process_live->flags, __ATOMIC_RELAXED) & flags) != flags)
        __atomic_fetch_or(&sw_process_live->flags, flags, __ATOMIC_RELAXED);
}

/* ---- text records --------------------------------------------------------------- */

static void add_text_locked(enum sw_record_kind kind, int layer, uint64_t file_id, uint32_t what,
                            const char *text)
{
    size_t length = strnlen(text, SW_PAGE * 4);
    uint32_t bytes = (uint32_t)(sizeof(struct sw_settings_record) + length + 8) / 8 * 8;
    struct sw_settings_record *record = sw_container_reserve(bytes);
    if (record != NULL) {
        record->header.kind = (uint16_t)kind;
        record->header.version = SW_CONTAINER_VERSION;
        record->file_id = file_id;
        record->layer = (uint32_t)layer;
        record->kind = what;
        record->text_bytes = (uint32_t)length;
        memcpy(record->text, text, length);
        sw_container_commit(&record->header, bytes);
    } else {
        __atomic_fetch_add(&sw_process_live->lost_records, 1, __ATOMIC_RELAXED);
    }
}

static void add_text(enum sw_record_kind kind, int layer, uint64_t file_id, uint32_t what,
                     const char *text)
{
    struct sw_guarded guarded;
    if (!sw_running() || !sw_lock(&guarded))
        return;
    add_text_locked(kind, layer, file_id, what, text);
    sw_unlock(&guarded);
}

void sw_note_locked(const char *text)
{
    add_text_locked(SW_RECORD_NOTE, 0, 0, 0, text);
}

void sw_settings_add(int layer, uint64_t file_id, enum sw_settings_kind kind, const char *text)
{
    add_text(SW_RECORD_SETTINGS, layer, file_id, (uint32_t)kind, text);
}

void sw_note(const char *text)
{
    add_text(SW_RECORD_NOTE, 0, 0, 0, text);
}
