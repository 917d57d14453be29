# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of metrics and kinds of events that the portal knows; others are kept, not shown.

A series may be of a target, of a server (without a target), or of the whole file system (without
both).  Totals come from the series of the whole where there is one, otherwise from the targets,
otherwise from the servers; large centres do well to deliver the whole as well.
"""

from __future__ import annotations

READ = "read_bytes"
"""Counter, bytes: read from a target."""
WRITE = "write_bytes"
"""Counter, bytes: written to a target."""
METADATA = "metadata_operations"
"""Counter, operations: of a metadata target, of all kinds together."""
KINDS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync"),
)
"""Counters, operations: of a metadata target by kind, as Lustre names them in md_stats; where
`METADATA` is not delivered, their sum stands for it."""
LOAD = "load"
"""Level, share: how busy a server is; 1: all its processors or disks are."""
USED_BYTES = "used_bytes"
TOTAL_BYTES = "total_bytes"
USED_FILES = "used_files"
"""Level, files: inodes that are in use."""
TOTAL_FILES = "total_files"
SERVICE_SECONDS = "service_seconds"
"""Counter, seconds: of reads and writes at a target, or of metadata operations.  On Lustre, that
of a write ends before the disks have it; newer versions count the transfer over the network."""
SERVICE_OPERATIONS = "service_operations"
"""Counter, operations: whose time is in `SERVICE_SECONDS`."""
IS_FAILED = "is_failed"
"""Level, 1: the target does not serve, as its server or monitor says; 0: it does."""
IS_SLOW = "is_slow"
"""Level, 1: the monitor judges the target to be slow; 0: it does not."""
METRICS = (
    *(READ, WRITE, METADATA, *KINDS, LOAD, USED_BYTES, TOTAL_BYTES, USED_FILES, TOTAL_FILES),
    *(SERVICE_SECONDS, SERVICE_OPERATIONS, IS_FAILED, IS_SLOW),
)

ADVICE = "advice"
"""Kind of an event that says what users should do; others are what happened: "outage",
"degraded", "slow-target", "maintenance", "change", ..."""
