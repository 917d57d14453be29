/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous I/O (ROMIO and OMPIO use it).  Time: in submission, waiting and return;
 * bytes: when the result is fetched.  Which way a request went is remembered in a small
 * table; a request that finds no room there is counted in time only.
 */
#define _GNU_SOURCE
#include "posix.h"

#define SLOTS 512
#define WRITES 1u /* control blocks are aligned: the low bit is free */

static uintptr_t slots[SLOTS];

static unsigned slot_of(const void *request)
{
    return (unsigned)(((uintptr_t)request >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SLOTS;
}

static void remember(const void *request, enum sw_op op)
{
    uintptr_t value = (uintptr_t)request | (op == SW_OP_WRITE ? WRITES : 0);
    for (unsigned i = 0; i < SLOTS; i++) {
        uintptr_t *slot = &slots[(slot_of(request) + i) % SLOTS];
        uintptr_t empty = 0;
        if ((__atomic_load_n(slot, __ATOMIC_RELAXED) & ~(uintptr_t)WRITES) == (uintptr_t)request) {
            __atomic_store_n(slot, value, __ATOMIC_RELAXED);
            return;
        }
        if (__atomic_compare_exchange_n(slot, &empty, value, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

/* The slot of a request, or NULL. */
static uintptr_t *recall(const void *request)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        uintptr_t *slot = &slots[(slot_of(request) + i) % SLOTS];
        uintptr_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
        if ((value & ~(uintptr_t)WRITES) == (uintptr_t)request)
            return slot;
    }
    return NULL;
}

static enum sw_op op_of(const uintptr_t *slot)
{
    return (*slot & WRITES) != 0 ? SW_OP_WRITE : SW_OP_READ;
}

/* ---- submission --------------------------------------------------------------------- */

/* `bytes` and `offset` were read before: the request may be gone already. */
static void submitted(struct sw_call *call, struct sw_fd *entry, const void *request,
                      enum sw_op op, int result, size_t bytes, off_t offset)
{
    if (result == 0)
        remember(request, op);
    call->event_flags |= SW_EVENT_NONBLOCKING | (result != 0 ? SW_EVENT_FAILED : 0);
    call->event_bytes = result == 0 ? (int64_t)bytes : 0;
    call->position = offset;
    if (op == SW_OP_WRITE)
        sw_fd_wrote(entry);
    sw_leave_time(call, sw_fd_posix(entry), op);
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

/* The two control block types have the same members at the same places on 64-bit machines. */
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

/* One request each, before the list is handed over. */
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

static void remember_list(struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        struct sw_fd *entry = list[i] != NULL ? sw_fd_entry(list[i]->aio_fildes) : NULL;
        if (entry == NULL || list[i]->aio_lio_opcode == LIO_NOP)
            continue;
        bool writes = list[i]->aio_lio_opcode == LIO_WRITE;
        enum sw_op op = writes ? SW_OP_WRITE : SW_OP_READ;
        remember(list[i], op);
        sw_capture_part(sw_fd_posix(entry), op, (int64_t)list[i]->aio_nbytes, list[i]->aio_offset,
                        SW_EVENT_NONBLOCKING);
        if (writes)
            sw_fd_wrote(entry);
    }
}

static enum sw_op first_op(struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        const uintptr_t *slot = list[i] != NULL ? recall(list[i]) : NULL;
        if (slot != NULL)
            return op_of(slot);
    }
    return SW_OP_META;
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
            remember_list(requests, count);                                                       \
        ask_list(requests, count);                                                                \
        int result = sw_posix()->name(mode, list, count, event);                                  \
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
        if (counted)                                                                              \
            leave_list(&call, entry, first_op(requests, count), SW_EVENT_WAIT, result);           \
        return result;                                                                            \
    }

SW_AIO_WAIT(aio_suspend, aiocb)
SW_AIO_WAIT(aio_suspend64, aiocb64)

static void returned(struct sw_call *call, struct sw_fd *entry, uintptr_t *slot, ssize_t result,
                     off_t offset)
{
    enum sw_op op = op_of(slot);
    __atomic_store_n(slot, 0, __ATOMIC_RELAXED);
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
        uintptr_t *slot = entry != NULL ? recall(request) : NULL;                                 \
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
