# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the files through which the tuner and the agent of an allocation communicate.

Each file has one writer and keeps its inode and size: it is overwritten in place, so that a full
disk cannot stop it and that network file systems show its content as soon as it is opened.  A new
file is opened only after it was announced in one of these files, since NFS may hide a file for a
minute after a failed look-up of its name.

The agent imports this file without the package, so it uses only the standard library.
"""

from __future__ import annotations

import errno
import json
import os

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

TUNER = "tuner.json"
"""File of the tuner: beat, orders (the newest), cancel (numbers), stop."""
AGENT = "agent.json"
"""File of the agent: beat, instance, job_id, state, order (last begun), ended (all up to it)."""
STATE = "state.json"
"""File of the tuner, replaced atomically: the submission, and data for the agent."""
RAN = "ran.json"
"""File in a run's record: the result before the agent added to it."""

SIZE_BYTES = 4096


def order_name(number: int) -> str:
    """Return the name of the file with an order."""
    return f"order-{number:04d}.json"


def overwrite(path: str, data: dict[str, Any]) -> None:
    """Write one of the files in place.

    Raises:
        OSError: It is new and there is not enough space for it, or its disk is unavailable.
    """
    text = json.dumps(data).encode("ascii")
    if len(text) >= SIZE_BYTES:
        raise ValueError(f"{path}: {len(text)} bytes")
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        if os.pwrite(file, text.ljust(SIZE_BYTES - 1) + b"\n", 0) != SIZE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        os.fsync(file)
    finally:
        os.close(file)


def read(path: str) -> dict[str, Any] | None:
    """Read one of the files; return None if it does not exist or is being written."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            value = json.loads(os.read(file, 1 << 24))
        finally:
            os.close(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def replace(path: str, data: dict[str, Any]) -> None:
    """Write a private file atomically.

    Raises:
        OSError: The disk is full, read-only, or refuses.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(f"{path}.tmp", flags, 0o600)
    try:
        with open(file, "wb", closefd=False) as stream:
            stream.write(json.dumps(data).encode("ascii"))
        os.fsync(file)
    finally:
        os.close(file)
    os.rename(f"{path}.tmp", path)
