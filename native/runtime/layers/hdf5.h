/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The HDF5 layer, without hdf5.h: one build serves every HDF5 from 1.10 on, where hid_t is
 * 64 bits wide.  Two copies of HDF5 may live in one process (wheels of h5py and netCDF4
 * bring their own), so every call goes to the copy that its caller is linked with.
 */
#ifndef STRIPEWISE_HDF5_H
#define STRIPEWISE_HDF5_H

#include "core/capture.h"
#include "layers/handles.h"
#include "layers/hdf5_table.h"

/* ---- which HDF5 ---------------------------------------------------------------- */

#define SW_H5_PREDEFINED 4
#define SW_H5_MEMBER(type, name, arguments) type(*name) arguments;
struct sw_h5 {
    SW_H5_FUNCTIONS(SW_H5_MEMBER)
    const sw_hid *class_file_access; /* values are there after H5open() */
    const sw_hid *class_dataset_create;
    const sw_hid *class_dataset_transfer;
    const sw_hid *mpio_driver;                  /* HDF5 2; before, H5FD_mpio_init() tells */
    const sw_hid *predefined[SW_H5_PREDEFINED]; /* datatypes, far apart in the order of making */
    const void *identity;                       /* an address in that copy */
    uint64_t number;                            /* of the copy in this process */
    bool usable;       /* 1.10 or later, and all that adopting needs is there */
    bool describes;    /* and all that capture asks */
    int libver_latest; /* H5F_LIBVER_LATEST of that version */
};

/* The HDF5 behind a caller (a return address); never NULL, members may be. */
const struct sw_h5 *sw_h5_of(const void *caller);

/* ---- leaving no trace ---------------------------------------------------------- */

/* Automatic printing of errors, as it was. */
struct sw_h5_quiet {
    bool version_1;
    void *function;
    void *data;
};
void sw_h5_quiet_begin(const struct sw_h5 *h5, struct sw_h5_quiet *quiet);
void sw_h5_quiet_end(const struct sw_h5 *h5, const struct sw_h5_quiet *quiet);

/* Error stack of a failed call, kept over calls of our own (only if `failed`).  Around
 * quiet_begin and quiet_end, which clear it like every call of HDF5. */
sw_hid sw_h5_errors_save(const struct sw_h5 *h5, bool failed);
void sw_h5_errors_restore(const struct sw_h5 *h5, sw_hid saved);

/* ---- handles ------------------------------------------------------------------- */

/* Entries of files and datasets.  Between quiet_begin and quiet_end. */
extern struct sw_handle_table sw_h5_handles;
/* Every copy of HDF5 counts its identifiers from the same beginning. */
static inline uint64_t sw_h5_key(const struct sw_h5 *h5, sw_hid object)
{
    return (uint64_t)object ^ h5->number << 48;
}
/* The file that an object lives in; zeroed if it is not known. */
void sw_h5_file_of(const struct sw_h5 *h5, sw_hid object, struct sw_handle_entry *entry);
/* The record of that file, quietly. */
struct sw_file *sw_h5_counted_file(const struct sw_h5 *h5, sw_hid object);
/* An object that was made is in that file; not for one that a name may have led out of it. */
void sw_h5_made_in(const struct sw_h5 *h5, sw_hid object, struct sw_file *file);
/* A file was opened or closed: identifiers may stand for others. */
void sw_h5_files_changed(void);
/* Name of that file as it was opened, "" if it cannot be told. */
void sw_h5_file_name(const struct sw_h5 *h5, sw_hid object, char *name, size_t bytes);
/* An open dataset. */
void sw_h5_dataset_of(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry);

/* ---- capture ------------------------------------------------------------------- */

/* End of a call without data; a negative result is a failure. */
static inline void sw_h5_leave(struct sw_call *call, struct sw_file *file, enum sw_op op,
                               int64_t result)
{
    if (result < 0)
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, file, op);
}
/* Describes a dataset in its entry, where that was not done or extents have changed since. */
void sw_h5_describe(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry);
/* Dataset and selection of a transfer that has succeeded, for its event.  Only while capturing.
 * How many elements, -1 if that is not known. */
int64_t sw_h5_capture(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                      sw_hid memory, sw_hid in_file, struct sw_call *call);
void sw_h5_extents_changed(void);

/* ---- how much ------------------------------------------------------------------- */

/* One dataset of a transfer, with what HDF5 was given for it. */
struct sw_h5_part {
    sw_hid dataset;
    sw_hid type;
    sw_hid memory;
    sw_hid in_file;
};
/* H5S_ALL 0, H5S_BLOCK 1, H5S_PLIST 2: no dataspaces. */
#define SW_H5_SPACE_ALL 0
#define SW_H5_SPACE_PLIST 2
static inline bool sw_h5_is_space(sw_hid space)
{
    return space > SW_H5_SPACE_PLIST;
}
/* Selected elements x bytes of the memory type, of a transfer that HDF5 has accepted: then no
 * question fails.  `elements`: as they are known, or -1. */
int64_t sw_h5_bytes(const struct sw_h5 *h5, const struct sw_h5_part *part, int64_t elements);

/* ---- settings ------------------------------------------------------------------ */

enum sw_h5_outcome {
    SW_H5_APPLIED,
    SW_H5_KEPT,    /* the program set it itself */
    SW_H5_REFUSED, /* it would not work here */
    SW_H5_OTHER,   /* not a property of this list */
};

/* Comma separated integers; how many, 0 if it is anything else. */
size_t sw_h5_numbers(const char *text, uint64_t *numbers, size_t room);
/* Position in a NULL-terminated list of names, -1 if it is none of them. */
int sw_h5_choice(const char *text, const char *const *names);
/* Adds "key=value\n" (key prefixed with "<object>:" if there is one). */
void sw_h5_applied(char *text, size_t bytes, const char *object, const char *key,
                   const char *value);
/* Says why a setting does not act, once per key and reason. */
void sw_h5_refused(const char *object, const char *key, const char *value, const char *why);

struct sw_h5_access {
    const struct sw_h5 *h5;
    sw_hid list;  /* a copy of the program's */
    sw_hid fresh; /* HDF5's defaults */
    sw_hid creation;
    bool creating;
    bool parallel;
    unsigned flags;
    const char *why; /* of a refusal */
};
/* One file access property. */
enum sw_h5_outcome sw_h5_set_access(struct sw_h5_access *access, const struct sw_setting *setting);

struct sw_h5_creation {
    const struct sw_h5 *h5;
    sw_hid list;
    sw_hid fresh;
    sw_hid space;
    const char *why;
};
/* One dataset creation property. */
enum sw_h5_outcome sw_h5_set_creation(struct sw_h5_creation *creation,
                                      const struct sw_setting *setting);

/* ---- how the exported calls are written down ------------------------------------ */

#define SW_H5_CALLER sw_h5_of(__builtin_return_address(0))

/* What asynchronous calls have in front. */
#define SW_H5_WHERE const char *in_file, const char *in_function, unsigned line
#define SW_H5_HERE in_file, in_function, line

/* A call that moves none of the program's data; `ended` knows call, h5 and result. */
#define SW_H5_CALL(type, name, begun, ended, parameters, arguments)                               \
    SW_EXPORT type name parameters;                                                               \
    SW_EXPORT type name parameters                                                                \
    {                                                                                             \
        const struct sw_h5 *h5 = SW_H5_CALLER;                                                    \
        struct sw_call call;                                                                      \
        if (h5->name == NULL)                                                                     \
            return -1;                                                                            \
        if (!h5->usable || !sw_enter_briefly(&call, SW_LAYER_HDF5))                               \
            return h5->name arguments;                                                            \
        begun;                                                                                    \
        type result = h5->name arguments;                                                         \
        ended;                                                                                    \
        return result;                                                                            \
    }

/* `found`: its file, as it is before the call. */
#define SW_H5_META(type, name, op, flags, found, parameters, arguments)                           \
    SW_H5_CALL(type, name, call.event_flags = (flags); struct sw_file *file = (found),            \
                                                       sw_h5_leave(&call, file, op, result),      \
                                                       parameters, arguments)

/* The same for a call that makes something in the object that `found` is the file of. */
#define SW_H5_MAKE(name, op, flags, found, parameters, arguments)                                 \
    SW_H5_CALL(sw_hid, name, call.event_flags = (flags);                                          \
               struct sw_file *file = (found),                                                    \
               (sw_h5_made_in(h5, result, file), sw_h5_leave(&call, file, op, result)),           \
               parameters, arguments)

/* A file or dataset that the table knows ends. */
#define SW_H5_CLOSE(name, op, object, parameters, arguments)                                      \
    SW_H5_CALL(int, name, struct sw_handle_entry entry = sw_h5_closing(h5, object, &call),        \
               sw_h5_closed(h5, object, &entry, &call, op, result), parameters, arguments)
struct sw_handle_entry sw_h5_closing(const struct sw_h5 *h5, sw_hid object, struct sw_call *call);
void sw_h5_closed(const struct sw_h5 *h5, sw_hid object, const struct sw_handle_entry *entry,
                  struct sw_call *call, enum sw_op op, int status);

#endif
