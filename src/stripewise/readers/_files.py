# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A profile -> what was observed of each file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import (
    DATA_OPS,
    READS,
    SIZE_EDGES,
    SYSTEM_LAYERS,
    FileFlag,
    FileHints,
    IoLayer,
    ObservedFile,
    Op,
    RunProfile,
)
from stripewise.readers._directories import owners
from stripewise.readers._rows import asked_bytes, groups

_DATA_FILE = re.compile(r"data\.\d+")
_ALIGNMENTS = {4096: 12, 65536: 16, 1 << 20: 20}
_WRITTEN = FileFlag.WRITTEN | FileFlag.OPENED_WRITE | FileFlag.CREATED


@dataclass(frozen=True)
class WrittenFiles:
    """Files that a run wrote, as paths relative to a directory, or absolute ones.

    Attributes:
        written: Opened for writing, or written.
        replaced: Written without a look at what they held before, all of it: emptied or made
            anew at open, or written from end to end.
    """

    written: frozenset[Path]
    replaced: frozenset[Path]


def relative_path(path: str, root: Path) -> Path:
    """`path` relative to `root` where it lies inside, otherwise as it is."""
    for base in (str(root), os.path.realpath(root)):
        if path.startswith(base.rstrip("/") + "/"):
            return Path(os.path.relpath(path, base))
    real = os.path.realpath(path)
    base = os.path.realpath(root)
    if real.startswith(base.rstrip("/") + "/"):
        return Path(os.path.relpath(real, base))
    return Path(path)


def observed_files(profile: RunProfile, root: Path) -> tuple[ObservedFile, ...]:
    """Tell what was observed of each file that was read or written, largest first.

    Args:
        profile: Of the run.
        root: Directory of the run; paths below it are given relative to it.
    """
    found = []
    for (path,), places in groups(owners(profile.counters, profile.paths)):
        rows = profile.counters[places]
        if _data_calls(rows).any() and not _internal(rows):
            name = str(relative_path(profile.paths[path], root))
            observed = _observe(profile, name, rows, profile.hints.get(path, FileHints()))
            found.append(_with_data_files(profile, observed, rows))
    found.sort(key=lambda file: (-(file.read_bytes + file.write_bytes), file.path))
    return tuple(found)


def written_files(profile: RunProfile, root: Path) -> WrittenFiles:
    """Tell which files any process wrote, the launcher and the shells too.

    Args:
        profile: Of the run.
        root: Directory of the run; paths below it are given relative to it.
    """
    everyone = np.concatenate([profile.counters, profile.helpers])
    flags = np.zeros(len(profile.paths), dtype=np.uint32)
    rows = everyone[everyone["layer"] != IoLayer.ADIOS2]
    np.bitwise_or.at(flags, rows["file"], rows["flags"])
    written = np.flatnonzero(flags & np.uint32(_WRITTEN))

    def named(files: Iterable[int]) -> frozenset[Path]:
        return frozenset(relative_path(profile.paths[file], root) for file in files)

    return WrittenFiles(named(written), named(_replaced(profile.paths, everyone, flags)))


def _replaced(
    paths: Sequence[str], rows: NDArray[Any], flags: NDArray[np.uint32]
) -> Iterator[int]:
    """Indices of paths whose earlier content cannot have mattered.

    What an MPI-IO library reads inside a write (data sieving) is no look at it; what HDF5
    reads may be, unless the file had been removed before.  The order of reads and of emptying
    is not known, so a file of which the program reads data at all stays.  A program that
    appends writes less than the file holds in the end.
    """
    reads = rows["count"][:, READS].sum(axis=1)
    is_system = np.isin(rows["layer"], SYSTEM_LAYERS)
    system = np.where(is_system, rows["bytes"][:, Op.WRITE], 0)

    def total(values: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(rows["file"], weights=values, minlength=len(paths))

    unread = total(reads) == 0
    no_data_read = total(rows["outermost_read_bytes"]) == 0
    no_hdf5 = total(rows["layer"] == IoLayer.HDF5) == 0
    removed = (flags & np.uint32(FileFlag.CREATED)) != 0
    emptied = (flags & np.uint32(FileFlag.TRUNCATED)) != 0
    anew = no_data_read & (removed | (emptied & (unread | no_hdf5)))
    written = np.maximum(total(rows["outermost_write_bytes"]), total(system))
    for row in np.flatnonzero(anew | (unread & (written > 0))).tolist():
        if anew[row] or written[row] >= _size(paths[row]):
            yield row


def _size(path: str) -> float:
    try:
        return os.path.getsize(path)
    except OSError:
        return inf


def _internal(rows: NDArray[Any]) -> bool:
    """Whether only an I/O library used the file, inside calls on another one.

    Open MPI keeps such a file beside its session for each file that it opens.
    """
    return not asked_bytes(rows).any() and bool(np.isin(rows["layer"], SYSTEM_LAYERS).all())


def _data_calls(rows: NDArray[Any]) -> NDArray[Any]:
    """(n_rows,) number of data calls."""
    return np.asarray(rows["count"][:, DATA_OPS].sum(axis=1))


def _observe(profile: RunProfile, name: str, rows: NDArray[Any], hints: FileHints) -> ObservedFile:
    system = system_rows(profile, rows)
    writes = system["count"][:, Op.WRITE]
    writing, reading = system[writes > 0], system[system["count"][:, Op.READ] > 0]
    issuer = "rank" if profile.is_mpi else "process"
    return ObservedFile(
        path=name,
        read_bytes=int(rows["outermost_read_bytes"].sum()),
        write_bytes=int(rows["outermost_write_bytes"].sum()),
        io_seconds=profile.seconds_of(rows),
        interface=IoLayer(int(rows["layer"][_data_calls(rows) > 0].max())).name.lower(),
        writers=len(set(writing[issuer].tolist())),
        readers=len(set(reading[issuer].tolist())),
        system_writes=int(writes.sum()),
        system_write_bytes=int(system["bytes"][:, Op.WRITE].sum()),
        system_reads=int(system["count"][:, Op.READ].sum()),
        system_read_bytes=int(system["bytes"][:, Op.READ].sum()),
        median_write_bytes=_median_write(writing),
        largest_write_bytes=int(writing["write_max"].max()) if writing.size else 0,
        aligned_fraction=_aligned(writing),
        requested=hints.requested,
        applied=hints.applied,
        reported=hints.reported,
    )


def system_rows(profile: RunProfile, rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of the system calls: what libc made of a stream's calls stands in for these."""
    system = rows[np.isin(rows["layer"], SYSTEM_LAYERS)]
    issued = profile.issued[np.isin(profile.issued["file"], rows["file"])]
    told = np.isin(system[["process", "file"]], issued[["process", "file"]])
    return np.concatenate([system[~told | (system["layer"] == IoLayer.POSIX)], issued])


def _with_data_files(
    profile: RunProfile, observed: ObservedFile, rows: NDArray[Any]
) -> ObservedFile:
    """Add into how many files ADIOS2 wrote, the one thing of its parameters that can be seen."""
    if observed.interface != "adios2":
        return observed
    written = np.unique(rows["file"][rows["count"][:, Op.WRITE] > 0])
    names = [os.path.basename(profile.paths[row]) for row in written]
    data_files = sum(_DATA_FILE.fullmatch(name) is not None for name in names)
    if not data_files:
        return observed
    return replace(observed, reported={**observed.reported, "NumSubFiles": str(data_files)})


def _median_write(writing: NDArray[Any]) -> int:
    """Approximate median size: the mean of its bin, as far as the other bins leave it open."""
    bins = writing["write_sizes"].sum(axis=0, dtype=np.int64)
    total = int(bins.sum())
    if not total:
        return 0
    smallest, largest = int(writing["write_min"].min()), int(writing["write_max"].max())
    place = int(np.searchsorted(np.cumsum(bins), (total + 1) // 2))
    edges = np.array([*SIZE_EDGES, largest], dtype=np.float64).clip(smallest, largest)
    lowest, highest = edges[:-1], edges[1:]
    others = np.where(np.arange(len(bins)) == place, 0, bins)
    written = float(writing["bytes"][:, Op.WRITE].sum())
    least = max((written - float(others @ highest)) / bins[place], lowest[place])
    most = min((written - float(others @ lowest)) / bins[place], highest[place])
    return int((least + most) / 2 + 0.5)


def _aligned(writing: NDArray[Any]) -> dict[int, float]:
    bins = writing["write_alignment"].sum(axis=0, dtype=np.int64)
    total = int(bins.sum())
    if not total:
        return {}
    return {size: float(bins[bit:].sum()) / total for size, bit in _ALIGNMENTS.items()}
