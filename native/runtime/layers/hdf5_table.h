/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of HDF5 that we call, as (type, name, arguments).  size_t, hsize_t and haddr_t
 * are all 64 bits wide here; functions are passed as void *.  `bool *` results are read
 * from a larger variable set to 0 before, so that an hbool_t of any size does.
 * Source: H5*public.h of HDF5 1.10, 1.14, 2.0 and 2.2 (documented API).
 */
#ifndef STRIPEWISE_HDF5_TABLE_H
#define STRIPEWISE_HDF5_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int64_t sw_hid;

_Static_assert(sizeof(size_t) == 8, "size_t stands in for hsize_t");

/* The `*_async` names are macros in hdf5.h: the functions take the caller's place first. */
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
    X(int, H5Pget_fill_time, (sw_hid, int *))                                                     \
    X(int, H5Pset_fill_time, (sw_hid, int))                                                       \
    X(int, H5Pget_alloc_time, (sw_hid, int *))                                                    \
    X(int, H5Pset_alloc_time, (sw_hid, int))                                                      \
    X(int, H5Pget_dxpl_mpio, (sw_hid, int *))                                                     \
    X(int, H5Pset_dxpl_mpio, (sw_hid, int))

#define SW_H5_FUNCTIONS(X) SW_H5_CALLS(X) SW_H5_HELPERS(X)
/* clang-format on */

#endif
