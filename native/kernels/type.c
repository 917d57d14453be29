/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"

const char *sw_type_name(enum sw_type type)
{
    static const char *const names[SW_TYPE_COUNT] = {
        [SW_TYPE_INT64] = "int64",
        [SW_TYPE_DOUBLE] = "double",
        [SW_TYPE_FLOAT] = "float",
    };
    return names[type];
}

int64_t sw_type_bytes(enum sw_type type)
{
    return type == SW_TYPE_FLOAT ? 4 : 8;
}

MPI_Datatype sw_type_mpi(enum sw_type type)
{
    if (type == SW_TYPE_INT64)
        return MPI_INT64_T;
    return type == SW_TYPE_DOUBLE ? MPI_DOUBLE : MPI_FLOAT;
}
