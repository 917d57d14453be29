# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a storage costs: measured once per file system, kept, and read again."""

from stripewise.machines._costs import COPY, Exchange, Interval, Storage, around
from stripewise.machines._exchange import Stack, measure_exchange
from stripewise.machines._keep import (
    load_storage,
    read_storage,
    storage_file,
    write_storage,
)
from stripewise.machines._mount import find_mount
from stripewise.machines._probe import measure_storage

__all__ = [
    "COPY",
    "Exchange",
    "Interval",
    "Stack",
    "Storage",
    "around",
    "find_mount",
    "load_storage",
    "measure_exchange",
    "measure_storage",
    "read_storage",
    "storage_file",
    "write_storage",
]
