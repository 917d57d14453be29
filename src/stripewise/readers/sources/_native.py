# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of our own library, with or without a trace in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stripewise.model import Evidence
from stripewise.readers import _container as c
from stripewise.readers._join import read_run
from stripewise.readers.sources._base import Source, begins_with

_MAGIC = c.CONTAINER_MAGIC.to_bytes(8, "little")


class NativeSource(Source):
    """One container, or a directory with those of one run (one per node)."""

    name = "stripewise"
    summary = "a container of Stripewise (*.sw) or a directory of them"

    def recognises(self, path: Path) -> bool:
        """Look for the magic number, in a directory in any of its *.sw."""
        if path.is_dir():
            return bool(containers_in(path))
        return begins_with(path, _MAGIC)

    def read(self, path: Path) -> Evidence:
        """Read one container, or all of a directory."""
        return self.read_several([path])

    def read_several(self, paths: Sequence[Path]) -> Evidence:
        """Read the containers of one run.

        Raises:
            TraceError: They are of several runs.
            ContainerError: One cannot be read, or is of another version.
        """
        files = [f for path in paths for f in (containers_in(path) if path.is_dir() else [path])]
        return read_run(files)


def containers_in(directory: Path) -> list[Path]:
    """Containers in a directory, or, if there are none, in its subdirectories."""
    try:
        below = (entry for entry in sorted(directory.iterdir()) if entry.is_dir())
        return _containers(directory) or [file for entry in below for file in _containers(entry)]
    except OSError:
        return []


def _containers(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.glob("*.sw")) if begins_with(path, _MAGIC)]
