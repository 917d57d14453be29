/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * File access properties, one row each. The list is a copy of the program's; a value that differs
 * from HDF5's default was set by the program and is kept unless override is set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/hdf5.h"

#define ACC_SWMR (0x20u | 0x40u) /* H5F_ACC_SWMR_WRITE, H5F_ACC_SWMR_READ */
#define STRATEGY_PAGE 1          /* H5F_FSPACE_STRATEGY_PAGE */

typedef enum sw_h5_outcome setter(struct sw_h5_access *, const char *value, bool override);

static enum sw_h5_outcome outcome(int status)
{
    return status < 0 ? SW_H5_REFUSED : SW_H5_APPLIED;
}

static enum sw_h5_outcome refuse(struct sw_h5_access *access, const char *why)
{
    access->why = why;
    return SW_H5_REFUSED;
}

/* ---- sizes --------------------------------------------------------------------- */

static enum sw_h5_outcome set_size(struct sw_h5_access *access, int (*get)(sw_hid, uint64_t *),
                                   int (*set)(sw_hid, uint64_t), const char *value, bool override)
{
    uint64_t size;
    uint64_t now = 0;
    uint64_t usual = 0;
    if (get == NULL || set == NULL || sw_h5_numbers(value, &size, 1) != 1)
        return SW_H5_REFUSED;
    if (get(access->list, &now) < 0 || get(access->fresh, &usual) < 0)
        return SW_H5_REFUSED;
    return !override && now != usual ? SW_H5_KEPT : outcome(set(access->list, size));
}

static enum sw_h5_outcome set_sieve(struct sw_h5_access *access, const char *value, bool override)
{
    const struct sw_h5 *h5 = access->h5;
    if (access->parallel)
        return refuse(access, "the MPI-IO driver has no data sieve");
    return set_size(access, h5->H5Pget_sieve_buf_size, h5->H5Pset_sieve_buf_size, value, override);
}

/* Defines a setter of a property that is one number, or one switch. */
#define SETTER(name, how, property)                                                               \
    static enum sw_h5_outcome name(struct sw_h5_access *access, const char *value, bool override) \
    {                                                                                             \
        const struct sw_h5 *h5 = access->h5;                                                      \
        return how(access, h5->H5Pget_##property, h5->H5Pset_##property, value, override);        \
    }
SETTER(set_meta_block, set_size, meta_block_size)
SETTER(set_small_data, set_size, small_data_block_size)

static enum sw_h5_outcome set_alignment(struct sw_h5_access *access, const char *value,
                                        bool override)
{
    const struct sw_h5 *h5 = access->h5;
    uint64_t wanted[2];
    uint64_t now[2] = {0};
    uint64_t usual[2] = {0};
    if (sw_h5_numbers(value, wanted, 2) != 2 || wanted[1] == 0)
        return refuse(access, "it must be threshold,alignment with an alignment of at least 1");
    if (!h5->H5Pget_alignment || h5->H5Pget_alignment(access->list, &now[0], &now[1]) < 0 ||
        h5->H5Pget_alignment(access->fresh, &usual[0], &usual[1]) < 0)
        return SW_H5_REFUSED;
    if (!override && memcmp(now, usual, sizeof now) != 0)
        return SW_H5_KEPT;
    return outcome(h5->H5Pset_alignment(access->list, wanted[0], wanted[1]));
}

/* ---- switches of parallel HDF5 --------------------------------------------------- */

static enum sw_h5_outcome set_switch(struct sw_h5_access *access, int (*get)(sw_hid, void *),
                                     int (*set)(sw_hid, bool), const char *value, bool override)
{
    uint64_t wanted;
    unsigned now = 0;
    unsigned usual = 0;
    if (!access->parallel)
        return refuse(access, "the file is not opened through MPI-IO");
    if (get == NULL || set == NULL || sw_h5_numbers(value, &wanted, 1) != 1 || wanted > 1)
        return SW_H5_REFUSED;
    if (get(access->list, &now) < 0 || get(access->fresh, &usual) < 0)
        return SW_H5_REFUSED;
    return !override && now != usual ? SW_H5_KEPT : outcome(set(access->list, wanted == 1));
}

SETTER(set_metadata_write, set_switch, coll_metadata_write)
SETTER(set_metadata_ops, set_switch, all_coll_metadata_ops)

/* ---- format -------------------------------------------------------------------- */

static int bound(const struct sw_h5 *h5, const char *name)
{
    static const char *const names[] = {"earliest", "v18", "v110", "v112", "v114", "v200", NULL};
    int value = strcmp(name, "latest") == 0 ? h5->libver_latest : sw_h5_choice(name, names);
    return value > h5->libver_latest ? -1 : value;
}

/* On an existing file, an upper bound could make the open fail. */
static enum sw_h5_outcome set_libver(struct sw_h5_access *access, const char *value, bool override)
{
    const struct sw_h5 *h5 = access->h5;
    char low_name[16] = "";
    const char *comma = strchr(value, ',');
    int now[2] = {0};
    int usual[2] = {0};
    if (comma == NULL || (size_t)(comma - value) >= sizeof low_name)
        return refuse(access, "it must be low,high");
    memcpy(low_name, value, (size_t)(comma - value));
    int low = bound(h5, low_name);
    int high = bound(h5, comma + 1);
    if (low < 0 || high < 0 || !h5->H5Pget_libver_bounds)
        return refuse(access, "this HDF5 does not know the bound");
    if (access->flags & ACC_SWMR)
        return refuse(access, "the file is opened for SWMR");
    if (!access->creating && high != h5->libver_latest)
        return refuse(access, "an upper bound could refuse a file that exists");
    if (h5->H5Pget_libver_bounds(access->list, &now[0], &now[1]) < 0 ||
        h5->H5Pget_libver_bounds(access->fresh, &usual[0], &usual[1]) < 0)
        return SW_H5_REFUSED;
    if (!override && memcmp(now, usual, sizeof now) != 0)
        return SW_H5_KEPT;
    return outcome(h5->H5Pset_libver_bounds(access->list, low, high));
}

/* ---- caches -------------------------------------------------------------------- */

/* HDF5 refuses to open a file that is not paged, and every open through MPI-IO. */
static enum sw_h5_outcome set_page_buffer(struct sw_h5_access *access, const char *value,
                                          bool override)
{
    const struct sw_h5 *h5 = access->h5;
    int strategy = 0;
    unsigned persist = 0;
    uint64_t threshold, wanted, now, page = 0;
    unsigned meta, raw;
    if (access->parallel || h5->H5Pset_all_coll_metadata_ops != NULL)
        return refuse(access, "a parallel HDF5 has no page buffer");
    if (!access->creating || (access->flags & ACC_SWMR))
        return refuse(access, "only a file that is being created can be known to be paged");
    if (sw_h5_numbers(value, &wanted, 1) != 1 || !h5->H5Pget_page_buffer_size ||
        !h5->H5Pget_file_space_strategy || !h5->H5Pget_file_space_page_size)
        return SW_H5_REFUSED;
    if (access->creation == 0 ||
        h5->H5Pget_file_space_strategy(access->creation, &strategy, &persist, &threshold) < 0 ||
        strategy != STRATEGY_PAGE)
        return refuse(access, "the file's space is not paged");
    if (h5->H5Pget_file_space_page_size(access->creation, &page) < 0 || wanted < page)
        return refuse(access, "it is smaller than a page of the file");
    if (h5->H5Pget_page_buffer_size(access->list, &now, &meta, &raw) < 0)
        return SW_H5_REFUSED;
    if (!override && now != 0)
        return SW_H5_KEPT;
    return outcome(h5->H5Pset_page_buffer_size(access->list, wanted, 0, 0));
}

/* The first members of H5AC_cache_config_t (H5ACpublic.h, the same from 1.8 to 2.0), and room for
 * the others. */
struct cache_config {
    int version; /* 1 */
    bool report;
    bool open_trace;
    bool close_trace;
    char trace_name[1025];
    bool evictions;
    bool set_initial_size;
    size_t initial_size;
    double min_clean_fraction;
    size_t max_size;
    size_t min_size;
    char rest[1024];
};

static bool plausible(const struct cache_config *config)
{
    return config->min_clean_fraction >= 0 && config->min_clean_fraction <= 1 &&
           config->min_size > 0 && config->min_size <= config->max_size &&
           config->max_size < (size_t)1 << 40;
}

static bool same_sizes(const struct cache_config *one, const struct cache_config *other)
{
    return one->set_initial_size == other->set_initial_size &&
           one->initial_size == other->initial_size && one->max_size == other->max_size &&
           one->min_size == other->min_size;
}

static enum sw_h5_outcome set_mdc(struct sw_h5_access *access, const char *value, bool override)
{
    const struct sw_h5 *h5 = access->h5;
    struct cache_config now = {.version = 1};
    struct cache_config usual = {.version = 1};
    uint64_t wanted[2];
    if (sw_h5_numbers(value, wanted, 2) != 2 || wanted[0] > wanted[1])
        return refuse(access, "it must be initial,maximum in bytes");
    if (!h5->H5Pget_mdc_config || h5->H5Pget_mdc_config(access->list, &now) < 0 ||
        h5->H5Pget_mdc_config(access->fresh, &usual) < 0 || !plausible(&now))
        return SW_H5_REFUSED;
    if (!override && !same_sizes(&now, &usual))
        return SW_H5_KEPT;
    now.set_initial_size = true;
    now.initial_size = wanted[0];
    now.max_size = wanted[1];
    if (now.min_size > wanted[0])
        now.min_size = wanted[0];
    return outcome(h5->H5Pset_mdc_config(access->list, &now));
}

struct chunk_cache {
    int elements;
    uint64_t slots;
    uint64_t bytes;
    double preemption;
};

static int get_cache(const struct sw_h5 *h5, sw_hid list, struct chunk_cache *cache)
{
    return h5->H5Pget_cache(list, &cache->elements, &cache->slots, &cache->bytes,
                            &cache->preemption);
}

/* Parses slots,bytes[,w0]. */
static bool parse_cache(const char *value, struct chunk_cache *cache)
{
    char *end;
    cache->slots = strtoull(value, &end, 10);
    if (end == value || *end != ',')
        return false;
    value = end + 1;
    cache->bytes = strtoull(value, &end, 10);
    if (end == value || (*end != ',' && *end != '\0'))
        return false;
    if (*end == '\0')
        return true;
    value = end + 1;
    cache->preemption = strtod(value, &end);
    return end != value && *end == '\0' && cache->preemption >= 0 && cache->preemption <= 1;
}

static enum sw_h5_outcome set_chunk_cache(struct sw_h5_access *access, const char *value,
                                          bool override)
{
    const struct sw_h5 *h5 = access->h5;
    struct chunk_cache now, usual;
    if (!h5->H5Pget_cache || !h5->H5Pset_cache || get_cache(h5, access->list, &now) < 0 ||
        get_cache(h5, access->fresh, &usual) < 0)
        return SW_H5_REFUSED;
    if (!override && (now.slots != usual.slots || now.bytes != usual.bytes ||
                      now.preemption != usual.preemption))
        return SW_H5_KEPT;
    if (!parse_cache(value, &now))
        return refuse(access, "it must be slots,bytes or slots,bytes,w0");
    return outcome(
        h5->H5Pset_cache(access->list, now.elements, now.slots, now.bytes, now.preemption));
}

/* ---- the table ----------------------------------------------------------------- */

static const struct {
    const char *key;
    setter *set;
} properties[] = {
    {"alignment", set_alignment},
    {"sieve_buf_size", set_sieve},
    {"meta_block_size", set_meta_block},
    {"small_data_block_size", set_small_data},
    {"coll_metadata_write", set_metadata_write},
    {"all_coll_metadata_ops", set_metadata_ops},
    {"libver", set_libver},
    {"page_buffer_size", set_page_buffer},
    {"mdc", set_mdc},
    {"chunk_cache", set_chunk_cache},
};

enum sw_h5_outcome sw_h5_set_access(struct sw_h5_access *access, const struct sw_setting *setting)
{
    access->why = NULL;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (strcmp(properties[i].key, setting->key) == 0)
            return properties[i].set(access, setting->value, setting->override != 0);
    return SW_H5_OTHER;
}

/* ---- what the program set --------------------------------------------------------- */

struct own {
    sw_hid list, fresh;
    char *text;
    size_t bytes;
};

static void add_number(struct own *own, const char *key, uint64_t now, uint64_t usual)
{
    char value[24];
    if (now == usual)
        return;
    snprintf(value, sizeof value, "%llu", (unsigned long long)now);
    sw_h5_applied(own->text, own->bytes, "", key, value);
}

static void add_size(struct own *own, const char *key, int (*get)(sw_hid, uint64_t *))
{
    uint64_t now = 0, usual = 0;
    if (get != NULL && get(own->list, &now) >= 0 && get(own->fresh, &usual) >= 0)
        add_number(own, key, now, usual);
}

static void add_switch(struct own *own, const char *key, int (*get)(sw_hid, void *))
{
    unsigned now = 0, usual = 0; /* room for bool and for H5P_coll_md_read_flag_t */
    if (get != NULL && get(own->list, &now) >= 0 && get(own->fresh, &usual) >= 0)
        add_number(own, key, now == 1, usual == 1);
}

static void add_pair(struct own *own, const char *key, uint64_t one, uint64_t other)
{
    char value[48];
    snprintf(value, sizeof value, "%llu,%llu", (unsigned long long)one, (unsigned long long)other);
    sw_h5_applied(own->text, own->bytes, "", key, value);
}

void sw_h5_own_access(const struct sw_h5 *h5, sw_hid list, char *text, size_t bytes)
{
    struct own own = {list, h5->H5Pcreate(*h5->class_file_access), text, bytes};
    uint64_t now[2] = {0}, usual[2] = {0};
    int bounds[2] = {0}, plain[2] = {0};
    if (own.fresh < 0)
        return;
    add_switch(&own, "coll_metadata_write", h5->H5Pget_coll_metadata_write);
    add_switch(&own, "all_coll_metadata_ops", h5->H5Pget_all_coll_metadata_ops);
    add_size(&own, "meta_block_size", h5->H5Pget_meta_block_size);
    add_size(&own, "small_data_block_size", h5->H5Pget_small_data_block_size);
    add_size(&own, "sieve_buf_size", h5->H5Pget_sieve_buf_size);
    if (h5->H5Pget_alignment != NULL && h5->H5Pget_alignment(list, &now[0], &now[1]) >= 0 &&
        h5->H5Pget_alignment(own.fresh, &usual[0], &usual[1]) >= 0 &&
        memcmp(now, usual, sizeof now) != 0)
        add_pair(&own, "alignment", now[0], now[1]);
    if (h5->H5Pget_libver_bounds != NULL &&
        h5->H5Pget_libver_bounds(list, &bounds[0], &bounds[1]) >= 0 &&
        h5->H5Pget_libver_bounds(own.fresh, &plain[0], &plain[1]) >= 0 &&
        memcmp(bounds, plain, sizeof bounds) != 0)
        add_pair(&own, "libver", (uint64_t)bounds[0], (uint64_t)bounds[1]);
    (void)h5->H5Pclose(own.fresh);
}
