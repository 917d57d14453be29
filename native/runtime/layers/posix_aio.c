/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous I/O (used by ROMIO and OMPIO). Time is counted in submission, waiting and return;
 * bytes when the result is fetched. The requests are kept in a small table. Requests that were
 * seen to end, but whose result is never fetched, are counted at the end of the process; the files
 * of all others, and of those without room in the table, are marked.
 */
#define _GNU_SOURCE
#include "posix.h"

#define SLOTS 512

/* Used in place of a control block's address. */
enum { NEVER_USED = 0, USED_BEFORE = 1, BEING_FILLED = 2, LAST_MARK = 2 };

#define UNDER_WAY (-1) /* as far as we know */

struct posted {
    uintptr_t request;
    struct sw_file *file;
    int64_t bytes; /* moved bytes; < 0: UNDER_WAY, or failed */
    int64_t offset;
    uint32_t generation; /* of sw_options: requests of the parent are not ours */
    uint8_t op;          /* enum sw_op */
    bool outermost;
};

static struct posted slots[SLOTS];

static unsigned slot_of(const void *request)
{
    return (unsigned)(((uintptr_t)request >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SLOTS;
}

/* Returns the slot of a request, or NULL. */
static struct posted *recall(const void *request)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct posted *slot = &slots[(slot_of(request) + i) % SLOTS];
        uintptr_t seen = __atomic_load_n(&slot->request, __ATOMIC_ACQUIRE);
        if (seen == NEVER_USED)
            return NULL;
        if (seen == (uintptr_t)request && slot->generation == sw_options.generation)
            return slot;
    }
    return NULL;
}

/* Reserves a slot for a request, or returns NULL. */
static struct posted *claim(const void *request)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct posted *slot = &slots[(slot_of(request) + i) % SLOTS];
        uintptr_t seen = __atomic_load_n(&slot->request, __ATOMIC_ACQUIRE);
        bool is_free = seen == NEVER_USED || seen == USED_BEFORE ||
                       (seen > LAST_MARK && slot->generation != sw_options.generation);
        if (is_free && __atomic_compare_exchange_n(&slot->request, &seen, BEING_FILLED, false,
                                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return slot;
    }
    return NULL;
}

static void let_go(struct posted *slot)
{
    __atomic_store_n(&slot->request, USED_BEFORE, __ATOMIC_RELEASE);
}

/* Nobody will fetch the result: the trace has only the event of the submission. */
static void settle(struct posted *slot)
{
    if (slot->bytes >= 0)
        sw_count_told(slot->file, slot->op, slot->bytes, slot->offset, slot->outermost);
    else if (slot->bytes == UNDER_WAY)
        sw_file_flag(slot->file, SW_FILE_UNFETCHED);
    let_go(slot);
}

static void settle_all(bool under_way)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct posted *slot = &slots[i];
        if (__atomic_load_n(&slot->request, __ATOMIC_ACQUIRE) > LAST_MARK &&
            slot->generation == sw_options.generation && (under_way || slot->bytes != UNDER_WAY))
            settle(slot);
    }
}

void sw_posted_at_exit(void)
{
    settle_all(true);
}

static void remember(const void *request, enum sw_op op, struct sw_file *file, off_t offset,
                     bool outermost)
{
    struct posted *slot = recall(request);
    if (slot != NULL)
        settle(slot);
    slot = claim(request);
    if (slot == NULL) {
        settle_all(false);
        slot = claim(request);
    }
    if (slot == NULL) {
        sw_file_flag(file, SW_FILE_UNFETCHED);
        return;
    }
    slot->file = file;
    slot->bytes = UNDER_WAY;
    slot->offset = offset;
    slot->generation = sw_options.generation;
    slot->op = (uint8_t)op;
    slot->outermost = outermost;
    __atomic_store_n(&slot->request, (uintptr_t)request, __ATOMIC_RELEASE);
}

/* Records the result of a finished request: glibc keeps it in the control block until that is
 * reused. */
static void note_result(const struct aiocb *request)
{
    struct posted *slot = recall(request);
    if (slot != NULL)
        slot->bytes = request->__return_value >= 0 ? request->__return_value : UNDER_WAY - 1;
}

/* ---- submission --------------------------------------------------------------------- */

/* `bytes` and `offset` were read before: the request may not exist any more. */
static void submitted(struct sw_call *call, struct sw_fd *entry, const void *request,
                      enum sw_op op, int result, size_t bytes, off_t offset)
{
    struct sw_file *file = sw_fd_posix(entry);
    if (result == 0)
        remember(request, op, file, offset, call->outermost);
    call->event_flags |= SW_EVENT_NONBLOCKING | (result != 0 ? SW_EVENT_FAILED : 0);
    call->event_bytes = result == 0 ? (int64_t)bytes : 0;
    call->position = offset;
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    sw_leave_time(call, file, op);
}

static struct sw_request request_posted(enum sw_action action, int fd, size_t bytes, off_t offset,
                                        const void *block)
{
    struct sw_request request = sw_request_data(action, fd, (int64_t)bytes, offset);
    request.posted = block;
    return request;
}

#define ACTION(op) ((op) == SW_OP_WRITE ? SW_DO_WRITE : SW_DO_READ)

#define SW_AIO_SUBMIT(name, type, op)                                                             \
    SW_EXPORT int name(struct type *block)                                                        \
    {                                                                                             \
        struct sw_call call;                                                                      \
        size_t bytes = block->aio_nbytes;                                                         \
        off_t offset = block->aio_offset;                                                         \
        struct sw_fd *entry = sw_posix_enter_quietly(&call, block->aio_fildes);                   \
        int result =                                                                              \
            SW_CHAINED(int, sw_posix, ACTION(op),                                                 \
                       request_posted(ACTION(op), block->aio_fildes, bytes, offset, block),       \
                       (void)0, name, (block));                                                   \
        if (entry != NULL)                                                                        \
            submitted(&call, entry, block, op, result, bytes, offset);                            \
        return result;                                                                            \
    }

SW_AIO_SUBMIT(aio_read, aiocb, SW_OP_READ)
SW_AIO_SUBMIT(aio_read64, aiocb64, SW_OP_READ)
SW_AIO_SUBMIT(aio_write, aiocb, SW_OP_WRITE)
SW_AIO_SUBMIT(aio_write64, aiocb64, SW_OP_WRITE)

/* The two control block types have the same layout on 64-bit machines. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "one layout of control blocks");

static struct sw_fd *first_tracked(struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        struct sw_fd *entry = list[i] != NULL ? sw_fd_entry(list[i]->aio_fildes) : NULL;
        if (entry != NULL)
            return entry;
    }
    return NULL;
}

/* Begins one request for each entry, before the list is submitted. */
static void ask_list(struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == NULL || list[i]->aio_lio_opcode == LIO_NOP)
            continue;
        struct sw_request request =
            request_posted(list[i]->aio_lio_opcode == LIO_WRITE ? SW_DO_WRITE : SW_DO_READ,
                           list[i]->aio_fildes, list[i]->aio_nbytes, list[i]->aio_offset, list[i]);
        request.stream = true;
        if (sw_is_hooked(request.action))
            sw_request_only(&request);
    }
}

static void remember_list(struct aiocb *const *list, int count, bool outermost)
{
    for (int i = 0; i < count; i++) {
        struct sw_fd *entry = list[i] != NULL ? sw_fd_entry(list[i]->aio_fildes) : NULL;
        if (entry == NULL || list[i]->aio_lio_opcode == LIO_NOP)
            continue;
        bool writes = list[i]->aio_lio_opcode == LIO_WRITE;
        enum sw_op op = writes ? SW_OP_WRITE : SW_OP_READ;
        struct sw_file *file = sw_fd_posix(entry);
        remember(list[i], op, file, list[i]->aio_offset, outermost);
        sw_capture_part(file, op, (int64_t)list[i]->aio_nbytes, list[i]->aio_offset,
                        SW_EVENT_NONBLOCKING);
        if (writes)
            sw_fd_wrote(entry);
    }
}

static enum sw_op first_op(struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        const struct posted *slot = list[i] != NULL ? recall(list[i]) : NULL;
        if (slot != NULL)
            return slot->op;
    }
    return SW_OP_META;
}

/* Checks which of them have finished. */
static void look_at_list(struct aiocb *const *list, int count)
{
    int saved_errno = errno;
    for (int i = 0; i < count; i++) {
        if (list[i] != NULL && recall(list[i]) != NULL &&
            sw_posix()->aio_error(list[i]) != EINPROGRESS)
            note_result(list[i]);
    }
    errno = saved_errno;
}

/* Its requests are events of their own. */
static void leave_list(struct sw_call *call, struct sw_fd *entry, enum sw_op op, uint32_t flags,
                       int result)
{
    call->event_op = SW_OP_META;
    call->event_flags |= (uint16_t)(flags | (result != 0 ? SW_EVENT_FAILED : 0));
    sw_leave_time(call, sw_fd_posix(entry), op);
}

#define SW_AIO_LIST(name, type)                                                                   \
    SW_EXPORT int name(int mode, struct type *const list[], int count, struct sigevent *event)    \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct aiocb *const *requests = (struct aiocb *const *)list;                              \
        struct sw_fd *entry = first_tracked(requests, count);                                     \
        bool counted = entry != NULL && sw_enter(&call, SW_LAYER_POSIX);                          \
        if (counted)                                                                              \
            remember_list(requests, count, call.outermost);                                       \
        ask_list(requests, count);                                                                \
        int result = sw_posix()->name(mode, list, count, event);                                  \
        if (counted && mode == LIO_WAIT)                                                          \
            look_at_list(requests, count);                                                        \
        if (counted)                                                                              \
            leave_list(&call, entry, first_op(requests, count),                                   \
                       mode == LIO_WAIT ? SW_EVENT_WAIT : SW_EVENT_NONBLOCKING, result);          \
        return result;                                                                            \
    }

SW_AIO_LIST(lio_listio, aiocb)
SW_AIO_LIST(lio_listio64, aiocb64)

/* ---- waiting and result ---------------------------------------------------------------- */

#define SW_AIO_WAIT(name, type)                                                                   \
    SW_EXPORT int name(const struct type *const list[], int count, const struct timespec *limit)  \
    {                                                                                             \
        struct sw_call call;                                                                      \
        struct aiocb *const *requests = (struct aiocb *const *)(uintptr_t)list;                   \
        struct sw_fd *entry = first_tracked(requests, count);                                     \
        bool counted = entry != NULL && sw_enter(&call, SW_LAYER_POSIX);                          \
        int result = sw_posix()->name(list, count, limit);                                        \
        if (counted) {                                                                            \
            look_at_list(requests, count);                                                        \
            leave_list(&call, entry, first_op(requests, count), SW_EVENT_WAIT, result);           \
        }                                                                                         \
        return result;                                                                            \
    }

SW_AIO_WAIT(aio_suspend, aiocb)
SW_AIO_WAIT(aio_suspend64, aiocb64)

/* Programs call it repeatedly. */
#define SW_AIO_ERROR(name, type)                                                                  \
    SW_EXPORT int name(const struct type *request)                                                \
    {                                                                                             \
        int result = sw_posix()->name(request);                                                   \
        if (result != EINPROGRESS)                                                                \
            note_result((const struct aiocb *)request);                                           \
        return result;                                                                            \
    }

SW_AIO_ERROR(aio_error, aiocb)
SW_AIO_ERROR(aio_error64, aiocb64)

static void returned(struct sw_call *call, struct sw_fd *entry, struct posted *slot,
                     ssize_t result, off_t offset)
{
    enum sw_op op = slot->op;
    let_go(slot);
    call->event_op = SW_OP_META; /* its bytes are in the event of the submission */
    call->event_bytes = 0;
    call->event_flags |= SW_EVENT_WAIT;
    sw_leave_data(call, sw_fd_posix(entry), op, result, offset);
}

#define SW_AIO_RETURN(name, type)                                                                 \
    SW_EXPORT ssize_t name(struct type *request)                                                  \
    {                                                                                             \
        struct sw_call call;                                                                      \
        off_t offset = request->aio_offset;                                                       \
        struct sw_fd *entry = sw_fd_entry(request->aio_fildes);                                   \
        struct posted *slot = entry != NULL ? recall(request) : NULL;                             \
        bool counted = slot != NULL && sw_enter(&call, SW_LAYER_POSIX);                           \
        if (sw_is_hooked(SW_DO_WRITE))                                                            \
            sw_posted_done(request);                                                              \
        ssize_t result = sw_posix()->name(request);                                               \
        if (counted)                                                                              \
            returned(&call, entry, slot, result, offset);                                         \
        return result;                                                                            \
    }

SW_AIO_RETURN(aio_return, aiocb)
SW_AIO_RETURN(aio_return64, aiocb64)
