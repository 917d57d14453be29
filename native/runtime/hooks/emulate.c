/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * SW_ENV_EMULATE: files below some directories behave as on described storage systems, one for
 * each directory. A request is executed and ends when that storage would have completed it, by the
 * laws in ../emulate.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>

#include "../emulate/emulator.h"

#include "hook.h"
#include "places.h"

#include "../core/descriptors.h"
#include "../core/system.h"

/* Tracks standard streams that are files of the storage: what libc moves for a stream is only seen
 * if its descriptor is tracked. */
static void track_standard_streams(void)
{
    char path[PATH_MAX];
    bool wanted;
    for (int fd = 0; fd < 3; fd++) {
        if (sw_emulated_file(fd) == NULL || sw_real_path(fd, path, sizeof path) == 0)
            continue;
        struct sw_file *file = sw_file_opened(SW_LAYER_POSIX, AT_FDCWD, path, &wanted);
        bool writes = (syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
        if (file != NULL)
            sw_fd_track(fd, file, NULL, (writes ? SW_FD_CAN_WRITE : 0) | SW_FD_ASK, -1);
    }
}

static uint32_t load(void)
{
    if (!sw_emulators_load())
        return 0;
    track_standard_streams();
    return SW_ACTIONS_ALL;
}

/* ---- data --------------------------------------------------------------------------------------
 */

static bool is_in_mpiio(void)
{
    return (sw_thread.active & 1u << SW_LAYER_MPIIO) != 0;
}

static uint32_t lock_mode(const struct sw_emulated *file)
{
    const struct sw_emulator *storage = file->storage;
    uint32_t hinted = __atomic_load_n(&storage->files[file->slot].lock_mode, __ATOMIC_RELAXED);
    return hinted != 0 ? hinted - 1 : storage->header->lock_mode;
}

/* `moved`: by how much the position has already advanced. */
static int64_t offset_of(const struct sw_request *request, const struct sw_emulator *storage,
                         uint64_t layout, int64_t moved)
{
    if (request->offset >= 0)
        return request->offset;
    if (sw_layout_count(layout) == 1 && !storage->has_locks && storage->rates.jitter <= 0 &&
        !is_in_mpiio())
        return 0; /* wherever it is */
    int saved_errno = errno;
    int64_t position = sw_sys_lseek(request->fd, 0, SEEK_CUR) - moved;
    errno = saved_errno;
    return position > 0 ? position : 0;
}

#define MOST_BYTES 0x7ffff000 /* maximum that the kernel moves at once */

static void transfer(struct sw_request *request, struct sw_emulated *file, int64_t bytes,
                     int64_t moved)
{
    uint64_t layout = sw_emulated_layout(request->fd, file);
    request->emulated.layout = layout;
    request->emulated.offset = (uint64_t)offset_of(request, file->storage, layout, moved);
    struct sw_transfer wanted = {
        .storage = file->storage,
        .writes = request->action == SW_DO_WRITE,
        .slot = file->slot,
        .lock_mode = lock_mode(file),
        .layout = layout,
        .offset = request->emulated.offset,
        .bytes = (uint64_t)(bytes < MOST_BYTES ? bytes : MOST_BYTES),
        .start_ns = request->emulated.start_ns,
    };
    if ((file->state & SW_EMULATED_SHARES) != 0) /* only data is affected */
        SW_EMULATE_COUNT(file->storage, tables_full, 1);
    sw_emulate_round(&wanted, file);
    request->emulated.storage = file->storage;
    request->emulated.end_ns = sw_law_data(&wanted);
    if (wanted.writes) {
        SW_EMULATE_COUNT(file->storage, writes, 1);
        SW_EMULATE_COUNT(file->storage, written_bytes, wanted.bytes);
    } else {
        SW_EMULATE_COUNT(file->storage, reads, 1);
        SW_EMULATE_COUNT(file->storage, read_bytes, wanted.bytes);
    }
}

/* Counts what really moved, once that is known. */
static void served(const struct sw_request *request, const struct sw_emulated *file, int64_t moved)
{
    if (file == NULL || moved <= 0 || request->emulated.layout == 0)
        return;
    struct sw_transfer transfer = {
        .storage = file->storage,
        .writes = request->action == SW_DO_WRITE,
        .layout = request->emulated.layout,
        .offset = request->emulated.offset,
        .start_ns = request->emulated.start_ns,
    };
    sw_served_data(&transfer, (uint64_t)moved,
                   request->emulated.end_ns - request->emulated.start_ns);
}

/* A write takes its turn before the call, if everything is known by then, and so does every posted
 * request. */
static void before_data(struct sw_request *request)
{
    struct sw_emulated *file = sw_emulated_file(request->fd);
    bool known =
        request->posted != NULL || (request->action == SW_DO_WRITE && !request->stream &&
                                    file != NULL && (file->state & SW_EMULATED_APPENDS) == 0);
    if (file != NULL && known && request->bytes > 0)
        transfer(request, file, request->bytes, 0);
}

/* Returns what an asynchronous read will find, by the present size of the file. */
static int64_t there(const struct sw_request *request)
{
    struct stat status;
    int saved_errno = errno;
    int64_t left = request->bytes;
    if (request->action == SW_DO_READ && sw_sys_fstat(request->fd, &status) == 0 &&
        status.st_size - (int64_t)request->emulated.offset < left)
        left = status.st_size - (int64_t)request->emulated.offset;
    errno = saved_errno;
    return left;
}

/* It is delayed where its result is fetched. */
static void after_posting(struct sw_request *request, const struct sw_emulated *file)
{
    uint64_t end_ns = request->emulated.end_ns;
    if (request->result != 0 || end_ns == 0)
        return;
    served(request, file, there(request));
    SW_EMULATE_COUNT(request->emulated.storage, model_ns, end_ns - request->emulated.start_ns);
    if (!sw_posted_put(request->posted, request->emulated.storage, end_ns))
        sw_emulated_hold(request);
}

/* A client requests the lock to learn that there is nothing to read. */
static bool is_past_end(const struct sw_request *request)
{
    return request->action == SW_DO_READ && !request->stream && request->bytes != 0 &&
           request->result == 0;
}

static void after_data(struct sw_request *request)
{
    struct sw_emulated *file = sw_emulated_file(request->fd);
    int64_t bytes = request->stream ? request->bytes : request->result;
    if (request->posted != NULL) {
        after_posting(request, file);
        return;
    }
    if (request->result < 0)
        request->emulated.end_ns = 0;
    else if (request->emulated.end_ns == 0 && file != NULL && (bytes > 0 || is_past_end(request)))
        transfer(request, file, bytes, bytes);
    served(request, file, bytes);
    sw_emulated_hold(request);
}

/* ---- names -------------------------------------------------------------------------------------
 */

/* Called after the call: the kernel has read the name. */
static struct sw_emulator *storage_at(const struct sw_request *request,
                                      const struct sw_place *place)
{
    if (place->path == NULL || (request->result < 0 && request->error == EFAULT))
        return NULL;
    return sw_emulator_at(place);
}

static bool look(const struct sw_place *place, bool follow, struct statx *status)
{
    return sw_sys_statx(place->directory, place->path,
                        AT_STATX_DONT_SYNC | (follow ? 0 : AT_SYMLINK_NOFOLLOW), SW_FILE_KEY_MASK,
                        status) == 0;
}

/* Returns the layout of a file that is not opened for it, 0 if unknown. Its key differs from those
 * of files of other storages. */
static uint64_t layout_at(const struct statx *status)
{
    bool is_new;
    uint64_t key = S_ISREG(status->stx_mode) ? sw_file_key(status) : 0;
    for (unsigned i = 0; key != 0 && i < sw_emulators_used; i++) {
        uint32_t slot = sw_file_slot(&sw_emulators[i], key, false, &is_new);
        uint64_t layout = slot == SW_NO_FILE ? 0 : sw_emulators[i].files[slot].layout;
        if (layout != 0)
            return layout;
    }
    return 0;
}

static uint32_t stripes_of(uint64_t layout)
{
    return layout != 0 ? sw_layout_count(layout) : 1;
}

static void release(uint64_t key)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        sw_file_release(&sw_emulators[i], key);
}

static bool any_grows(void)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        if (sw_emulators[i].rates.growth > 0)
            return true;
    return false;
}

/* Determines what the name refers to, if that matters, before the call changes it. */
static void before_name(struct sw_request *request)
{
    struct statx status;
    bool renames = request->action == SW_DO_RENAME;
    bool removes = renames || request->action == SW_DO_UNLINK;
    request->emulated.key = 0;
    request->emulated.is_directory = false;
    if (!removes && request->action != SW_DO_TRUNCATE && !any_grows())
        return;
    if (look(&request->target, request->follow && !removes, &status)) {
        request->emulated.layout = layout_at(&status);
        request->emulated.is_directory = S_ISDIR(status.stx_mode);
        if (removes && !renames && S_ISREG(status.stx_mode) && status.stx_nlink == 1)
            request->emulated.key = sw_file_key(&status);
    }
    if (renames && look(&request->second, false, &status) && S_ISREG(status.stx_mode) &&
        status.stx_nlink == 1)
        request->emulated.key = sw_file_key(&status);
}

static enum sw_operation operation_of(const struct sw_request *request)
{
    switch (request->action) {
    case SW_DO_MKDIR:
    case SW_DO_RMDIR:
    case SW_DO_UNLINK:
    case SW_DO_RENAME:
    case SW_DO_LINK:
        return SW_OPERATION_REMOVE;
    case SW_DO_SYMLINK: /* or what one says */
        return request->second.path != NULL ? SW_OPERATION_REMOVE : SW_OPERATION_STAT;
    default:
        return SW_OPERATION_STAT;
    }
}

/* Returns how long the server takes for it. */
static uint64_t operate(struct sw_request *request, struct sw_emulator *storage,
                        enum sw_operation operation, uint32_t stripes, uint32_t objects)
{
    uint64_t served_ns;
    SW_EMULATE_COUNT(storage, metadata, 1);
    request->emulated.storage = storage;
    request->emulated.end_ns = sw_law_metadata(storage, operation, stripes, objects,
                                               request->emulated.start_ns, &served_ns);
    sw_emulated_hold(request);
    return served_ns;
}

/* Servers count only successful calls. */
static bool has_failed(const struct sw_request *request)
{
    if (request->action == SW_DO_ALLOCATE) /* posix_fallocate returns what errno would be */
        return request->result != 0;
    return request->opens_stream ? request->result <= 0 : request->result < 0;
}

static void operate_call(struct sw_request *request, struct sw_emulator *storage)
{
    uint64_t layout = request->emulated.layout;
    uint64_t served_ns = operate(request, storage, operation_of(request), stripes_of(layout), 0);
    if (!has_failed(request))
        sw_served_call(request, layout, served_ns);
}

/* Returns the storage that the request is for; for a rename between two, that of the new name. */
static struct sw_emulator *storage_named(const struct sw_request *request)
{
    bool links = request->action == SW_DO_LINK || request->action == SW_DO_SYMLINK;
    bool renames = request->action == SW_DO_RENAME && sw_emulators_used > 1;
    struct sw_emulator *second = links || renames ? storage_at(request, &request->second) : NULL;
    if (second != NULL || (links && request->second.path != NULL))
        return second;
    return storage_at(request, &request->target);
}

static void after_name(struct sw_request *request)
{
    if (request->fd >= 0) {
        const struct sw_emulated *file = sw_emulated_any(request->fd);
        if (file != NULL) {
            request->emulated.layout = file->layout;
            operate_call(request, file->storage);
        }
        return;
    }
    if (request->result == 0 && request->emulated.key != 0)
        release(request->emulated.key);
    struct sw_emulator *storage = storage_named(request);
    if (storage != NULL)
        operate_call(request, storage);
    if (request->action == SW_DO_LIST && request->opens_stream && request->result > 0)
        sw_emulated_opened_directory(dirfd((DIR *)(intptr_t)request->result));
}

/* ---- opens and closes
 * ---------------------------------------------------------------------------- */

static void before_open(struct sw_request *request)
{
    struct statx status;
    request->emulated.is_absent = (request->flags & O_CREAT) != 0 &&
                                  (request->flags & O_EXCL) == 0 &&
                                  !look(&request->target, true, &status) && errno == ENOENT;
}

static int opened(const struct sw_request *request)
{
    if (!request->opens_stream)
        return (int)request->result;
    return request->result > 0 ? fileno_unlocked((FILE *)(intptr_t)request->result) : -1;
}

/* A file that is truncated when opened is reported to the metadata server and to each object. */
static void served_open(int flags, const struct sw_emulated *file, bool created,
                        uint64_t served_ns)
{
    sw_served_metadata(file->storage, SW_AT_METADATA_OPEN, served_ns);
    if (created)
        sw_served_metadata(file->storage, SW_AT_METADATA_MKNOD, served_ns);
    if ((flags & O_TRUNC) == 0 || created || (file->state & SW_EMULATED_DIRECTORY) != 0)
        return;
    sw_served_metadata(file->storage, SW_AT_METADATA_SETATTR, 0);
    sw_served_objects(file->storage, SW_AT_TARGET_PUNCH, file->layout);
}

static void after_open(struct sw_request *request)
{
    bool created;
    int fd = opened(request);
    if (fd < 0) {
        struct sw_emulator *storage = storage_at(request, &request->target);
        if (storage != NULL)
            operate(request, storage, SW_OPERATION_OPEN, 1, 0);
        return;
    }
    struct sw_emulated *file =
        sw_emulated_opened(fd, request->flags, request->emulated.is_absent, &created);
    if (file == NULL)
        return;
    uint32_t objects = file->layout != 0 ? sw_layout_count(file->layout) : 0;
    uint64_t served_ns =
        operate(request, file->storage, created ? SW_OPERATION_CREATE : SW_OPERATION_OPEN,
                stripes_of(file->layout), objects);
    served_open(request->flags, file, created, served_ns);
}

/* What was written is on the storage when the request has ended. */
static void sync_file(struct sw_request *request, const struct sw_emulated *file)
{
    SW_EMULATE_COUNT(file->storage, metadata, 1);
    request->emulated.storage = file->storage;
    request->emulated.end_ns = sw_law_latency(file->storage, request->emulated.start_ns);
    sw_served_metadata(file->storage, SW_AT_METADATA_SYNC, 0);
    sw_served_objects(file->storage, SW_AT_TARGET_SYNC, file->layout);
}

static void before_close(struct sw_request *request)
{
    const struct sw_emulated *file = sw_options.sync ? sw_emulated_file(request->fd) : NULL;
    if (file != NULL && sw_own_process() && sw_fd_take_written(request->fd)) {
        request->synced = true;
        sync_file(request, file);
    }
    sw_descriptor_gone((unsigned)request->fd, (unsigned)request->fd);
}

/* ---- the member
 * ---------------------------------------------------------------------------------- */

static bool any_is_lustre(void)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        if (sw_is_lustre(&sw_emulators[i]))
            return true;
    return false;
}

/* Parallel file systems do not support shared extents; a request for them falls back to copying.
 * */
static bool before_control(struct sw_request *request)
{
    bool shares = request->command == FICLONE || request->command == FICLONERANGE;
    struct sw_emulated *file = shares || any_is_lustre() ? sw_emulated_file(request->fd) : NULL;
    if (file == NULL)
        return true;
    request->emulated.storage = file->storage;
    if (sw_is_lustre(file->storage) &&
        sw_lustre_control(request, file, request->emulated.start_ns, &request->emulated.end_ns))
        return false;
    request->result = -1;
    request->error = EOPNOTSUPP;
    return !shares;
}

static bool before_sync(struct sw_request *request)
{
    const struct sw_emulated *file = sw_emulated_file(request->fd);
    if (file == NULL)
        return true;
    sync_file(request, file);
    request->result = 0;
    return false;
}

static bool before(struct sw_request *request)
{
    sw_emulated_begin(request);
    switch (request->action) {
    case SW_DO_READ:
    case SW_DO_WRITE:
        before_data(request);
        return true;
    case SW_DO_OPEN:
        before_open(request);
        return true;
    case SW_DO_CLOSE:
        before_close(request);
        return true;
    case SW_DO_SYNC:
        return before_sync(request);
    case SW_DO_CONTROL:
        return before_control(request);
    default:
        if (request->fd < 0)
            before_name(request);
        return true;
    }
}

static void after(struct sw_request *request)
{
    switch (request->action) {
    case SW_DO_READ:
    case SW_DO_WRITE:
        after_data(request);
        break;
    case SW_DO_OPEN:
        after_open(request);
        break;
    case SW_DO_CLOSE:
    case SW_DO_SYNC:
    case SW_DO_CONTROL:
        sw_emulated_hold(request);
        break;
    case SW_DO_STATFS:
        after_name(request);
        if (request->result == 0 && request->emulated.end_ns != 0)
            sw_lustre_statfs(request);
        break;
    default:
        after_name(request);
    }
}

const struct sw_hook sw_hook_emulate = {
    .name = "emulate",
    .load = load,
    .before = before,
    .after = after,
};
