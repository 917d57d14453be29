# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Appends runs to a surface's file, each on the disk before the next begins."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from stripewise.errors import StorageError
from stripewise.owned import append_durably
from stripewise.surfaces._lines import SurfaceRun, run_to_line
from stripewise.surfaces._surface import Surface


class SurfaceWriter(AbstractContextManager["SurfaceWriter"]):
    """A context manager around the open file."""

    def __init__(self, path: Path, surface: Surface) -> None:
        """Begin a file with the surface's header, or go on after the runs of an existing one.

        Raises:
            StorageError: It cannot be opened or written.
        """
        self._path = path
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(path, flags, 0o644)
            self._drop_torn_line()
            if not os.fstat(self._descriptor).st_size:
                append_durably(self._descriptor, surface.header_line().encode())
        except OSError as error:
            raise self._failed(error) from error

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def append(self, run: SurfaceRun) -> None:
        """Write one run; it is on the disk when this returns.

        Raises:
            StorageError: The disk is full, or refuses.
        """
        try:
            append_durably(self._descriptor, run_to_line(run).encode())
        except OSError as error:
            raise self._failed(error) from error

    def _drop_torn_line(self) -> None:
        content = self._path.read_bytes()
        os.ftruncate(self._descriptor, content.rfind(b"\n") + 1)

    def _failed(self, error: OSError) -> StorageError:
        why = error.strerror or error
        return StorageError(f"cannot write {self._path}: {why}; make room, go on with --resume")
