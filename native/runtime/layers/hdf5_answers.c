/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * How HDF5 carried out a transfer. It stores its answers in the transfer list of a collective
 * call: reading them needs no communication. Types are compared when a dataset meets another
 * memory type than before (HDF5 reuses no identifier): that creates one identifier and releases
 * it. Everything here follows a transfer that succeeded, and is skipped where this HDF5 lacks the
 * function.
 */
#include "layers/hdf5.h"

#define NAME_BYTES 256
#define CLASS_COMPOUND 6
#define MODE_NONE 0       /* H5D_MPIO_NO_COLLECTIVE */
#define MODE_CONTIGUOUS 4 /* H5D_MPIO_CONTIGUOUS_COLLECTIVE */

/* ---- types ------------------------------------------------------------------------ */

static enum sw_conversion compare(const struct sw_h5 *h5, sw_hid in_file, sw_hid in_memory)
{
    int equal = h5->H5Tequal(in_file, in_memory);
    if (equal != 0)
        return equal < 0 ? SW_CONVERSION_UNKNOWN : SW_CONVERSION_NONE;
    bool compound = h5->H5Tget_class(in_file) == CLASS_COMPOUND &&
                    h5->H5Tget_class(in_memory) == CLASS_COMPOUND;
    if (compound && h5->H5Tget_nmembers(in_memory) < h5->H5Tget_nmembers(in_file))
        return SW_CONVERSION_MEMBERS;
    return SW_CONVERSION_VALUES;
}

static bool can_compare(const struct sw_h5 *h5)
{
    return h5->H5Dget_type && h5->H5Tclose && h5->H5Tequal && h5->H5Tget_class &&
           h5->H5Tget_nmembers;
}

/* Returns the size of an element in the file, 0 if it is unknown. */
static uint32_t look_at_types(const struct sw_h5 *h5, sw_hid dataset, sw_hid in_memory,
                              struct sw_handle_entry *entry)
{
    sw_hid in_file = h5->H5Dget_type(dataset);
    entry->type = in_memory;
    entry->type_known = true;
    entry->conversion = SW_CONVERSION_UNKNOWN;
    if (in_file < 0)
        return 0;
    entry->conversion = (uint8_t)compare(h5, in_file, in_memory);
    size_t bytes = h5->H5Tget_size(in_file);
    (void)h5->H5Tclose(in_file);
    return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

/* ---- HDF5's answers ---------------------------------------------------------------- */

static void ask(const struct sw_h5 *h5, sw_hid list, struct sw_transfer *transfer)
{
    int mode = -1;
    int chunk_mode = -1;
    if (!h5->H5Pget_mpio_actual_io_mode || !h5->H5Pget_mpio_no_collective_cause ||
        h5->H5Pget_mpio_actual_io_mode(list, &mode) < 0 || mode < 0 ||
        h5->H5Pget_mpio_no_collective_cause(list, &transfer->local_causes,
                                            &transfer->global_causes) < 0)
        return;
    transfer->answered = true;
    transfer->mode = (uint32_t)mode;
    if (mode != MODE_NONE && mode != MODE_CONTIGUOUS && h5->H5Pget_mpio_actual_chunk_opt_mode &&
        h5->H5Pget_mpio_actual_chunk_opt_mode(list, &chunk_mode) >= 0)
        transfer->chunk_mode = chunk_mode;
}

/* ---- counting ---------------------------------------------------------------------- */

/* The first transfer of a dataset in a direction, or one with another memory type. */
static void look(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                 const struct sw_h5_part *part, bool writes)
{
    struct sw_h5_quiet quiet;
    char name[NAME_BYTES];
    uint32_t element_bytes = 0;
    sw_h5_quiet_begin(h5, &quiet);
    if (part != NULL && can_compare(h5))
        element_bytes = look_at_types(h5, dataset, part->type, entry);
    if (!entry->transfers_asked[writes]) {
        ssize_t length = h5->H5Iget_name(dataset, name, sizeof name);
        if (length <= 0 || (size_t)length >= sizeof name)
            name[0] = '\0';
        entry->transfers[writes] = sw_transfers_of(entry->file, name, writes, element_bytes);
        entry->transfers_asked[writes] = true;
    }
    sw_h5_quiet_end(h5, &quiet);
    sw_handle_put(&sw_h5_handles, entry);
}

void sw_h5_count_transfer(const struct sw_h5 *h5, sw_hid dataset, struct sw_handle_entry *entry,
                          const struct sw_h5_part *part, sw_hid list, struct sw_transfer *transfer)
{
    bool other = part != NULL && (!entry->type_known || entry->type != part->type);
    if (other || !entry->transfers_asked[transfer->writes])
        look(h5, dataset, entry, part, transfer->writes);
    struct sw_transfers_record *record = entry->transfers[transfer->writes];
    if (record == NULL)
        return;
    transfer->chunk_mode = -1;
    transfer->conversion = part != NULL ? entry->conversion : SW_CONVERSION_UNKNOWN;
    if (transfer->collective && list > 0)
        ask(h5, list, transfer);
    sw_transfers_add(record, transfer);
}
