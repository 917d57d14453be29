/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in: what the core needs from one MPI, compiled with that MPI's own mpi.h. The same
 * source serves every MPI. It calls PMPI names, so that no profiling tool counts it, and works
 * under MPI_ERRORS_RETURN, so that our errors never end the program.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "stripewise/container.h"
#include "stripewise/plugin.h"
#include "stripewise/trace.h"

#include "flatten.h"

#if defined(OPEN_MPI)
#define FAMILY "openmpi"
#define MAJOR OMPI_MAJOR_VERSION
#define BUILT_WITH "Open MPI"
#elif defined(MPICH_NUMVERSION)
#define FAMILY "mpich"
#define MAJOR (MPICH_NUMVERSION / 10000000)
#define BUILT_WITH "MPICH " MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
#define FAMILY "abi" /* the standard's own: mpi.h does not identify the library */
#define MAJOR MPI_ABI_VERSION
#define BUILT_WITH "MPI ABI"
#else
#error "unknown MPI: neither of MPICH's nor of Open MPI's family, nor the ABI of MPI 5"
#endif

static const struct sw_plugin_mark mark __attribute__((used)) = {
    .mark = SW_PLUGIN_MARK, .version = SW_PLUGIN_VERSION, .major = MAJOR, .family = FAMILY};

/* ---- no error of ours reaches the program's handlers; conversion of handles ------------------
 */

/* Converts a handle from the core back to this MPI's type: an int or a pointer. */
#define HANDLE(type, word) ((type)(word))

/* Errors of calls without a communicator are passed to the handler of MPI_COMM_WORLD (MPI 3) or
 * MPI_COMM_SELF (MPI 4). */
struct quiet {
    MPI_Errhandler world;
    MPI_Errhandler self;
};

static inline void quiet_one(MPI_Comm comm, MPI_Errhandler *found)
{
    *found = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, found) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static inline void restore_one(MPI_Comm comm, MPI_Errhandler *found)
{
    if (*found == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_set_errhandler(comm, *found);
    PMPI_Errhandler_free(found);
}

static inline struct quiet quiet_begin(void)
{
    struct quiet quiet;
    quiet_one(MPI_COMM_WORLD, &quiet.world);
    quiet_one(MPI_COMM_SELF, &quiet.self);
    return quiet;
}

static inline void quiet_end(struct quiet *quiet)
{
    restore_one(MPI_COMM_WORLD, &quiet->world);
    restore_one(MPI_COMM_SELF, &quiet->self);
}

/* ---- world --------------------------------------------------------------------- */

static int world(int *rank, int *size)
{
    struct quiet quiet = quiet_begin();
    int code = PMPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(MPI_COMM_WORLD, size);
    quiet_end(&quiet);
    return code;
}

static int comm_rank(sw_handle comm, int *rank)
{
    return PMPI_Comm_rank(HANDLE(MPI_Comm, comm), rank);
}

/* ---- datatypes: examined only after the program's own call accepted them ------------- */

static int type_is_null(sw_handle datatype)
{
    return HANDLE(MPI_Datatype, datatype) == MPI_DATATYPE_NULL;
}

static int64_t type_bytes(sw_handle datatype)
{
    MPI_Count bytes = MPI_UNDEFINED;
    if (type_is_null(datatype)) /* PnetCDF accepts it */
        return -1;
    if (PMPI_Type_size_x(HANDLE(MPI_Datatype, datatype), &bytes) != MPI_SUCCESS)
        return -1;
    return bytes == MPI_UNDEFINED ? -1 : (int64_t)bytes;
}

static int type_noncontiguous(sw_handle datatype)
{
    MPI_Count lower, extent, bytes;
    MPI_Datatype type = HANDLE(MPI_Datatype, datatype);
    if (type_is_null(datatype) || PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS)
        return 0;
    return lower != 0 || extent != bytes;
}

static int type_pieces(sw_handle datatype, int (*visit)(void *, int64_t, int64_t), void *context)
{
    struct quiet quiet = quiet_begin();
    int code = sw_type_pieces(datatype, visit, context);
    quiet_end(&quiet);
    return code;
}

/* ---- info ---------------------------------------------------------------------- */

static int get_value(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1], int *found)
{
#if MPI_VERSION >= 4
    int bytes = MPI_MAX_INFO_VAL + 1;
    return PMPI_Info_get_string(info, key, &bytes, value, found);
#else
    return PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, found);
#endif
}

static size_t append(char *text, size_t used, size_t bytes, const char *key, const char *value)
{
    int more = snprintf(text + used, bytes - used, "%s=%s\n", key, value);
    if (more < 0 || used + (size_t)more >= bytes) {
        text[used] = '\0';
        return used;
    }
    return used + (size_t)more;
}

static int write_text(MPI_Info info, char *text, size_t bytes)
{
    int keys = 0;
    size_t used = 0;
    int code = PMPI_Info_get_nkeys(info, &keys);
    for (int i = 0; code == MPI_SUCCESS && i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int found = 0;
        code = PMPI_Info_get_nthkey(info, i, key);
        if (code == MPI_SUCCESS)
            code = get_value(info, key, value, &found);
        if (code == MPI_SUCCESS && found)
            used = append(text, used, bytes, key, value);
    }
    return code;
}

static int info_text(sw_handle info, char *text, size_t bytes)
{
    text[0] = '\0';
    if (HANDLE(MPI_Info, info) == MPI_INFO_NULL)
        return MPI_SUCCESS;
    struct quiet quiet = quiet_begin();
    int code = write_text(HANDLE(MPI_Info, info), text, bytes);
    quiet_end(&quiet);
    return code;
}

static int file_info_text(sw_handle file, char *text, size_t bytes)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_File fh = HANDLE(MPI_File, file);
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    text[0] = '\0';
    if (fh == MPI_FILE_NULL) /* MPICH 5's ABI returns success if a handler took the error */
        return MPI_ERR_FILE;
    struct quiet quiet = quiet_begin();
    if (PMPI_File_get_errhandler(fh, &found) == MPI_SUCCESS)
        PMPI_File_set_errhandler(fh, MPI_ERRORS_RETURN);
    int code = PMPI_File_get_info(fh, &info);
    if (code == MPI_SUCCESS && info != MPI_INFO_NULL) {
        code = write_text(info, text, bytes);
        PMPI_Info_free(&info);
    }
    if (found != MPI_ERRHANDLER_NULL) {
        PMPI_File_set_errhandler(fh, found);
        PMPI_Errhandler_free(&found);
    }
    quiet_end(&quiet);
    return code;
}

/* Sets one hint, unless the program's own is kept or it is too long for this MPI. */
static int set_hint(MPI_Info info, const struct sw_hint *hint, int *set)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    *set = 0;
    if (strlen(hint->key) >= MPI_MAX_INFO_KEY || strlen(hint->value) >= MPI_MAX_INFO_VAL ||
        hint->key[0] == '\0' || hint->value[0] == '\0')
        return MPI_SUCCESS;
    int code = get_value(info, hint->key, value, &found);
    if (code != MPI_SUCCESS || (found && !hint->override))
        return code;
    code = PMPI_Info_set(info, hint->key, hint->value);
    *set = code == MPI_SUCCESS;
    return code;
}

static int merge(MPI_Info own, const struct sw_hint *hints, size_t n_hints, MPI_Info *merged,
                 char *applied, size_t applied_bytes)
{
    size_t used = 0;
    int code = own == MPI_INFO_NULL ? PMPI_Info_create(merged) : PMPI_Info_dup(own, merged);
    if (code != MPI_SUCCESS)
        return code;
    for (size_t i = 0; code == MPI_SUCCESS && i < n_hints; i++) {
        int set;
        code = set_hint(*merged, &hints[i], &set);
        if (set)
            used = append(applied, used, applied_bytes, hints[i].key, hints[i].value);
    }
    if (code != MPI_SUCCESS)
        PMPI_Info_free(merged);
    return code;
}

static int info_merge(sw_handle info, const struct sw_hint *hints, size_t n_hints, sw_handle *out,
                      char *applied, size_t applied_bytes)
{
    MPI_Info merged = MPI_INFO_NULL;
    applied[0] = '\0';
    struct quiet quiet = quiet_begin();
    int code = merge(HANDLE(MPI_Info, info), hints, n_hints, &merged, applied, applied_bytes);
    quiet_end(&quiet);
    if (code != MPI_SUCCESS)
        applied[0] = '\0';
    *out = code == MPI_SUCCESS ? (sw_handle)merged : info;
    return code;
}

static void info_free(sw_handle info)
{
    MPI_Info own = HANDLE(MPI_Info, info);
    struct quiet quiet = quiet_begin();
    PMPI_Info_free(&own);
    quiet_end(&quiet);
}

/* ---- what ranks need to agree on something ------------------------------------------------ */

static int is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    struct quiet quiet = quiet_begin();
    int code = PMPI_Comm_get_parent(&parent);
    quiet_end(&quiet);
    return code != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

#define RANKS_AT_A_TIME 256

/* Returns whether all processes of a group are in MPI_COMM_WORLD. Allocates nothing: the answer
 * must not depend on how much memory a rank has. */
static int is_within(MPI_Group group, MPI_Group all, int size)
{
    int ranks[RANKS_AT_A_TIME];
    int found[RANKS_AT_A_TIME];
    for (int done = 0; done < size; done += RANKS_AT_A_TIME) {
        int count = size - done < RANKS_AT_A_TIME ? size - done : RANKS_AT_A_TIME;
        for (int i = 0; i < count; i++)
            ranks[i] = done + i;
        if (PMPI_Group_translate_ranks(group, count, ranks, all, found) != MPI_SUCCESS)
            return 0;
        for (int i = 0; i < count; i++)
            if (found[i] == MPI_UNDEFINED)
                return 0;
    }
    return 1;
}

static int is_of_this_world(MPI_Comm comm, int size)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    int within = comm == MPI_COMM_WORLD;
    if (!within && PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
        if (PMPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
            within = is_within(group, all, size);
            PMPI_Group_free(&all);
        }
        PMPI_Group_free(&group);
    }
    return within;
}

static int comm_size(sw_handle comm)
{
    MPI_Comm own = HANDLE(MPI_Comm, comm);
    int between = 1;
    int size = 0;
    if (own == MPI_COMM_NULL)
        return 0;
    struct quiet quiet = quiet_begin();
    int code = PMPI_Comm_test_inter(own, &between);
    if (code == MPI_SUCCESS && !between)
        code = PMPI_Comm_size(own, &size);
    if (code != MPI_SUCCESS || between || !is_of_this_world(own, size))
        size = 0;
    quiet_end(&quiet);
    return size;
}

static int comm_sum(sw_handle comm, int64_t *words, int n_words)
{
    return PMPI_Allreduce(MPI_IN_PLACE, words, n_words, MPI_INT64_T, MPI_SUM,
                          HANDLE(MPI_Comm, comm));
}

/* ---- the rest ------------------------------------------------------------------ */

static int64_t status_bytes(const void *status)
{
    MPI_Count bytes = MPI_UNDEFINED;
    if (PMPI_Get_elements_x((MPI_Status *)status, MPI_BYTE, &bytes) != MPI_SUCCESS)
        return -1;
    return bytes == MPI_UNDEFINED ? -1 : (int64_t)bytes;
}

/* For an open file. A sequential one has no such pointer, and querying it is an error. */
static int64_t file_position(sw_handle file)
{
    MPI_File fh = HANDLE(MPI_File, file);
    MPI_Offset position = 0;
    int amode = 0;
    if (PMPI_File_get_amode(fh, &amode) != MPI_SUCCESS || (amode & MPI_MODE_SEQUENTIAL) ||
        PMPI_File_get_position(fh, &position) != MPI_SUCCESS)
        return -1;
    return position;
}

static int open_bits(int amode)
{
    const struct {
        int mode;
        int bits;
    } meaning[] = {
        {MPI_MODE_RDONLY, SW_OPEN_READ},   {MPI_MODE_WRONLY, SW_OPEN_WRITE},
        {MPI_MODE_CREATE, SW_OPEN_CREATE}, {MPI_MODE_EXCL, SW_OPEN_EXCLUSIVE},
        {MPI_MODE_APPEND, SW_OPEN_APPEND}, {MPI_MODE_RDWR, SW_OPEN_READ | SW_OPEN_WRITE},
    };
    int bits = 0;
    for (size_t i = 0; i < sizeof meaning / sizeof *meaning; i++)
        if (amode & meaning[i].mode)
            bits |= meaning[i].bits;
    return bits;
}

static uint32_t amode_flags(int amode)
{
    if (amode & MPI_MODE_RDONLY)
        return SW_FILE_OPENED_READ;
    if (amode & MPI_MODE_WRONLY)
        return SW_FILE_OPENED_WRITE;
    return amode & MPI_MODE_RDWR ? SW_FILE_OPENED_READ | SW_FILE_OPENED_WRITE : 0;
}

static const struct sw_plugin plugin = {
    .version = SW_PLUGIN_VERSION,
    .family = FAMILY,
    .library_version = BUILT_WITH,
    .world = world,
    .comm_rank = comm_rank,
    .is_spawned = is_spawned,
    .comm_size = comm_size,
    .comm_sum = comm_sum,
    .type_bytes = type_bytes,
    .type_is_null = type_is_null,
    .type_noncontiguous = type_noncontiguous,
    .info_merge = info_merge,
    .info_text = info_text,
    .file_info_text = file_info_text,
    .info_free = info_free,
    .status_bytes = status_bytes,
    .type_pieces = type_pieces,
    .type_extent = sw_type_extent,
    .file_position = file_position,
    .open_bits = open_bits,
    .amode_flags = amode_flags,
    .request_bytes = sizeof(MPI_Request),
};

__attribute__((visibility("default"))) const struct sw_plugin *sw_plugin_get(void)
{
    return &plugin;
}
