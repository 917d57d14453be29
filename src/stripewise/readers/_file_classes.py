# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A profile -> classes of files with different behaviour, for settings of their own; in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import (
    ALL_RANKS,
    COLLECTIVE_OPS,
    DATA_OPS,
    SYSTEM_LAYERS,
    FileClass,
    FileFlag,
    IoLayer,
    RunProfile,
)
from stripewise.readers._directories import owners
from stripewise.readers._file_globs import file_family, glob_of
from stripewise.readers._files import NamesBelow, system_rows
from stripewise.readers._rows import asked_bytes, groups
from stripewise.text import printable, size_text

REAL_SHARE = 0.1
"""Of the I/O time: what has less is not worth settings of its own (chosen)."""
APART = 8.0
"""Sizes of requests that lie so far apart are different behaviour, and so is how many times the
bytes reach the storage (chosen)."""
_NAMES = {
    "posix": "POSIX", "stdio": "stdio", "mpiio": "MPI-IO", "pnetcdf": "PnetCDF", "hdf5": "HDF5",
    "adios2": "ADIOS2",
}  # fmt: skip
_MANIFOLD = 2.0
"""What less than doubles the bytes goes without saying."""


@dataclass(frozen=True)
class _File:
    """One file: its name below the run's directory, its behaviour as a class of its own."""

    name: str
    behaviour: FileClass
    seconds: float

    @property
    def kind(self) -> FileClass:
        """Return what must be equal in a class."""
        return replace(self.behaviour, call_bytes=0, amplification=0.0)


def file_classes(profile: RunProfile, root: Path) -> tuple[FileClass, ...]:
    """Tell classes of files apart, the one with most I/O time first.

    Returns:
        Classes with a real share of the I/O time; none unless there are at least two that
        behave differently.

    Args:
        profile: Of the run.
        root: Directory of the run; names are those below it.
    """
    files = list(_files(profile, root))
    seconds = sum(file.seconds for file in files)
    groups = [g for g in _groups(files) if _seconds(g) >= REAL_SHARE * seconds > 0]
    if len(groups) < 2:
        return ()
    seen = [file.name for file in files]
    found = [_class(part, match, seconds) for g in groups for part, match in _named(g, seen)]
    real = [one for one in found if one.io_share >= REAL_SHARE]
    return tuple(sorted(real, key=lambda one: (-one.io_share, one.match)))


def _files(profile: RunProfile, root: Path) -> Iterator[_File]:
    rows, name = profile.counters, NamesBelow(root)
    for (path,), places in groups(owners(rows, profile.paths)):
        own, by = rows[places], profile.actors[places]
        used = own["count"][:, DATA_OPS].any(axis=1)
        if used.any() and asked_bytes(own).any():
            yield _File(
                name(profile.paths[path]),
                _behaviour(profile, own[used], by[used], own),
                float(own["outermost_seconds"].sum()),
            )


def _behaviour(
    profile: RunProfile, used: NDArray[Any], actors: NDArray[np.int64], rows: NDArray[Any]
) -> FileClass:
    """Describe a file by the rows of one that moved data, and by all of its rows."""
    read = int(rows["outermost_read_bytes"].sum())
    written = int(rows["outermost_write_bytes"].sum())
    layers = sorted({IoLayer(int(layer)) for layer in used["layer"]}, reverse=True)
    if len(layers) > 1:
        layers = [layer for layer in layers if layer not in SYSTEM_LAYERS] or layers[:1]
    top = used[used["layer"] == layers[0]]
    mpiio = used[used["layer"] == IoLayer.MPIIO]
    system = system_rows(profile, rows)["bytes"][:, DATA_OPS].sum()
    together = int(mpiio["bytes"][:, COLLECTIVE_OPS].sum())
    return FileClass(
        match="",
        layers=tuple(layer.name.lower() for layer in layers),
        writes=written >= REAL_SHARE * (read + written),
        reads=read >= REAL_SHARE * (read + written),
        collective=2 * together > int(mpiio["bytes"][:, DATA_OPS].sum()),
        noncontiguous=bool((mpiio["flags"] & FileFlag.INTERLEAVED).any()),
        shared=bool((actors == ALL_RANKS).any() or len(np.unique(actors)) > 1),
        amplification=round(float(system / (read + written)), 2),
        call_bytes=int(top["bytes"][:, DATA_OPS].sum() / top["count"][:, DATA_OPS].sum()),
    )


def _groups(files: Sequence[_File]) -> Iterator[list[_File]]:
    """Yield files that behave alike, with no wide gap between their figures."""
    alike: dict[FileClass, list[_File]] = defaultdict(list)
    for file in files:
        alike[file.kind].append(file)
    for group in alike.values():
        for part in _apart(group, lambda file: file.behaviour.call_bytes):
            yield from _apart(part, lambda file: file.behaviour.amplification)


def _apart(files: list[_File], figure: Callable[[_File], float]) -> Iterator[list[_File]]:
    """Cut files where a figure of one is many times that of the next smaller one."""
    ordered = sorted(files, key=figure)
    part = ordered[:1]
    for before, file in pairwise(ordered):
        if figure(file) >= APART * max(1.0, figure(before)):
            yield part
            part = []
        part.append(file)
    yield part


def _named(group: list[_File], seen: Sequence[str]) -> Iterator[tuple[list[_File], str]]:
    """Yield a group with its glob; by families of names where no one glob fits all of it."""
    match = glob_of([file.name for file in group], seen)
    if match:
        yield group, match
        return
    families: dict[str, list[_File]] = defaultdict(list)
    for file in group:
        families[file_family(file.name)].append(file)
    for part in families.values():
        yield part, glob_of([file.name for file in part], seen)


def _class(files: Sequence[_File], match: str, seconds: float) -> FileClass:
    middle = sorted(files, key=lambda file: file.behaviour.call_bytes)[len(files) // 2]
    return replace(
        middle.behaviour,
        match=match,
        n_files=len(files),
        io_share=round(_seconds(files) / seconds, 4),
    )


def _seconds(files: Sequence[_File]) -> float:
    return sum(file.seconds for file in files)


def class_phrase(files: FileClass) -> str:
    """Say which files they are and what is done to them.

    "plt*.h5 (3 files written through HDF5 and MPI-IO, collective, each shared by ranks, 1 MiB a
    call, 61 % of the I/O time)"
    """
    ways = " and ".join(
        word for word, used in (("written", files.writes), ("read", files.reads)) if used
    )
    through = " and ".join(_NAMES.get(layer, layer) for layer in files.layers)
    said = [f"{files.n_files} file{'' if files.n_files == 1 else 's'} {ways} through {through}"]
    if "mpiio" in files.layers:
        said.append("collective" if files.collective else "independent")
    if files.noncontiguous:
        said.append("in pieces that lie apart")
    said.append("shared by ranks" if files.shared else "each used by one rank")
    said.append(f"{size_text(files.call_bytes)} a call")
    if files.amplification >= _MANIFOLD:
        said.append(f"{files.amplification:.0f} times the bytes at the storage")
    said.append(f"{100 * files.io_share:.0f} % of the I/O time")
    name = printable(files.match) if files.match else "no name of their own"
    return f"{name} ({', '.join(said)})"
