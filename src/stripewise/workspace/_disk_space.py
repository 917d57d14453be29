# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a directory has room, quota included."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from pathlib import Path

from stripewise.errors import StorageError

RESERVE_BYTES = 64 << 20
"""Left free on every file system: journals, reports, other users' small files."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_bytes(size: int) -> str:
    """Format a number of bytes for people."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{size} bytes"


def check_free(directory: Path, needed_bytes: int, purpose: str) -> None:
    """Refuse when the file system has less than `needed_bytes` and a reserve free.

    Raises:
        StorageError: What is needed, what is free, and the remedy.
    """
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        raise StorageError(f"cannot use {directory}: {error.strerror or error}") from error
    if free < needed_bytes + RESERVE_BYTES:
        wanted = f"{format_bytes(needed_bytes)} and {format_bytes(RESERVE_BYTES)} of reserve"
        raise StorageError(_refusal(directory, wanted, purpose, format_bytes(free)))


def check_quota(directory: Path, needed_bytes: int, purpose: str) -> None:
    """Refuse when a quota does not allow `needed_bytes`; asked by reserving them for a moment.

    File systems that cannot reserve space are not asked.

    Raises:
        StorageError: The quota, or the file system, refuses so much.
    """
    if needed_bytes <= 0:
        return
    try:
        with tempfile.TemporaryFile(dir=directory, prefix=".space-") as stream:
            code = _reserve(stream.fileno(), needed_bytes)
    except OSError as error:
        raise StorageError(f"cannot write in {directory}: {error.strerror or error}") from error
    if code in (errno.EDQUOT, errno.ENOSPC):
        wanted = format_bytes(needed_bytes)
        raise StorageError(_refusal(directory, wanted, purpose, os.strerror(code).lower()))


def _reserve(file: int, size: int) -> int:
    """Call fallocate (the libc function posix_fallocate would write every block instead)."""
    fallocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if fallocate is None:
        return errno.EOPNOTSUPP
    fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return 0 if fallocate(file, 0, 0, size) == 0 else ctypes.get_errno()


def _refusal(directory: Path, needed: str, purpose: str, available: str) -> str:
    return (
        f"{purpose} needs {needed} in {directory}, and there is: {available}; "
        "make room, or put the study elsewhere with --study-dir"
    )
