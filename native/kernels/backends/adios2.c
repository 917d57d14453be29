/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * adios2: the file engines BP4 and BP5 of ADIOS2 (--engine, --parameter). The output is a
 * directory; a step of the kernel is a step of ADIOS2, with one variable each, and one Put or Get
 * per block.
 *
 * Without --open-once, the output is opened again in each step, to append. Reading uses random
 * access. A share with gaps or halos in memory is first copied to contiguous memory, and that copy
 * is part of the transfer's time. ADIOS2 has no sync: --fsync syncs the output's files. ADIOS2
 * prints why a call failed to standard error, and only returns the kind of failure.
 */
#include "../kernel.h"

#ifdef SW_HAVE_ADIOS2

#define ADIOS2_USE_MPI 1

#include "slabs.h"

#include <adios2_c.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct adios2_state {
    adios2_adios *adios;
    adios2_io *io;
    adios2_engine *engine;
    adios2_variable **variables;
    char *packed; /* the rank's elements of a step without gaps; NULL: memory has none */
};

static int fail_adios2(struct sw_session *session, const char *call, adios2_error error)
{
    static const char *const kinds[] = {"it failed", "an argument is invalid",
                                        "a call of the system failed", "it cannot go on",
                                        "an exception"};
    const char *kind = kinds[error > 0 && error <= 4 ? error : 0];
    return sw_fail(session, call, "%s (ADIOS2 tells more above)", kind);
}

static adios2_type type_of(const struct sw_share *share)
{
    static const adios2_type types[SW_TYPE_COUNT] = {
        [SW_TYPE_INT64] = adios2_type_int64_t,
        [SW_TYPE_DOUBLE] = adios2_type_double,
        [SW_TYPE_FLOAT] = adios2_type_float,
    };
    return types[share->type];
}

/* ---- the directory that an output is ------------------------------------------------------- */

/*
 * Source: the comments at the end of BP5Engine.h and GetBPSubStreamName of the BP4 format in
 * ADIOS2 2.12 name the files: md.idx, md.N, mmd.N, data.N; profiling.json and active exist
 * temporarily. Both formats have md.idx from the open on: a directory without it is not an output.
 */
#define INDEX "md.idx"

/* Returns whether a name is, for instance, "md." followed by digits. */
static bool is_numbered(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] == '\0')
        return false;
    for (const char *c = name + length; *c != '\0'; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    return true;
}

static bool is_ours(int directory, const char *name)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    return strcmp(name, INDEX) == 0 || strcmp(name, "profiling.json") == 0 ||
           strcmp(name, "active") == 0 || is_numbered(name, "md.") || is_numbered(name, "mmd.") ||
           is_numbered(name, "data.");
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Opens the directory behind a path; NULL with errno. */
static DIR *open_directory(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (directory == NULL && descriptor >= 0)
        close(descriptor);
    return directory;
}

/* Returns the next entry except the dots; NULL at the end, or with errno set. */
static const struct dirent *next_entry(DIR *directory)
{
    const struct dirent *entry = NULL;
    do {
        errno = 0;
        entry = readdir(directory);
    } while (entry != NULL && is_dots(entry->d_name));
    return entry;
}

static bool is_output(DIR *directory, char *stranger, size_t bytes)
{
    const struct dirent *entry = NULL;
    while ((entry = next_entry(directory)) != NULL) {
        if (is_ours(dirfd(directory), entry->d_name))
            continue;
        snprintf(stranger, bytes, "%s", entry->d_name);
        errno = ENOTEMPTY;
        return false;
    }
    if (errno != 0)
        return false;
    if (is_ours(dirfd(directory), INDEX))
        return true;
    errno = EEXIST;
    return false;
}

/* If something else was added since the first check, rmdir refuses. The index is removed last:
 * what an interruption leaves is still recognised as an output. */
static bool remove_entries(DIR *directory)
{
    const struct dirent *entry = NULL;
    rewinddir(directory);
    while ((entry = next_entry(directory)) != NULL)
        if (strcmp(entry->d_name, INDEX) != 0 && is_ours(dirfd(directory), entry->d_name) &&
            unlinkat(dirfd(directory), entry->d_name, 0) != 0)
            return false;
    return errno == 0 && unlinkat(dirfd(directory), INDEX, 0) == 0;
}

/* Removes an output: a directory that contains its index and only files of an output. Otherwise
 * nothing is removed, nor through symbolic links inside; a missing directory is no error. Returns
 * false with errno; ENOTEMPTY: `stranger` is the name of a file that no output has; EEXIST: no
 * index. */
static bool bp_remove(const char *path, char *stranger, size_t bytes)
{
    char target[PATH_MAX];
    stranger[0] = '\0';
    if (realpath(path, target) == NULL)
        return errno == ENOENT;
    DIR *directory = open_directory(target);
    if (directory == NULL)
        return errno == ENOENT;
    bool done = is_output(directory, stranger, bytes) && remove_entries(directory);
    int error = errno;
    closedir(directory);
    errno = error;
    return done && rmdir(target) == 0;
}

/* Syncs the data of all its files. Returns false with errno. */
static bool bp_sync(const char *path)
{
    char target[PATH_MAX];
    const struct dirent *entry = NULL;
    DIR *directory = realpath(path, target) != NULL ? open_directory(target) : NULL;
    int error = directory == NULL ? errno : 0;
    while (error == 0 && (entry = next_entry(directory)) != NULL) {
        int file = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (file < 0 || fsync(file) != 0)
            error = errno;
        if (file >= 0)
            close(file);
    }
    if (error == 0)
        error = errno; /* of the last entry */
    if (directory != NULL && error == 0 && fsync(dirfd(directory)) != 0)
        error = errno;
    if (directory != NULL)
        closedir(directory);
    errno = error;
    return error == 0;
}

/* ---- open ---------------------------------------------------------------------------------- */

/* Only rank 0 checks, because ADIOS2 would create missing directories, and ranks with different
 * results would wait for each other. */
static bool is_possible(struct sw_session *session, bool create)
{
    char path[SW_PATH_BYTES];
    struct stat status;
    int error = 0;
    sw_room_directory(session, path);
    if (session->rank == 0 && create && lstat(session->path, &status) == 0)
        error = EEXIST; /* not removable: a device, a dangling link */
    else if (session->rank == 0 && stat(create ? path : session->path, &status) != 0)
        error = errno;
    else if (session->rank == 0 && !S_ISDIR(status.st_mode))
        error = ENOTDIR;
    MPI_Bcast(&error, 1, MPI_INT, 0, session->comm);
    if (error != 0)
        sw_fail(session, "adios2_open", "%s", strerror(error));
    return error == 0 && (!create || sw_room_check(session, "adios2_open"));
}

static void configure(struct sw_session *session, struct adios2_state *state)
{
    const struct sw_options *options = session->options;
    adios2_error error = adios2_set_engine(state->io, options->engine);
    for (int p = 0; p < options->n_parameters && error == adios2_error_none; p++)
        error = adios2_set_parameter(state->io, options->parameters[p].key,
                                     options->parameters[p].value);
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_set_parameter", error);
}

static void define_variables(struct sw_session *session, struct adios2_state *state)
{
    const struct sw_share *share = session->share;
    const size_t none[SW_MAX_DIMS] = {0};
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *domain = share->variables[v].domain;
        size_t shape[SW_MAX_DIMS];
        for (int d = 0; d < domain->n_dims; d++)
            shape[d] = (size_t)domain->extent[d];
        state->variables[v] = adios2_define_variable(state->io, share->variables[v].name,
                                                     type_of(share), (size_t)domain->n_dims, shape,
                                                     none, none, adios2_constant_dims_false);
        if (state->variables[v] == NULL)
            fail_adios2(session, "adios2_define_variable", 0);
    }
}

/* Checks shape and type: another shape would be read in part; another type would overrun the
 * buffer. */
static bool is_as_asked(const struct sw_session *session, const adios2_variable *variable,
                        const struct sw_domain *domain)
{
    size_t shape[64];
    size_t n_dims = 0;
    size_t n_steps = 0;
    adios2_type type = adios2_type_unknown;
    if (adios2_variable_type(&type, variable) != adios2_error_none ||
        type != type_of(session->share) ||
        adios2_variable_ndims(&n_dims, variable) != adios2_error_none ||
        n_dims != (size_t)domain->n_dims ||
        adios2_variable_shape(shape, variable) != adios2_error_none ||
        adios2_variable_steps(&n_steps, variable) != adios2_error_none ||
        n_steps < (size_t)session->options->steps)
        return false;
    for (int d = 0; d < domain->n_dims; d++)
        if (shape[d] != (size_t)domain->extent[d])
            return false;
    return true;
}

static void find_variables(struct sw_session *session, struct adios2_state *state)
{
    const struct sw_share *share = session->share;
    for (int v = 0; v < share->n_variables; v++) {
        const char *name = share->variables[v].name;
        state->variables[v] = adios2_inquire_variable(state->io, name);
        if (state->variables[v] == NULL)
            sw_fail(session, "adios2_inquire_variable", "there is no variable %s", name);
        else if (!is_as_asked(session, state->variables[v], share->variables[v].domain))
            sw_fail(session, "adios2_inquire_variable",
                    "variable %s has another shape, type or number of steps than --size, --type "
                    "and --steps say",
                    name);
    }
}

static bool all_dense(const struct sw_share *share)
{
    for (int s = 0; s < share->n_domains; s++)
        if (!sw_domain_dense(&share->domains[s]))
            return false;
    return true;
}

static void release(struct adios2_state *state)
{
    if (state == NULL)
        return;
    if (state->adios != NULL)
        adios2_finalize(state->adios);
    free(state->variables);
    free(state->packed);
    free(state);
}

/* Everything before the file is used. */
static struct adios2_state *make_state(struct sw_session *session)
{
    const struct sw_share *share = session->share;
    struct adios2_state *state = calloc(1, sizeof *state);
    if (state != NULL) {
        state->variables = calloc((size_t)share->n_variables, sizeof(adios2_variable *));
        if (!all_dense(share))
            state->packed = malloc((size_t)share->owned_bytes + 1);
    }
    if (state == NULL || state->variables == NULL || (state->packed == NULL && !all_dense(share)))
        sw_fail(session, "malloc", "out of memory");
    adios2_adios *adios = adios2_init_mpi(session->comm);
    if (adios == NULL)
        fail_adios2(session, "adios2_init", 0);
    if (state == NULL)
        return NULL;
    state->adios = adios;
    state->io = adios != NULL ? adios2_declare_io(adios, "stripewise-kernel") : NULL;
    if (state->io == NULL)
        fail_adios2(session, "adios2_declare_io", 0);
    else
        configure(session, state);
    return state;
}

static int open_file(struct sw_session *session, bool create)
{
    adios2_mode mode = create             ? adios2_mode_write
                       : session->writing ? adios2_mode_append
                                          : adios2_mode_readRandomAccess;
    if (!is_possible(session, create))
        return -1;
    struct adios2_state *state = make_state(session);
    if (!sw_agree(session->comm, session->failure)) {
        release(state);
        return -1;
    }
    if (session->writing)
        define_variables(session, state);
    state->engine = adios2_open(state->io, session->path, mode);
    if (state->engine == NULL) {
        fail_adios2(session, "adios2_open", 0);
        release(state);
        return -1;
    }
    session->state = state;
    if (!session->writing)
        find_variables(session, state);
    return session->failure->failed ? -1 : 0;
}

/* ---- transfer ------------------------------------------------------------------------------ */

static int prepare(struct sw_session *session, int64_t step)
{
    const struct adios2_state *state = session->state;
    adios2_step_status status = adios2_step_status_ok;
    (void)step;
    if (!session->writing)
        return 0;
    adios2_error error = adios2_begin_step(state->engine, adios2_step_mode_append, -1.0F, &status);
    if (error != adios2_error_none || status != adios2_step_status_ok)
        return fail_adios2(session, "adios2_begin_step", error);
    return 0;
}

static adios2_error select_slab(adios2_variable *variable, const struct sw_slab *slab)
{
    size_t start[SW_MAX_DIMS];
    size_t count[SW_MAX_DIMS];
    for (int d = 0; d < slab->n_dims; d++) {
        start[d] = (size_t)slab->start[d];
        count[d] = (size_t)slab->count[d];
    }
    return adios2_set_selection(variable, (size_t)slab->n_dims, start, count);
}

/* Deferred: the data must stay in place until the end of the step. */
static void put_variable(struct sw_session *session, int v, char *buffer)
{
    const struct adios2_state *state = session->state;
    const struct sw_variable *variable = &session->share->variables[v];
    struct sw_slabs slabs = {.domain = variable->domain, .strides = false};
    struct sw_slab slab;
    char *packed = state->packed != NULL ? state->packed + variable->packed : NULL;
    const char *from = packed != NULL ? packed : buffer + variable->memory;
    int64_t bytes = session->share->element_bytes;
    adios2_error error = adios2_error_none;
    while (sw_slabs_next(&slabs, &slab) && error == adios2_error_none) {
        if (packed != NULL)
            sw_slab_copy(&slab, bytes, buffer + variable->memory, packed, SW_PACK);
        error = select_slab(state->variables[v], &slab);
        if (error == adios2_error_none)
            error = adios2_put(state->engine, state->variables[v], from, adios2_mode_deferred);
        from += slab.elements * bytes;
        packed = packed != NULL ? packed + slab.elements * bytes : NULL;
    }
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_put", error);
}

static int write_step(struct sw_session *session, char *buffer)
{
    const struct adios2_state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++)
        put_variable(session, v, buffer);
    adios2_error error = adios2_end_step(state->engine);
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_end_step", error);
    return session->failure->failed ? -1 : 0;
}

static void get_variable(struct sw_session *session, int64_t step, int v, char *buffer)
{
    const struct adios2_state *state = session->state;
    const struct sw_variable *variable = &session->share->variables[v];
    struct sw_slabs slabs = {.domain = variable->domain, .strides = false};
    struct sw_slab slab;
    char *to =
        state->packed != NULL ? state->packed + variable->packed : buffer + variable->memory;
    adios2_error error = adios2_set_step_selection(state->variables[v], (size_t)step, 1);
    while (error == adios2_error_none && sw_slabs_next(&slabs, &slab)) {
        error = select_slab(state->variables[v], &slab);
        if (error == adios2_error_none)
            error = adios2_get(state->engine, state->variables[v], to, adios2_mode_deferred);
        to += slab.elements * session->share->element_bytes;
    }
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_get", error);
}

static void unpack_variable(const struct sw_session *session, int v, char *buffer)
{
    const struct adios2_state *state = session->state;
    const struct sw_variable *variable = &session->share->variables[v];
    struct sw_slabs slabs = {.domain = variable->domain, .strides = false};
    struct sw_slab slab;
    char *packed = state->packed + variable->packed;
    while (sw_slabs_next(&slabs, &slab)) {
        sw_slab_copy(&slab, session->share->element_bytes, buffer + variable->memory, packed,
                     SW_UNPACK);
        packed += slab.elements * session->share->element_bytes;
    }
}

static int read_step(struct sw_session *session, int64_t step, char *buffer)
{
    const struct adios2_state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++)
        get_variable(session, step, v, buffer);
    adios2_error error = adios2_perform_gets(state->engine);
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_perform_gets", error);
    for (int v = 0; v < session->share->n_variables && state->packed != NULL; v++)
        unpack_variable(session, v, buffer);
    return session->failure->failed ? -1 : 0;
}

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    return session->writing ? write_step(session, buffer) : read_step(session, step, buffer);
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* One rank of each node syncs, because the data may be in the memory of the node that wrote it. */
static int sync_file(struct sw_session *session)
{
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Barrier(session->comm);
    MPI_Comm_split_type(session->comm, MPI_COMM_TYPE_SHARED, session->rank, MPI_INFO_NULL, &node);
    int rank = sw_rank_in(node);
    MPI_Comm_free(&node);
    if (rank == 0 && !bp_sync(session->path))
        return sw_fail_errno(session, "fsync");
    return 0;
}

/* What the close itself, and threads before it, write is synced too. */
static int close_file(struct sw_session *session)
{
    struct adios2_state *state = session->state;
    if (state == NULL)
        return 0;
    adios2_error error = adios2_close(state->engine);
    if (error != adios2_error_none)
        fail_adios2(session, "adios2_close", error);
    release(state);
    session->state = NULL;
    if (session->writing && session->options->fsync)
        sync_file(session);
    return session->failure->failed ? -1 : 0;
}

static int remove_output(struct sw_session *session)
{
    char stranger[256];
    if (bp_remove(session->path, stranger, sizeof stranger))
        return 0;
    if (errno == ENOTDIR)
        return sw_file_remove(session->path) == 0 ? 0 : sw_fail_errno(session, "unlink");
    if (errno == EEXIST && stranger[0] == '\0')
        return sw_fail(session, "rmdir",
                       "the directory is no BP output (it has no md.idx) and is not removed; give "
                       "another --file");
    if (stranger[0] == '\0')
        return sw_fail_errno(session, "rmdir");
    return sw_fail(session, "rmdir",
                   "the directory holds '%s', which is no part of a BP output, and is not "
                   "removed; give another --file",
                   stranger);
}

static void library(char *text, size_t bytes)
{
    snprintf(text, bytes, "ADIOS2 %s", ADIOS2_VERSION_STR);
}

#endif

const struct sw_backend sw_backend_adios2 = {
    .name = "adios2",
    .suffix = ".bp",
    .stores = true,
    .engines = true,
    .closes_after_failure = false,
#ifdef SW_HAVE_ADIOS2
    .summary = "ADIOS2, engine BP5 or BP4: a directory, a variable each, a step a step",
    .open = open_file,
    .prepare = prepare,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
    .remove = remove_output,
    .library = library,
#else
    .summary = "ADIOS2, engines BP4 and BP5 (not in this build)",
    .missing = "this kernel was built without ADIOS2; install it (Debian 13: libadios2-mpi-c-dev, "
               "Open MPI only) or set ADIOS2_DIR, and run \"stripewise doctor build\"",
#endif
};
