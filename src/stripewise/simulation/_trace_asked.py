# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced call asks of the storage."""

from __future__ import annotations

import re
from enum import IntEnum

import numpy as np


class Asked(IntEnum):
    """What is asked of the storage."""

    READ = 0
    WRITE = 1
    OPEN = 2
    CREATE = 3
    STAT = 4
    REMOVE = 5
    SYNC = 6


ASKED_ROW = np.dtype(
    [
        ("rank", "<i8"),
        ("what", "<i8"),  # `Asked`
        ("file", "<i8"),  # index into `Trace.paths`
        ("number", "<f8"),  # of requests or operations
        ("size", "<f8"),  # bytes of each
        ("begin", "<i8"),  # byte of the first one
        ("low", "<i8"),  # of all of them, the first byte
        ("high", "<i8"),  # and the end
        ("granule", "<i8"),  # that divides their places and sizes
        ("first", "<i8"),  # place of the first one in the order of the rank's calls
        ("last", "<i8"),  # and of the last one
        ("start_ns", "<i8"),  # of the first one
    ]
)
"""Equal calls of one rank."""

_STAT = re.compile(
    r"_*(posix_)?[flx]*(stat(x|fs|vfs)?|access|eaccess|euidaccess|truncate|allocate|chmod|chown"
    r"|utimens?|utimes?|(get|set|list|remove)xattr)(at)?(64)?"
)
_REMOVE = re.compile(r"(mkdir|rmdir|unlink|remove|rename|link|symlink)(at)?2?")


def operation_of(name: str) -> int:
    """Return what a call is that neither opens a file nor moves data; -1: nothing is asked."""
    if _STAT.fullmatch(name):
        return Asked.STAT
    return Asked.REMOVE if _REMOVE.fullmatch(name) else -1
