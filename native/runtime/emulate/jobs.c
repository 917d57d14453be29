/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which job this process belongs to, as a Lustre client determines it (lustre/obdclass/jobid.c),
 * and where its requests are counted. The id is made once in a program, from its initial
 * environment; a forked process has its parent's.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "emulator.h"
#include "../core/system.h"

/* ---- the id ------------------------------------------------------------------------------------
 */

static void append(char id[SW_EMULATE_JOB_ID], const char *text)
{
    size_t bytes = strlen(id);
    snprintf(id + bytes, SW_EMULATE_JOB_ID - bytes, "%s", text);
}

static void append_number(char id[SW_EMULATE_JOB_ID], long number)
{
    char text[24];
    snprintf(text, sizeof text, "%lu", (unsigned long)number);
    append(id, text);
}

static void append_host(char id[SW_EMULATE_JOB_ID], bool is_short)
{
    struct utsname host;
    if (uname(&host) != 0)
        return;
    if (is_short)
        host.nodename[strcspn(host.nodename, ".")] = '\0';
    append(id, host.nodename);
}

/* Unknown codes are dropped. */
static void append_code(char id[SW_EMULATE_JOB_ID], char code, const char *variable)
{
    char name[17] = "";
    switch (code) {
    case 'e':
        syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
        append(id, name);
        break;
    case 'u':
        append_number(id, syscall(SYS_geteuid));
        break;
    case 'g':
        append_number(id, syscall(SYS_getegid));
        break;
    case 'p':
        append_number(id, sw_sys_getpid());
        break;
    case 'h':
    case 'H':
        append_host(id, code == 'H');
        break;
    case 'j':
        append(id, variable != NULL ? variable : "");
        break;
    default:
        break;
    }
}

static void interpret(const char *format, const char *variable, char id[SW_EMULATE_JOB_ID])
{
    id[0] = '\0';
    for (; *format != '\0'; format++) {
        char plain[2] = {*format, '\0'};
        if (isspace((unsigned char)*format))
            continue;
        if (*format != '%')
            append(id, plain);
        else if (*++format != '\0')
            append_code(id, *format, variable);
        else
            break;
    }
}

void sw_job_id(const struct sw_emulate_header *header, char id[SW_EMULATE_JOB_ID])
{
    const char *kind = header->jobid_var;
    id[0] = '\0';
    if (*kind == '\0' || strcmp(kind, "disable") == 0)
        return;
    if (strcmp(kind, "procname_uid") == 0) {
        interpret("%e.%u", NULL, id);
        return;
    }
    const char *value = strcmp(kind, "nodelocal") != 0 ? getenv(kind) : NULL;
    bool is_whole = value != NULL && *value != '\0' && strstr(header->jobid_name, "%j") == NULL;
    if (is_whole)
        snprintf(id, SW_EMULATE_JOB_ID, "%s", value);
    else
        interpret(header->jobid_name, value, id);
}

/* ---- its entry ---------------------------------------------------------------------------------
 */

#define PROBES 64
#define TRIES 1000

static uint64_t key_of(const char *id)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *id != '\0'; id++)
        key = (key ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
    return key != 0 ? key : 1;
}

/* A process that finds it without an id stores the id: the one that took it may have been killed.
 * */
static bool is_job(struct sw_emulate_job *job, const uint64_t *id)
{
    bool same = true;
    for (unsigned i = 0; i < SW_EMULATE_JOB_ID / 8; i++) {
        uint64_t seen = 0;
        if (!__atomic_compare_exchange_n(&job->id[i], &seen, id[i], false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            same &= seen == id[i];
    }
    return same;
}

/* Returns the number of the entry; -1 if there is no room. */
static int64_t entry_of(struct sw_emulator *storage)
{
    uint64_t id[SW_EMULATE_JOB_ID / 8] = {0};
    uint64_t key = key_of(storage->job_id);
    uint32_t jobs = storage->header->jobs;
    memcpy(id, storage->job_id, strlen(storage->job_id));
    for (uint32_t probe = 0; probe < PROBES && probe < jobs; probe++) {
        uint32_t at = ((uint32_t)(key ^ key >> 32) + probe) & (jobs - 1);
        uint64_t seen = 0;
        bool taken = __atomic_compare_exchange_n(&storage->jobs[at].key, &seen, key, false,
                                                 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if ((taken || seen == key) && is_job(&storage->jobs[at], id))
            return at;
    }
    return -1;
}

/* A signal may interrupt it; if signals never stop, the job has no block. */
static bool is_allocated(int fd, uint64_t offset, uint64_t bytes)
{
    long result;
    unsigned left = TRIES;
    do {
        result = syscall(SYS_fallocate, fd, 0, offset, bytes);
    } while (result != 0 && errno == EINTR && --left > 0);
    return result == 0;
}

/* Allocates a block in the file: a store without allocated space could end the process. */
static bool has_room(const struct sw_emulator *storage, uint64_t offset, uint64_t bytes)
{
    struct stat status;
    int fd = sw_sys_openat(AT_FDCWD, storage->file.path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool done = sw_sys_fstat(fd, &status) == 0 && status.st_dev == storage->file.device &&
                status.st_ino == storage->file.inode && is_allocated(fd, offset, bytes);
    sw_sys_close(fd);
    return done;
}

static char *take_up(struct sw_emulator *storage)
{
    const struct sw_emulate_header *header = storage->header;
    uint64_t bytes = sw_emulate_tally_bytes(header);
    int64_t entry = storage->job_id[0] != '\0' && header->jobs != 0 ? entry_of(storage) : -1;
    uint64_t block = bytes * (uint64_t)(entry + 1);
    char *none = NULL;
    if (entry >= 0 && !has_room(storage, sw_emulate_places(header).tallies + block, bytes))
        block = 0;
    char *own = storage->tallies + block;
    if (!__atomic_compare_exchange_n(&storage->own_tallies, &none, own, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return none;
    if (storage->job_id[0] != '\0' && block == 0)
        SW_EMULATE_COUNT(storage, jobs_full, 1);
    return own;
}

char *sw_job_tallies(struct sw_emulator *storage)
{
    char *own = __atomic_load_n(&storage->own_tallies, __ATOMIC_ACQUIRE);
    if (SW_LIKELY(own != NULL))
        return own;
    int saved_errno = errno;
    own = take_up(storage);
    errno = saved_errno;
    return own;
}
