# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The directory that a probe works in, and what probes that were killed have left."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stripewise.errors import StorageError, StudyError
from stripewise.owned import OwnedDirectory

_KIND = "probe"
_BEGINNING_SECONDS = 10.0
"""A directory so young may belong to a probe that has not locked it yet."""


@contextmanager
def probe_place(directory: Path) -> Iterator[Path]:
    """Make a directory to measure in; remove it afterwards, and those of killed probes before.

    Args:
        directory: Where it is made.

    Raises:
        StorageError: It cannot be made.
    """
    for path in directory.absolute().glob(f".stripewise-{_KIND}-*"):
        with suppress(OSError, StudyError, StorageError):
            _remove_if_left(path)
    with OwnedDirectory.temporary(_KIND, directory) as work:
        descriptor = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield work
        finally:
            os.close(descriptor)


def _remove_if_left(path: Path) -> None:
    """Remove a directory that no living process has locked."""
    found = OwnedDirectory.find(path, _KIND)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(descriptor).st_mtime > _BEGINNING_SECONDS:
            found.discard()
    finally:
        os.close(descriptor)
