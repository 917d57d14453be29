# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of our own library, with or without a trace in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stripewise.errors import TraceError
from stripewise.model import Evidence
from stripewise.readers import _container as c
from stripewise.readers._join import join_containers
from stripewise.readers._parse import RawContainer, read_container
from stripewise.readers._profile import Profile
from stripewise.readers._run_evidence import evidence_of
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
        return evidence_of(_read_all(paths))


def read_run(paths: Sequence[Path]) -> tuple[Profile, Evidence]:
    """Read the containers of one run, or directories of them, into both forms at once.

    Raises:
        TraceError: They are of several runs.
        ContainerError: One cannot be read, or is of another version.
    """
    raws = _read_all(paths)
    profile = join_containers(raws)
    return profile, evidence_of(raws, profile)


def _read_all(paths: Sequence[Path]) -> list[RawContainer]:
    """Read the containers that paths name, with their traces."""
    files: list[Path] = []
    for path in paths:
        files += containers_in(path) if path.is_dir() else [path]
    raws = []
    room: int | None = None
    for file in sorted(set(files)):
        raw = read_container(file, events=True, room=room)
        room = raw.trace.room
        raws.append(raw)
    runs = sorted({raw.run_id for raw in raws})
    if len(runs) > 1:
        named = ", ".join(runs[:3]) + (", ..." if len(runs) > 3 else "")
        raise TraceError(f"containers of {len(runs)} runs ({named}): name those of one run")
    return raws


def containers_in(directory: Path) -> list[Path]:
    """Containers in a directory, or, if there are none, in its subdirectories."""
    try:
        own = _containers(directory)
        if own:
            return own
        below = [_containers(entry) for entry in sorted(directory.iterdir()) if entry.is_dir()]
    except OSError:
        return []
    found = [files for files in below if files]
    return [file for files in found for file in files]


def _containers(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.glob("*.sw")) if begins_with(path, _MAGIC)]
