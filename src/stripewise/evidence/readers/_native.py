# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads containers of our own library, and copies those of each node to one directory."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from stripewise.core import whole_file
from stripewise.core.errors import StorageError, TraceError
from stripewise.core.inputs import CONTAINER, open_input
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers import container_bytes, open_store, parse_header, read_run
from stripewise.evidence.readers._base import Source, begins_with
from stripewise.evidence.trace import Evidence

_MAGIC = c.CONTAINER_MAGIC.to_bytes(8, "little")


class NativeSource(Source):
    """One container, or a directory with those of one run (one per node)."""

    name = "stripewise"
    summary = "a container of Stripewise (*.sw) or a directory of them"
    kind = "trace"
    budget = CONTAINER

    def recognises(self, path: Path) -> bool:
        """Look for the magic number; in a directory, in any of its *.sw files."""
        if path.is_dir():
            return bool(containers_in(path))
        return begins_with(path, _MAGIC)

    def read_one(self, path: Path) -> Evidence:
        """Read one container, or all of a directory."""
        return self.read_several([path])

    def read_several(self, paths: Sequence[Path]) -> Evidence:
        """Read the containers of one run.

        Raises:
            TraceError: The containers belong to several runs.
            ContainerError: A container cannot be read, or has another version.
        """
        files = [f for path in paths for f in (containers_in(path) if path.is_dir() else [path])]
        return read_run(files)


def containers_in(directory: Path) -> list[Path]:
    """Return the containers in a directory, or, if there are none, in its subdirectories."""
    try:
        below = (entry for entry in sorted(directory.iterdir()) if entry.is_dir())
        return _containers(directory) or [file for entry in below for file in _containers(entry)]
    except OSError:
        return []


def _containers(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.glob("*.sw")) if begins_with(path, _MAGIC)]


# Collection of containers from the nodes that wrote them in a directory that all can read.

_PIECE = 1 << 20


def containers_below(paths: Sequence[Path]) -> list[Path]:
    """Return the containers that paths name: files, and files directly in directories.

    Raises:
        TraceError: A path is neither a container nor a directory.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += [entry for entry in sorted(path.glob("*.sw")) if begins_with(entry, _MAGIC)]
        elif begins_with(path, _MAGIC):
            found.append(path)
        else:
            raise TraceError(f"{path}: neither a container of Stripewise nor a directory of them")
    return found


def collect_containers(sources: Sequence[Path], destination: Path) -> list[Path]:
    """Copy containers into a directory that all nodes see; each node collects its own.

    Each copy appears completely or not at all, readable only by its owner. Existing equal copies
    are kept; several nodes may collect into one directory at once.

    Args:
        sources: Containers, or directories of them; they remain where they are.
        destination: Directory for the copies; created if it does not exist.

    Returns:
        Paths of the copies.

    Raises:
        TraceError: A source is not a container, there is none, or they, together with the contents
            of the destination, belong to several runs.
        StorageError: The destination cannot be written.
    """
    files = containers_below(sources)
    if not files:
        named = ", ".join(map(str, sources))
        raise TraceError(f"no containers in {named} on {socket.gethostname()}: nothing to collect")
    present = containers_below([destination]) if destination.is_dir() else []
    _same_run([*files, *present])
    try:
        destination.mkdir(mode=0o700, parents=True, exist_ok=True)
        return [_copy(file, destination / file.name) for file in files]
    except OSError as error:
        raise StorageError(f"cannot collect into {destination}: {error.strerror}") from error


def _same_run(files: Sequence[Path]) -> None:
    runs = set()
    for file in files:
        with open_store(file) as store:
            runs.add(parse_header(store).run_id)
    if len(runs) > 1:
        raise TraceError(
            f"containers of {len(runs)} runs ({', '.join(sorted(runs)[:3])}): "
            "collect each run into a directory of its own"
        )


def _copy(source: Path, target: Path) -> Path:
    left = container_bytes(source)
    with whole_file(target) as place, place.open("wb") as out, open_input(source) as data:
        while left and (piece := data.read(min(left, _PIECE))):
            out.write(piece)
            left -= len(piece)
        out.flush()
        os.fsync(out.fileno())
    return target
