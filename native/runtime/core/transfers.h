/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Counters of how HDF5 carried out the transfers of a dataset (struct sw_transfers_record). */
#ifndef STRIPEWISE_TRANSFERS_H
#define STRIPEWISE_TRANSFERS_H

#include "core/core.h"

/* How the type of the values in memory differs from that in the file. */
enum sw_conversion {
    SW_CONVERSION_UNKNOWN = 0,
    SW_CONVERSION_NONE = 1,
    SW_CONVERSION_VALUES = 2,
    SW_CONVERSION_MEMBERS = 3, /* of a compound, only some members are moved */
};

/* One successful transfer. */
struct sw_transfer {
    bool writes;
    bool collective;    /* requested to be */
    bool answered;      /* the following three are known */
    uint32_t mode;      /* H5D_mpio_actual_io_mode_t */
    int32_t chunk_mode; /* H5D_mpio_actual_chunk_opt_mode_t; -1: unknown, or not chunked */
    uint32_t local_causes;
    uint32_t global_causes;
    enum sw_conversion conversion;
    uint64_t bytes;
    uint64_t ns;
};

/* Returns the counters of a dataset, creating them if necessary: those of its file if too many
 * datasets have their own, NULL if there is no room. Takes the library's lock. */
struct sw_transfers_record *sw_transfers_of(const struct sw_file *file, const char *name,
                                            bool writes, uint32_t element_bytes);
void sw_transfers_add(struct sw_transfers_record *record, const struct sw_transfer *transfer);
void sw_transfers_forget(void); /* in a new child */

#endif
