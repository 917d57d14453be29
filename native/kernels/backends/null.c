/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * null: moves nothing. It is the template for a new back end, and measures the cost of the program
 * itself: every time that it reports is overhead of the measurement.
 */
#include "../kernel.h"

static int open_file(struct sw_session *session, bool create)
{
    (void)session;
    (void)create;
    return 0;
}

static int move_step(struct sw_session *session, int64_t step, char *buffer)
{
    (void)session;
    (void)step;
    (void)buffer;
    return 0;
}

static int sync_file(struct sw_session *session)
{
    (void)session;
    return 0;
}

static int close_file(struct sw_session *session)
{
    (void)session;
    return 0;
}

const struct sw_backend sw_backend_null = {
    .name = "null",
    .summary = "moves nothing: what the measurement itself costs",
    .missing = NULL,
    .suffix = ".null",
    .stores = false,
    .hints = false,
    .collective = true,
    .serial = true,
    .per_process = true,
    .per_node = true,
    .removes_view = false,
    .closes_after_failure = true,
    .open = open_file,
    .prepare = NULL,
    .move = move_step,
    .sync = sync_file,
    .close = close_file,
    .remove = NULL,
    .library = NULL,
};
