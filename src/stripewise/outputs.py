# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stripewise.errors import StorageError


@contextmanager
def whole_file(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Give a path beside `path` to write to; it becomes `path` when all went well.

    Raises:
        StorageError: The file system refuses.
    """
    place = None
    with _said(path):
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            place = Path(name)
            os.fchmod(handle, mode)
            os.close(handle)
            yield place
            place.replace(path)
        finally:
            if place is not None:
                place.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that the user named; a link is followed, an old file keeps its mode.

    Raises:
        StorageError: It cannot be written.
    """
    data = os.fsencode(content)
    with _said(path):
        target = path.resolve() if path.is_symlink() else path
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a terminal or a pipe
            return
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_mask()
    with whole_file(target, mode) as place, place.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:  # it says itself what was refused
        raise
    except OSError as error:
        why = error.strerror or error
        raise StorageError(f"cannot write {path}: {why}: choose another place") from error


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
