/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* malloc() as preloaded allocators have it: it maps memory with its own lock held, and comes
 * before every constructor.  Memory is never given back. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES ((size_t)1 << 20)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *next;
static char *end;

static int refill(size_t bytes)
{
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    next = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end = next + room;
    return next != MAP_FAILED;
}

void *malloc(size_t bytes)
{
    char *memory = NULL;
    bytes = (bytes + 31) & ~(size_t)15;
    pthread_mutex_lock(&mutex);
    if ((next != NULL && (size_t)(end - next) >= bytes) || refill(bytes)) {
        memory = next + 16;
        *(size_t *)(void *)next = bytes - 16;
        next += bytes;
    }
    pthread_mutex_unlock(&mutex);
    return memory;
}

void free(void *memory)
{
    (void)memory;
}

void *calloc(size_t count, size_t bytes)
{
    return malloc(count * bytes);
}

void *realloc(void *old, size_t bytes)
{
    char *memory = malloc(bytes);
    size_t had = old != NULL ? ((size_t *)old)[-2] : 0;
    if (old != NULL && memory != NULL)
        memcpy(memory, old, had < bytes ? had : bytes);
    return memory;
}

__attribute__((constructor)) static void first(void)
{
    free(malloc(1));
}
