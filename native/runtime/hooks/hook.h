/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chain of hooks, which may change what a libc call does. A wrapper describes its call as a
 * request; each active member that wants this action sees it before the call, in order, and
 * afterwards in the opposite order. A member can change the path, answer the request itself (libc
 * is not called then), and make the request wait.
 *
 * To add a member, copy null.c and take three more steps: name it in members.h, add its variable
 * to environment.h (and to runtime/_environment.py), and write its row in docs/design/runtime.md.
 */
#ifndef STRIPEWISE_HOOK_H
#define STRIPEWISE_HOOK_H

#include "../core/internal.h"

#define SW_ACTION_BIT(action) (UINT32_C(1) << (action))
#define SW_ACTIONS_ALL UINT32_MAX
#define SW_MAX_HOOKS 16

/* A name relative to a directory (AT_FDCWD or a descriptor); `path` is NULL if there is none. */
struct sw_place {
    int directory;
    const char
        *path; /* the program's own pointer, which may be invalid, see sw_path_is_readable */
};

struct sw_request {
    enum sw_action action;
    bool follow;            /* refers to the file behind a symbolic link */
    bool stream;            /* libc's own transfer (for a stream, a list): cannot be answered */
    bool synced;            /* set by a member that has synced the file to the storage */
    int flags;              /* of an open */
    int fd;                 /* -1: the request is for `target` */
    struct sw_place target; /* the object of the action; the old name of a rename or link */
    struct sw_place second; /* the new name of a rename, link or symbolic link */
    int64_t bytes;          /* -1: not known before the call (vectors) */
    int64_t offset;         /* -1: at the descriptor's position */
    unsigned long command;  /* of an ioctl */
    void *argument;         /* of an ioctl; where statfs (not statvfs) and stat put their answer */
    uint64_t start_ns;      /* CLOCK_MONOTONIC, when the request arrived */
    uint64_t wait_ns;       /* set by a member: CLOCK_MONOTONIC, the earliest time to continue */
    const void *posted;     /* control block of an asynchronous transfer, which is only started */
    bool opens_stream;      /* of an open or list: the result is a FILE * or DIR * */
    bool attribute;         /* of a stat or change: it is for an extended attribute */
    struct {                /* for the emulated storages */
        struct sw_emulator *storage; /* that delays this request */
        uint64_t start_ns;
        uint64_t end_ns;   /* 0: none delays it */
        uint64_t key;      /* of the file that is removed */
        uint64_t layout;   /* of the file; 0: unknown */
        uint64_t offset;   /* of data */
        bool is_absent;    /* whether the file does not exist before the open */
        bool is_directory; /* whether a directory is removed */
    } emulated;
    int64_t result;  /* of the call, or of a member that answers */
    int error;       /* errno of a failure */
    uint32_t passed; /* for the chain: bit of each member that has seen it */
    char *rooms[2];  /* for the chain: memory for changed paths */
};

struct sw_hook {
    const char *name;
    /* Called once, at load; returns the actions that it wants (SW_ACTION_BIT), 0 if it is off. */
    uint32_t (*load)(void);
    /* Returns false if it has answered the request by setting `result` and `error`. */
    bool (*before)(struct sw_request *request);
    /* May change `result` and `error`. After a close, the number may already be reused. */
    void (*after)(struct sw_request *request);
};

/* Returns room for a changed path, PATH_MAX bytes until the request ends; NULL if there is none.
 * */
char *sw_request_room(struct sw_request *request, unsigned which);
/* Purpose of a name, if SW_ENV_REDIRECT has patterns of names. */
enum sw_redirection {
    SW_REDIRECT_FIND,      /* the file, wherever it is */
    SW_REDIRECT_KEEP,      /* the existing file, or the place where it is created */
    SW_REDIRECT_MAKE,      /* the place where it is created, in any case */
    SW_REDIRECT_STORAGE,   /* the file system that it is, or will be, on */
    SW_REDIRECT_DIRECTORY, /* the name is not that of a file */
};
/* Changes an absolute path, of so many bytes in a buffer of `room`, according to SW_ENV_REDIRECT;
 * returns false if it stays unchanged. */
bool sw_redirected(char *path, size_t bytes, size_t room, enum sw_redirection purpose);
/* Checks a path with the kernel, which can read it safely; a member must not read any other path.
 * */
bool sw_path_is_readable(const char *path);

bool sw_hook_before_nothing(struct sw_request *request);
void sw_hook_after_nothing(struct sw_request *request);

/* ---- for the wrappers ------------------------------------------------------------------ */

/* Bit of each action that a member wants; all bits until the library has been loaded. */
extern uint32_t sw_hooked;

/* Call when these descriptors are closed or refer to other files, by calls that are not requests.
 * */
void sw_descriptor_gone(unsigned first, unsigned last);
/* Call when a descriptor refers to the same file in another way. */
void sw_descriptor_changed(unsigned fd);
/* Call when memory was mapped from a file, or an I/O ring was set up. */
void sw_memory_mapped(int fd);
void sw_ring_made(void);
/* Call when this process is about to become, or to start, another program. `searched`: along PATH;
 * `environment`: of that program, NULL for this process's own. */
void sw_program_starts(const char *path, bool searched, char *const environment[]);
void sw_program_starts_by(int fd, char *const environment[]);
/* Call when the result of an asynchronous transfer is about to be fetched. */
void sw_posted_done(const void *block);

/* Call when a request has waited until then. */
void sw_request_waited(const struct sw_request *request, uint64_t moment_ns);

/* Waits until a moment, and tells the thread how late it woke up. */
void sw_wait_until(uint64_t moment_ns);

void sw_hooks_load(void);   /* at load, after the layers */
void sw_hooks_off(void);    /* where nothing is to be done */
void sw_hooks_forget(void); /* in a new child */

/* Returns false if the request was answered. Keeps errno. */
bool sw_request_begin(struct sw_request *request);
/* Returns what the wrapper returns, with errno set on failure. */
int64_t sw_request_end(struct sw_request *request, int64_t result);
/* Processes a request that is not a call of its own: begin and end. */
void sw_request_only(struct sw_request *request);

static inline bool sw_is_hooked(enum sw_action action)
{
    return SW_UNLIKELY((__atomic_load_n(&sw_hooked, __ATOMIC_ACQUIRE) & SW_ACTION_BIT(action)) !=
                       0);
}

static inline struct sw_request sw_request_data(enum sw_action action, int fd, int64_t bytes,
                                                int64_t offset)
{
    return (struct sw_request){.action = action, .fd = fd, .bytes = bytes, .offset = offset};
}

static inline struct sw_request sw_request_name(enum sw_action action, int directory,
                                                const char *path, bool follow)
{
    return (struct sw_request){
        .action = action, .follow = follow, .fd = -1, .target = {directory, path}};
}

static inline struct sw_request sw_request_names(enum sw_action action, struct sw_place target,
                                                 struct sw_place second, bool follow)
{
    return (struct sw_request){
        .action = action, .follow = follow, .fd = -1, .target = target, .second = second};
}

/*
 * Calls the real function of a layer's table, within the chain if a member wants that. If nothing
 * is on, this takes one load, which also shows that the table is filled. `description`: the
 * request, only made in the rare case; `take`: takes over what members changed in `request`.
 */
#define SW_CHAINED(type, layer, which, description, take, name, arguments)                        \
    ({                                                                                            \
        type chained_;                                                                            \
        if (SW_LIKELY(!sw_is_hooked(which))) {                                                    \
            chained_ = (type)layer##_functions.name arguments;                                    \
        } else {                                                                                  \
            struct sw_request request = description;                                              \
            if (sw_request_begin(&request)) {                                                     \
                take;                                                                             \
                chained_ = (type)layer()->name arguments;                                         \
            } else {                                                                              \
                chained_ = (type)request.result;                                                  \
            }                                                                                     \
            chained_ = (type)sw_request_end(&request, (int64_t)chained_);                         \
        }                                                                                         \
        chained_;                                                                                 \
    })

#endif
