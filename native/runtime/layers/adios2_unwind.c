/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Personality routines, which the unwinder of C++ exceptions calls for frames of the layer. Their
 * interface is that of the Itanium C++ ABI (exception handling), and libgcc_s, which contains the
 * unwinder, is looked up in the process: this library needs only libc.
 */
#include <setjmp.h>

#include "layers/adios2.h"

#define CLEANUP_PHASE 2   /* _UA_CLEANUP_PHASE */
#define FORCE_UNWIND 8    /* _UA_FORCE_UNWIND: a thread is cancelled or ends */
#define HANDLER_FOUND 6   /* _URC_HANDLER_FOUND */
#define CONTINUE_UNWIND 8 /* _URC_CONTINUE_UNWIND */

typedef int personality(int, int, uint64_t, void *, void *);

/* Returns where the stack of the unwound frame ends; 0 if unknown. Despite its name, the function
 * returns the stack pointer within the frame while a personality routine runs. */
static uintptr_t end_of_stack(void *context, const void *unwinder)
{
    static uintptr_t (*get)(void *);
    uintptr_t (*found)(void *) = __atomic_load_n(&get, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = (uintptr_t (*)(void *))sw_resolve("_Unwind_GetCFA", unwinder);
        __atomic_store_n(&get, found, __ATOMIC_RELAXED);
    }
    return found != NULL ? found(context) : 0;
}

/* The personality routine of SW_AD_UNWINDABLE. */
__attribute__((used)) personality sw_ad_unwound;
int sw_ad_unwound(int version, int actions, uint64_t class, void *exception, void *context)
{
    (void)version;
    (void)class;
    (void)exception;
    if (actions & CLEANUP_PHASE)
        sw_ad_abandon(end_of_stack(context, __builtin_return_address(0)));
    return CONTINUE_UNWIND;
}

/* ---- questions ------------------------------------------------------------------------ */

/* Also declared for compilers that are told to know no functions. */
extern int _setjmp(jmp_buf) __attribute__((returns_twice));

struct question {
    jmp_buf after;
    void *exception;
};

static __thread struct question *asked __attribute__((tls_model("initial-exec")));

/* The personality routine of sw_ad_ask. In the second phase, all frames below have been cleaned
 * up. */
__attribute__((used)) personality sw_ad_caught;
int sw_ad_caught(int version, int actions, uint64_t class, void *exception, void *context)
{
    (void)version;
    (void)class;
    (void)context;
    if (asked == NULL || (actions & FORCE_UNWIND))
        return CONTINUE_UNWIND;
    if ((actions & CLEANUP_PHASE) == 0)
        return HANDLER_FOUND;
    asked->exception = exception;
    _longjmp(asked->after, 1);
}

/* Discards the exception, as a catch block does. */
static void forget(void *exception, const void *thrower)
{
    void *(*begin)(void *) = (void *(*)(void *))sw_resolve("__cxa_begin_catch", thrower);
    void (*end)(void) = (void (*)(void))sw_resolve("__cxa_end_catch", thrower);
    if (begin == NULL || end == NULL)
        return;
    (void)begin(exception);
    end();
}

__attribute__((noinline, noclone)) size_t sw_ad_ask(sw_ad_counter *counter, const void *object)
{
    __asm__ volatile(".cfi_personality 0x1b, sw_ad_caught");
    struct question question = {.exception = NULL};
    volatile size_t count = 0;
    if (_setjmp(question.after) == 0) {
        asked = &question;
        count = counter(object);
    }
    asked = NULL;
    if (question.exception != NULL)
        forget(question.exception, (const void *)counter);
    return count;
}
