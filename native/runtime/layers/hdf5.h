/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The HDF5 layer, without hdf5.h: one build supports every HDF5 from 1.10 on, where hid_t is 64
 * bits wide. There may be two copies of HDF5 in one process (wheels of h5py and netCDF4 include
 * their own), so every call is passed to the copy that its caller is linked with.
 */
#ifndef STRIPEWISE_HDF5_H
#define STRIPEWISE_HDF5_H

#include "core/capture.h"
#include "core/transfers.h"
#include "layers/handles.h"

typedef int64_t sw_hid;

_Static_assert(sizeof(size_t) == 8, "size_t stands in for hsize_t");

/*
 * Functions of HDF5 that we call, as (type, name, arguments). size_t, hsize_t and haddr_t are all
 * 64 bits wide here; functions are passed as void *. `bool *` results are read from a larger
 * variable that is set to 0 before, so that any size of hbool_t works. Source: H5*public.h of HDF5
 * 1.10, 1.14, 2.0 and 2.2 (documented API).
 */

/* The `*_async` names are macros in hdf5.h: the functions take the caller's location first. */
#define SW_H5_PLACE const char *, const char *, unsigned

/* clang-format off */
#define SW_H5_CALLS(X)                                                                            \
    X(sw_hid, H5Fcreate, (const char *, unsigned, sw_hid, sw_hid))                                \
    X(sw_hid, H5Fopen, (const char *, unsigned, sw_hid))                                          \
    X(int, H5Fclose, (sw_hid))                                                                    \
    X(int, H5Idec_ref, (sw_hid))                                                                  \
    X(int, H5Oclose, (sw_hid))                                                                    \
    X(int, H5Fflush, (sw_hid, int))                                                               \
    X(sw_hid, H5Dcreate1, (sw_hid, const char *, sw_hid, sw_hid, sw_hid))                         \
    X(sw_hid, H5Dcreate2, (sw_hid, const char *, sw_hid, sw_hid, sw_hid, sw_hid, sw_hid))         \
    X(sw_hid, H5Dcreate_anon, (sw_hid, sw_hid, sw_hid, sw_hid, sw_hid))                           \
    X(sw_hid, H5Dopen1, (sw_hid, const char *))                                                   \
    X(sw_hid, H5Dopen2, (sw_hid, const char *, sw_hid))                                           \
    X(int, H5Dclose, (sw_hid))                                                                    \
    X(int, H5Dwrite, (sw_hid, sw_hid, sw_hid, sw_hid, sw_hid, const void *))                      \
    X(int, H5Dread, (sw_hid, sw_hid, sw_hid, sw_hid, sw_hid, void *))                             \
    X(int, H5Dwrite_multi, (size_t, sw_hid *, sw_hid *, sw_hid *, sw_hid *, sw_hid,               \
                            const void **))                                                       \
    X(int, H5Dread_multi, (size_t, sw_hid *, sw_hid *, sw_hid *, sw_hid *, sw_hid, void **))      \
    X(int, H5Awrite, (sw_hid, sw_hid, const void *))                                              \
    X(int, H5Aread, (sw_hid, sw_hid, void *))                                                     \
    X(sw_hid, H5Gcreate2, (sw_hid, const char *, sw_hid, sw_hid, sw_hid))                         \
    X(int, H5Gclose, (sw_hid))                                                                    \
    X(int, H5Dset_extent, (sw_hid, const uint64_t *))                                             \
    X(int, H5Dextend, (sw_hid, const uint64_t *))                                                 \
    X(int, H5Dflush, (sw_hid))                                                                    \
    X(int, H5Drefresh, (sw_hid))                                                                  \
    X(sw_hid, H5Gcreate1, (sw_hid, const char *, size_t))                                         \
    X(sw_hid, H5Gcreate_anon, (sw_hid, sw_hid, sw_hid))                                           \
    X(sw_hid, H5Gopen1, (sw_hid, const char *))                                                   \
    X(sw_hid, H5Gopen2, (sw_hid, const char *, sw_hid))                                           \
    X(sw_hid, H5Oopen, (sw_hid, const char *, sw_hid))                                            \
    X(sw_hid, H5Acreate1, (sw_hid, const char *, sw_hid, sw_hid, sw_hid))                         \
    X(sw_hid, H5Acreate2, (sw_hid, const char *, sw_hid, sw_hid, sw_hid, sw_hid))                 \
    X(sw_hid, H5Acreate_by_name, (sw_hid, const char *, const char *, sw_hid, sw_hid, sw_hid,     \
                                  sw_hid, sw_hid))                                                \
    X(sw_hid, H5Aopen, (sw_hid, const char *, sw_hid))                                            \
    X(sw_hid, H5Aopen_name, (sw_hid, const char *))                                               \
    X(sw_hid, H5Aopen_idx, (sw_hid, unsigned))                                                    \
    X(sw_hid, H5Aopen_by_name, (sw_hid, const char *, const char *, sw_hid, sw_hid))              \
    X(sw_hid, H5Aopen_by_idx, (sw_hid, const char *, int, int, uint64_t, sw_hid, sw_hid))         \
    X(int, H5Aclose, (sw_hid))                                                                    \
    X(int, H5Adelete, (sw_hid, const char *))                                                     \
    X(int, H5Aexists, (sw_hid, const char *))                                                     \
    X(int, H5Lexists, (sw_hid, const char *, sw_hid))                                             \
    X(int, H5Ldelete, (sw_hid, const char *, sw_hid))                                             \
    X(sw_hid, H5Fcreate_async, (SW_H5_PLACE, const char *, unsigned, sw_hid, sw_hid, sw_hid))     \
    X(sw_hid, H5Fopen_async, (SW_H5_PLACE, const char *, unsigned, sw_hid, sw_hid))               \
    X(int, H5Fclose_async, (SW_H5_PLACE, sw_hid, sw_hid))                                         \
    X(sw_hid, H5Dcreate_async, (SW_H5_PLACE, sw_hid, const char *, sw_hid, sw_hid, sw_hid,        \
                                sw_hid, sw_hid, sw_hid))                                          \
    X(sw_hid, H5Dopen_async, (SW_H5_PLACE, sw_hid, const char *, sw_hid, sw_hid))                 \
    X(int, H5Dclose_async, (SW_H5_PLACE, sw_hid, sw_hid))                                         \
    X(int, H5Dwrite_async, (SW_H5_PLACE, sw_hid, sw_hid, sw_hid, sw_hid, sw_hid, const void *,    \
                            sw_hid))                                                              \
    X(int, H5Dread_async, (SW_H5_PLACE, sw_hid, sw_hid, sw_hid, sw_hid, sw_hid, void *, sw_hid))  \
    X(int, H5Oclose_async, (SW_H5_PLACE, sw_hid, sw_hid))                                         \
    X(int, H5Fflush_async, (SW_H5_PLACE, sw_hid, int, sw_hid))                                    \
    X(sw_hid, H5Gcreate_async, (SW_H5_PLACE, sw_hid, const char *, sw_hid, sw_hid, sw_hid,        \
                                sw_hid))                                                          \
    X(int, H5Gclose_async, (SW_H5_PLACE, sw_hid, sw_hid))                                         \
    X(int, H5Awrite_async, (SW_H5_PLACE, sw_hid, sw_hid, const void *, sw_hid))                   \
    X(int, H5Aread_async, (SW_H5_PLACE, sw_hid, sw_hid, void *, sw_hid))                          \
    X(int, H5ESwait, (sw_hid, uint64_t, size_t *, bool *))

#define SW_H5_HELPERS(X)                                                                          \
    X(int, H5open, (void))                                                                        \
    X(int, H5get_libversion, (unsigned *, unsigned *, unsigned *))                                \
    X(int, H5Eauto_is_v2, (sw_hid, unsigned *))                                                   \
    X(int, H5Eget_auto1, (void **, void **))                                                      \
    X(int, H5Eset_auto1, (void *, void *))                                                        \
    X(int, H5Eget_auto2, (sw_hid, void **, void **))                                              \
    X(int, H5Eset_auto2, (sw_hid, void *, void *))                                                \
    X(sw_hid, H5Eget_current_stack, (void))                                                       \
    X(int, H5Eset_current_stack, (sw_hid))                                                        \
    X(sw_hid, H5Iget_file_id, (sw_hid))                                                           \
    X(ssize_t, H5Iget_name, (sw_hid, char *, size_t))                                             \
    X(ssize_t, H5Fget_name, (sw_hid, char *, size_t))                                             \
    X(sw_hid, H5Dget_space, (sw_hid))                                                             \
    X(int64_t, H5Sget_select_npoints, (sw_hid))                                                   \
    X(int64_t, H5Sget_simple_extent_npoints, (sw_hid))                                            \
    X(int, H5Sget_simple_extent_ndims, (sw_hid))                                                  \
    X(int, H5Sget_simple_extent_dims, (sw_hid, uint64_t *, uint64_t *))                           \
    X(int, H5Sclose, (sw_hid))                                                                    \
    X(size_t, H5Tget_size, (sw_hid))                                                              \
    X(int, H5Tget_class, (sw_hid))                                                                \
    X(int, H5Tclose, (sw_hid))                                                                    \
    X(int, H5Tequal, (sw_hid, sw_hid))                                                            \
    X(int, H5Tget_nmembers, (sw_hid))                                                             \
    X(sw_hid, H5Dget_type, (sw_hid))                                                              \
    X(sw_hid, H5Dget_create_plist, (sw_hid))                                                      \
    X(int, H5Sget_select_type, (sw_hid))                                                          \
    X(int, H5Sis_regular_hyperslab, (sw_hid))                                                     \
    X(int, H5Sget_regular_hyperslab, (sw_hid, uint64_t *, uint64_t *, uint64_t *, uint64_t *))    \
    X(int64_t, H5Sget_select_hyper_nblocks, (sw_hid))                                             \
    X(int, H5Sget_select_hyper_blocklist, (sw_hid, uint64_t, uint64_t, uint64_t *))               \
    X(int64_t, H5Sget_select_elem_npoints, (sw_hid))                                              \
    X(int, H5Sget_select_elem_pointlist, (sw_hid, uint64_t, uint64_t, uint64_t *))                \
    X(int, H5Sget_select_bounds, (sw_hid, uint64_t *, uint64_t *))                                \
    X(sw_hid, H5FD_mpio_init, (void))                                                             \
    X(sw_hid, H5Pcreate, (sw_hid))                                                                \
    X(sw_hid, H5Pcopy, (sw_hid))                                                                  \
    X(int, H5Pclose, (sw_hid))                                                                    \
    X(sw_hid, H5Pget_driver, (sw_hid))                                                            \
    X(int, H5Pget_alignment, (sw_hid, uint64_t *, uint64_t *))                                    \
    X(int, H5Pset_alignment, (sw_hid, uint64_t, uint64_t))                                        \
    X(int, H5Pget_sieve_buf_size, (sw_hid, uint64_t *))                                           \
    X(int, H5Pset_sieve_buf_size, (sw_hid, uint64_t))                                             \
    X(int, H5Pget_meta_block_size, (sw_hid, uint64_t *))                                          \
    X(int, H5Pset_meta_block_size, (sw_hid, uint64_t))                                            \
    X(int, H5Pget_small_data_block_size, (sw_hid, uint64_t *))                                    \
    X(int, H5Pset_small_data_block_size, (sw_hid, uint64_t))                                      \
    X(int, H5Pget_coll_metadata_write, (sw_hid, void *))                                          \
    X(int, H5Pset_coll_metadata_write, (sw_hid, bool))                                            \
    X(int, H5Pget_all_coll_metadata_ops, (sw_hid, void *))                                        \
    X(int, H5Pset_all_coll_metadata_ops, (sw_hid, bool))                                          \
    X(int, H5Pget_libver_bounds, (sw_hid, int *, int *))                                          \
    X(int, H5Pset_libver_bounds, (sw_hid, int, int))                                              \
    X(int, H5Pget_page_buffer_size, (sw_hid, uint64_t *, unsigned *, unsigned *))                 \
    X(int, H5Pset_page_buffer_size, (sw_hid, uint64_t, unsigned, unsigned))                       \
    X(int, H5Pget_file_space_strategy, (sw_hid, int *, void *, uint64_t *))                       \
    X(int, H5Pget_file_space_page_size, (sw_hid, uint64_t *))                                     \
    X(int, H5Pget_mdc_config, (sw_hid, void *))                                                   \
    X(int, H5Pset_mdc_config, (sw_hid, void *))                                                   \
    X(int, H5Pget_cache, (sw_hid, int *, uint64_t *, uint64_t *, double *))                       \
    X(int, H5Pset_cache, (sw_hid, int, uint64_t, uint64_t, double))                               \
    X(int, H5Pget_layout, (sw_hid))                                                               \
    X(int, H5Pget_external_count, (sw_hid))                                                       \
    X(int, H5Pset_chunk, (sw_hid, int, const uint64_t *))                                         \
    X(int, H5Pget_chunk, (sw_hid, int, uint64_t *))                                               \
    X(int, H5Pget_nfilters, (sw_hid))                                                             \
    X(int, H5Pget_fill_time, (sw_hid, int *))                                                     \
    X(int, H5Pset_fill_time, (sw_hid, int))                                                       \
    X(int, H5Pget_alloc_time, (sw_hid, int *))                                                    \
    X(int, H5Pset_alloc_time, (sw_hid, int))                                                      \
    X(int, H5Pget_dxpl_mpio, (sw_hid, int *))                                                     \
    X(int, H5Pset_dxpl_mpio, (sw_hid, int))                                                       \
    X(int, H5Pget_mpio_actual_io_mode, (sw_hid, int *))                                           \
    X(int, H5Pget_mpio_actual_chunk_opt_mode, (sw_hid, int *))                                    \
    X(int, H5Pget_mpio_no_collective_cause, (sw_hid, uint32_t *, uint32_t *))

#define SW_H5_FUNCTIONS(X) SW_H5_CALLS(X) SW_H5_HELPERS(X)
/* clang-format on */

/* ---- which HDF5 ---------------------------------------------------------------- */

#define SW_H5_PREDEFINED 4
#define SW_H5_MEMBER(type, name, arguments) type(*name) arguments;
struct sw_h5 {
    SW_H5_FUNCTIONS(SW_H5_MEMBER)
    const sw_hid *class_file_access; /* set after H5open() */
    const sw_hid *class_dataset_create;
    const sw_hid *class_dataset_transfer;
    const sw_hid *mpio_driver;                  /* HDF5 2; earlier versions: H5FD_mpio_init() */
    const sw_hid *predefined[SW_H5_PREDEFINED]; /* datatypes, created far apart from each other */
    const void *identity;                       /* an address in that copy */
    uint64_t number;                            /* of the copy in this process */
    bool usable;       /* 1.10 or later, with all that is needed to apply settings */
    bool describes;    /* and with all that capture needs */
    int libver_latest; /* H5F_LIBVER_LATEST of that version */
};

/* Returns the HDF5 behind a caller (a return address); never NULL, but members may be. */
const struct sw_h5 *sw_h5_of(const void *caller);

/* ---- leaving no trace ---------------------------------------------------------- */

/* State of the automatic printing of errors, to be restored. */
struct sw_h5_quiet {
    bool version_1;
    void *function;
    void *data;
};
void sw_h5_quiet_begin(const struct sw_h5 *h5, struct sw_h5_quiet *quiet);
void sw_h5_quiet_end(const struct sw_h5 *h5, const struct sw_h5_quiet *quiet);

/* Saves the error stack of a failed call during calls of our own (only if `failed`). To be used
 * around quiet_begin and quiet_end, which clear it like every call of HDF5. */
sw_hid sw_h5_errors_save(const struct sw_h5 *h5, bool failed);
void sw_h5_errors_restore(const struct sw_h5 *h5, sw_hid saved);

/* ---- handles ------------------------------------------------------------------- */

/* Entries of files and datasets. To be used between quiet_begin and quiet_end. */
extern struct sw_handle_table sw_h5_handles;
/* Every copy of HDF5 counts its identifiers from the same start. */
static inline uint64_t sw_h5_key(const struct sw_h5 *h5, sw_hid object)
{
    return (uint64_t)object ^ h5->number << 48;
}
/* Gets the file that contains an object; zeroed if it is unknown. */
void sw_h5_file_of(const struct sw_h5 *h5, sw_hid object, struct sw_handle_entry *entry);
/* Returns the record of that file, without printing errors. */
struct sw_file *sw_h5_counted_file(const struct sw_h5 *h5, sw_hid object);
/* Records that a created object is in that file; not for one that a name may have led out of it.
 * */
void sw_h5_made_in(const struct sw_h5 *h5, sw_hid object, struct sw_file *file);
/* Call when a file was opened or closed: identifiers may be reused. */
void sw_h5_files_changed(void);
/* Gets the name of that file as it was opened, "" if unknown. */
void sw_h5_file_name(const struct sw_h5 *h5, sw_hid object, char *name, size_t bytes);
/* Gets the entry of an open dataset. */
void sw_h5_dataset_of(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry);

/* ---- capture ------------------------------------------------------------------- */

/* Ends a call without data; a negative result is a failure. */
static inline void sw_h5_leave(struct sw_call *call, struct sw_file *file, enum sw_op op,
                               int64_t result)
{
    if (result < 0)
        call->event_flags |= SW_EVENT_FAILED;
    sw_leave(call, file, op);
}
/* Describes a dataset in its entry, if that was not done or extents have changed since. */
void sw_h5_describe(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry);
/* Sets dataset and selection of a successful transfer for its event, while capture is on. Returns
 * the number of elements, -1 if unknown. */
int64_t sw_h5_capture(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                      sw_hid memory, sw_hid in_file, struct sw_call *call);
void sw_h5_extents_changed(void);

/* ---- how much ------------------------------------------------------------------- */

/* One dataset of a transfer, with the arguments passed to HDF5. */
struct sw_h5_part {
    sw_hid dataset;
    sw_hid type;
    sw_hid memory;
    sw_hid in_file;
};
/* H5S_ALL 0, H5S_BLOCK 1, H5S_PLIST 2: these are not dataspaces. */
#define SW_H5_SPACE_ALL 0
#define SW_H5_SPACE_PLIST 2
static inline bool sw_h5_is_space(sw_hid space)
{
    return space > SW_H5_SPACE_PLIST;
}
/* Returns selected elements x bytes of the memory type for a transfer that HDF5 has accepted, so
 * that no query fails. `elements`: their number, or -1 if unknown. */
int64_t sw_h5_bytes(const struct sw_h5 *h5, const struct sw_h5_part *part, int64_t elements);

/* ---- how it was carried out -------------------------------------------------------- */

/* Counts a successful transfer for its dataset: types that differ, and HDF5's own answers on a
 * collective one. `list`: as passed to HDF5, 0 if the transfer may still be going on; `part`: NULL
 * for several datasets at once. */
void sw_h5_count_transfer(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                          const struct sw_h5_part *part, sw_hid list,
                          struct sw_transfer *transfer);

/* ---- settings ------------------------------------------------------------------ */

enum sw_h5_outcome {
    SW_H5_APPLIED,
    SW_H5_KEPT,    /* the program has set it itself */
    SW_H5_REFUSED, /* it would not work here */
    SW_H5_OTHER,   /* not a property of this list */
};

/* Parses comma separated integers; returns how many, 0 if the text is anything else. */
size_t sw_h5_numbers(const char *text, uint64_t *numbers, size_t room);
/* Returns the position in a NULL-terminated list of names, -1 if it is not in the list. */
int sw_h5_choice(const char *text, const char *const *names);
/* Adds "key=value\n" (key prefixed with "<object>:" if there is one). */
void sw_h5_applied(char *text, size_t bytes, const char *object, const char *key,
                   const char *value);
/* Reports why a setting has no effect, once per key and reason. */
void sw_h5_refused(const char *object, const char *key, const char *value, const char *why);

struct sw_h5_access {
    const struct sw_h5 *h5;
    sw_hid list;  /* a copy of the program's */
    sw_hid fresh; /* HDF5's defaults */
    sw_hid creation;
    bool creating;
    bool parallel;
    unsigned flags;
    const char *why; /* reason of a refusal */
};
/* Sets one file access property. */
enum sw_h5_outcome sw_h5_set_access(struct sw_h5_access *access, const struct sw_setting *setting);
/* Writes "key=value" lines for the properties in which a program's list differs from the defaults
 * (those that a replay must have, too). */
void sw_h5_own_access(const struct sw_h5 *h5, sw_hid list, char *text, size_t bytes);

struct sw_h5_creation {
    const struct sw_h5 *h5;
    sw_hid list;
    sw_hid fresh;
    sw_hid space;
    const char *why;
};
/* Sets one dataset creation property. */
enum sw_h5_outcome sw_h5_set_creation(struct sw_h5_creation *creation,
                                      const struct sw_setting *setting);

/* ---- how the exported calls are written down ------------------------------------ */

#define SW_H5_CALLER sw_h5_of(__builtin_return_address(0))

/* First parameters of asynchronous calls. */
#define SW_H5_WHERE const char *in_file, const char *in_function, unsigned line
#define SW_H5_HERE in_file, in_function, line

/* Defines a call that moves none of the program's data; `ended` can use call, h5 and result. */
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

/* `found`: its file before the call. */
#define SW_H5_META(type, name, op, flags, found, parameters, arguments)                           \
    SW_H5_CALL(type, name, call.event_flags = (flags); struct sw_file *file = (found),            \
                                                       sw_h5_leave(&call, file, op, result),      \
                                                       parameters, arguments)

/* The same for a call that creates something in the object whose file is `found`. */
#define SW_H5_MAKE(name, op, flags, found, parameters, arguments)                                 \
    SW_H5_CALL(sw_hid, name, call.event_flags = (flags);                                          \
               struct sw_file *file = (found),                                                    \
               (sw_h5_made_in(h5, result, file), sw_h5_leave(&call, file, op, result)),           \
               parameters, arguments)

/* Defines a call that closes a file or dataset in the table. */
#define SW_H5_CLOSE(name, op, object, parameters, arguments)                                      \
    SW_H5_CALL(int, name, struct sw_handle_entry entry = sw_h5_closing(h5, object, &call),        \
               sw_h5_closed(h5, object, &entry, &call, op, result), parameters, arguments)
struct sw_handle_entry sw_h5_closing(const struct sw_h5 *h5, sw_hid object, struct sw_call *call);
void sw_h5_closed(const struct sw_h5 *h5, sw_hid object, const struct sw_handle_entry *entry,
                  struct sw_call *call, enum sw_op op, int status);

#endif
