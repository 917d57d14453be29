# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directories for a while, and what processes that were killed have left of them."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stripewise.errors import StorageError, StudyError
from stripewise.owned._directory import OwnedDirectory, leave_mark, open_folder

_BEGINNING_SECONDS = 10.0
"""A directory so young may belong to a process that has not locked it yet."""


@contextmanager
def temporary_directory(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a directory under a new name, and remove it with all that came into it.

    Those of the same kind that killed processes of this host have left beside it are removed
    first.  What cannot be removed, or is no longer what was made, is left where it is: the work
    in it is done.

    Args:
        kind: What for; it is in the name.
        parent: Where; `TMPDIR` if not given.

    Raises:
        StorageError: It cannot be made.
    """
    place = Path(parent or tempfile.gettempdir()).absolute()
    prefix = f".stripewise-{kind}-"
    for path in place.glob(f"{prefix}*"):
        with suppress(OSError, StudyError, StorageError):
            _remove_if_left(path, kind)
    try:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with open_folder(path) as folder:
            leave_mark(folder, path, kind, made=True)
    except OSError as error:
        raise StorageError(f"no {kind} directory in {place}: {error.strerror}") from error
    made = OwnedDirectory.find(path, kind)
    try:
        with open_folder(path) as folder:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield path
    finally:
        with suppress(StudyError, StorageError):
            made.discard()


def _remove_if_left(path: Path, kind: str) -> None:
    """Remove a directory that no living process has locked."""
    found = OwnedDirectory.find(path, kind)
    if found.host != os.uname().nodename:
        return
    with open_folder(path) as folder:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(folder).st_mtime > _BEGINNING_SECONDS:
            found.discard()
