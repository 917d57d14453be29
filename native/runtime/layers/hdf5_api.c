/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Determines which HDF5 a caller is linked with, and where its functions are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "layers/hdf5.h"

#define MAX_COPIES 4
#define PAGE_SLOTS 1024 /* power of two: pages of code that call HDF5 */
#define PAGE_PROBES 8
#define MARK_FUNCTION "H5get_libversion" /* nobody interposes this one */

static struct sw_h5 copies[MAX_COPIES];
static size_t n_copies;
static const struct sw_h5 none;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Maps the page of a return address to a copy. Written under the mutex, copy before page. */
static struct {
    uintptr_t page;
    const struct sw_h5 *copy;
} pages[PAGE_SLOTS];

/* ---- symbols ------------------------------------------------------------------- */

static const void *base_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Searches the dependencies of the caller's own object; NULL if that finds our own function. */
static void *in_scope(void *scope, const char *name)
{
    void *symbol = scope != NULL ? dlsym(scope, name) : NULL;
    return base_of(symbol) == base_of((const void *)&sw_h5_of) ? NULL : symbol;
}

/* Returns the next definition if it is an interposer's (Darshan) or belongs to the caller's copy,
 * and that of the caller's copy if the next one is another HDF5. */
static void *pick(void *scope, const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    void *own = in_scope(scope, name);
    if (own == NULL || own == next)
        return next;
    const void *other_copy = base_of(dlsym(RTLD_NEXT, MARK_FUNCTION));
    return next == NULL || base_of(next) == other_copy ? own : next;
}

/* Returns a variable of the copy that contains `identity`. In the global scope, the program's own
 * object may contain it instead of the library (copy relocation), hence RTLD_DEFAULT there. */
static void *pick_variable(void *scope, const char *name, const void *identity)
{
    if (dlsym(RTLD_NEXT, MARK_FUNCTION) == identity)
        return dlsym(RTLD_DEFAULT, name);
    return scope != NULL ? dlsym(scope, name) : NULL;
}

/* We store addresses, so the library stays loaded, even if the program closes it. */
static void pin(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0)
        return;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library != NULL)
        dlclose(library);
}

/* ---- a copy -------------------------------------------------------------------- */

static int libver_latest(unsigned major, unsigned minor, unsigned release)
{
    if (major >= 2)
        return 5;
    if (minor >= 13)
        return 4;
    if (minor >= 11)
        return 3;
    return release >= 2 ? 2 : 1;
}

static void judge(struct sw_h5 *h5)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    if (h5->H5get_libversion == NULL || h5->H5get_libversion(&major, &minor, &release) < 0)
        return;
    h5->libver_latest = libver_latest(major, minor, release);
    bool recent = major > 1 || (major == 1 && minor >= 10);
    if (!recent)
        sw_note("HDF5 before 1.10 is neither counted nor adopted");
    h5->usable = recent && h5->H5open && h5->H5Eget_auto2 && h5->H5Eset_auto2 &&
                 h5->H5Eget_current_stack && h5->H5Eset_current_stack && h5->H5Iget_file_id &&
                 h5->H5Idec_ref && h5->H5Iget_name && h5->H5Fget_name && h5->H5Pcreate &&
                 h5->H5Pcopy && h5->H5Pclose && h5->H5Pget_driver && h5->class_file_access &&
                 h5->class_dataset_create && h5->class_dataset_transfer && h5->H5Dget_space &&
                 h5->H5Sget_select_npoints && h5->H5Sget_simple_extent_npoints &&
                 h5->H5Sget_simple_extent_ndims && h5->H5Sget_simple_extent_dims && h5->H5Sclose &&
                 h5->H5Tget_size;
    h5->describes = h5->usable && h5->H5Tget_class && h5->H5Tclose && h5->H5Dget_type &&
                    h5->H5Dget_create_plist && h5->H5Pget_layout && h5->H5Pget_chunk &&
                    h5->H5Sget_select_type && h5->H5Sis_regular_hyperslab &&
                    h5->H5Sget_regular_hyperslab && h5->H5Sget_select_hyper_nblocks &&
                    h5->H5Sget_select_hyper_blocklist && h5->H5Sget_select_elem_npoints &&
                    h5->H5Sget_select_elem_pointlist && h5->H5Sget_select_bounds;
}

static const struct sw_h5 *add_copy(void *scope, const void *identity)
{
    if (n_copies == MAX_COPIES)
        return &none;
    struct sw_h5 *h5 = &copies[n_copies];
    h5->number = n_copies++;
#define SW_H5_RESOLVE(type, name, arguments) h5->name = (type(*) arguments)pick(scope, #name);
    SW_H5_FUNCTIONS(SW_H5_RESOLVE)
    h5->class_file_access = pick_variable(scope, "H5P_CLS_FILE_ACCESS_ID_g", identity);
    h5->class_dataset_create = pick_variable(scope, "H5P_CLS_DATASET_CREATE_ID_g", identity);
    h5->class_dataset_transfer = pick_variable(scope, "H5P_CLS_DATASET_XFER_ID_g", identity);
    h5->mpio_driver = pick_variable(scope, "H5FD_MPIO_id_g", identity);
    h5->predefined[0] = pick_variable(scope, "H5T_NATIVE_SCHAR_g", identity);
    h5->predefined[1] = pick_variable(scope, "H5T_NATIVE_DOUBLE_g", identity);
    h5->predefined[2] = pick_variable(scope, "H5T_NATIVE_UINT_FAST64_g", identity);
    h5->predefined[3] = pick_variable(scope, "H5T_C_S1_g", identity);
    h5->identity = identity;
    judge(h5);
    pin(identity);
    return h5;
}

/* netCDF-4 stores its files in HDF5: the calling object contains netCDF's own functions. */
static bool is_netcdf(void *scope, const void *caller)
{
    const void *mark = scope != NULL ? dlsym(scope, "nc_inq_libvers") : NULL;
    return mark != NULL && base_of(mark) == base_of(caller);
}

static const struct sw_h5 *resolve(const void *caller)
{
    Dl_info info;
    void *scope = NULL;
    if (dladdr(caller, &info) != 0 && info.dli_fname != NULL)
        scope = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (is_netcdf(scope, caller))
        sw_process_flag(SW_PROCESS_NETCDF4);
    const void *identity = pick(scope, MARK_FUNCTION);
    const struct sw_h5 *found = identity == NULL ? &none : NULL;
    for (size_t i = 0; found == NULL && i < n_copies; i++)
        if (copies[i].identity == identity)
            found = &copies[i];
    if (found == NULL)
        found = add_copy(scope, identity);
    if (scope != NULL)
        dlclose(scope);
    return found;
}

/* ---- by caller ----------------------------------------------------------------- */

static size_t slot(uintptr_t page, size_t probe)
{
    return ((page * UINT64_C(0x9e3779b97f4a7c15) >> 48) + probe) & (PAGE_SLOTS - 1);
}

static void remember(uintptr_t page, const struct sw_h5 *h5)
{
    for (size_t probe = 0; probe < PAGE_PROBES; probe++) {
        size_t at = slot(page, probe);
        if (pages[at].page != 0)
            continue;
        pages[at].copy = h5;
        __atomic_store_n(&pages[at].page, page, __ATOMIC_RELEASE);
        return;
    }
}

const struct sw_h5 *sw_h5_of(const void *caller)
{
    uintptr_t page = (uintptr_t)caller >> 12;
    for (size_t probe = 0; probe < PAGE_PROBES; probe++) {
        size_t at = slot(page, probe);
        if (__atomic_load_n(&pages[at].page, __ATOMIC_ACQUIRE) == page)
            return pages[at].copy;
    }
    sw_inside_begin();
    pthread_mutex_lock(&mutex);
    const struct sw_h5 *h5 = resolve(caller);
    remember(page, h5);
    pthread_mutex_unlock(&mutex);
    sw_inside_end();
    return h5;
}
