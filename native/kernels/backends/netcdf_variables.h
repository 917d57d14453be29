/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of a NetCDF or PnetCDF file, whose calls differ in their prefix and in the type of a
 * length. Included once by each of the two back ends, which defines
 *
 *     NC(verb)       the call, nc_VERB or ncmpi_VERB
 *     NC_NAME(verb)  its name as a string
 *     NC_LENGTH      the type of the length of a dimension
 *     struct state   with `int file` and `int *variables`, their numbers in the file
 */
#include "../kernel.h"

#define FILE_DIMS (SW_MAX_DIMS + 1) /* with `step` */

static int fail_nc(struct sw_session *session, const char *call, int code)
{
    return sw_fail(session, call, "%s", NC(strerror)(code));
}

static nc_type type_of(const struct sw_share *share)
{
    static const nc_type types[SW_TYPE_COUNT] = {
        [SW_TYPE_INT64] = NC_INT64,
        [SW_TYPE_DOUBLE] = NC_DOUBLE,
        [SW_TYPE_FLOAT] = NC_FLOAT,
    };
    return types[share->type];
}

/* Returns a dimension by its name, creating it if necessary: `step`, or position and length as in
 * d0_64. */
static int define_dimension(struct sw_session *session, const char *name, int64_t length)
{
    const struct state *state = session->state;
    int number = 0;
    if (NC(inq_dimid)(state->file, name, &number) == NC_NOERR)
        return number;
    int code = NC(def_dim)(state->file, name, (NC_LENGTH)length, &number);
    if (code != NC_NOERR)
        fail_nc(session, NC_NAME(def_dim), code);
    return number;
}

static void define_variables(struct sw_session *session)
{
    struct state *state = session->state;
    const struct sw_share *share = session->share;
    for (int v = 0; v < share->n_variables; v++) {
        const struct sw_domain *domain = share->variables[v].domain;
        int dims[FILE_DIMS];
        char name[64];
        dims[0] = define_dimension(session, "step", session->options->steps);
        for (int d = 0; d < domain->n_dims; d++) {
            snprintf(name, sizeof name, "d%d_%lld", d, (long long)domain->extent[d]);
            dims[d + 1] = define_dimension(session, name, domain->extent[d]);
        }
        int code = NC(def_var)(state->file, share->variables[v].name, type_of(share),
                               domain->n_dims + 1, dims, &state->variables[v]);
        if (code != NC_NOERR)
            fail_nc(session, NC_NAME(def_var), code);
    }
    int code = NC(enddef)(state->file);
    if (code != NC_NOERR)
        fail_nc(session, NC_NAME(enddef), code);
}

/* Checks shape and type: others would be converted, or read in part. */
static bool is_as_asked(struct sw_session *session, int variable)
{
    const struct state *state = session->state;
    const struct sw_domain *domain = session->share->variables[variable].domain;
    int number = state->variables[variable];
    int dims[FILE_DIMS];
    int n_dims = 0;
    nc_type type = NC_NAT;
    NC_LENGTH length = 0;
    if (NC(inq_varndims)(state->file, number, &n_dims) != NC_NOERR ||
        n_dims != domain->n_dims + 1 ||
        NC(inq_var)(state->file, number, NULL, &type, NULL, dims, NULL) != NC_NOERR ||
        type != type_of(session->share) ||
        NC(inq_dimlen)(state->file, dims[0], &length) != NC_NOERR ||
        length < (NC_LENGTH)session->options->steps)
        return false;
    for (int d = 0; d < domain->n_dims; d++)
        if (NC(inq_dimlen)(state->file, dims[d + 1], &length) != NC_NOERR ||
            length != (NC_LENGTH)domain->extent[d])
            return false;
    return true;
}

static void find_variables(struct sw_session *session)
{
    struct state *state = session->state;
    for (int v = 0; v < session->share->n_variables; v++) {
        const char *name = session->share->variables[v].name;
        int code = NC(inq_varid)(state->file, name, &state->variables[v]);
        if (code != NC_NOERR)
            sw_fail(session, NC_NAME(inq_varid), "variable %s: %s", name, NC(strerror)(code));
        else if (!is_as_asked(session, v))
            sw_fail(session, NC_NAME(inq_var),
                    "variable %s has another shape or type than --size, --steps and --type say",
                    name);
    }
}

static int sync_file(struct sw_session *session)
{
    const struct state *state = session->state;
    int code = NC(sync)(state->file);
    return code == NC_NOERR ? 0 : fail_nc(session, NC_NAME(sync), code);
}

/* Copies the version without the date after it: "1.12.3 of 30 Sep 2022". */
static void put_version(const char *name, char *text, size_t bytes)
{
    const char *version = NC(inq_libvers)();
    snprintf(text, bytes, "%s %.*s", name, (int)strcspn(version, " "), version);
}
