# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Profile -> what was observed of each file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ObservedFile
from stripewise.readers._container import ContainerLayer, FileFlag, Op, SettingsKind
from stripewise.readers._directories import SYSTEM_LAYERS
from stripewise.readers._profile import OpenedFiles, Profile

_SYSTEM = SYSTEM_LAYERS
_DATA_FILE = re.compile(r"data\.\d+")
_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
_BIN_EDGES = (0, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
_ALIGNMENTS = {4096: 12, 65536: 16, 1 << 20: 20}


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


def observed_files(profile: Profile, root: Path) -> tuple[ObservedFile, ...]:
    """One `ObservedFile` per file with data, by name relative to `root`, largest first."""
    records = profile.counted_records
    requested = _settings_of(profile)
    found = []
    owner = profile.owners[records["path"]]
    order = np.argsort(owner, kind="stable")
    ordered = records[order]
    paths, starts = np.unique(owner[order], return_index=True)
    for path, rows in zip(paths, np.split(ordered, starts[1:]), strict=False):
        if _data_calls(rows).any() and not _internal(rows):
            name = str(relative_path(profile.paths[path], root))
            observed = _observe(profile, name, rows, requested.get(int(path), {}))
            found.append(_with_data_files(profile, observed, rows))
    found.sort(key=lambda file: (-(file.read_bytes + file.write_bytes), file.path))
    return tuple(found)


def opened_files(profile: Profile, root: Path) -> OpenedFiles:
    """Files by how any process opened them, by name relative to `root`."""
    flags = np.zeros(len(profile.paths), dtype=np.uint32)
    records = profile.records[profile.records["layer"] != ContainerLayer.ADIOS2]
    np.bitwise_or.at(flags, records["path"], records["flags"])

    def having(bits: FileFlag) -> frozenset[Path]:
        rows = np.flatnonzero(flags & np.uint32(bits))
        return frozenset(relative_path(profile.paths[row], root) for row in rows)

    return OpenedFiles(
        read=having(FileFlag.READ | FileFlag.OPENED_READ),
        written=having(FileFlag.WRITTEN | FileFlag.OPENED_WRITE | FileFlag.CREATED),
        created=having(FileFlag.CREATED),
        replaced=frozenset(
            relative_path(profile.paths[row], root) for row in _replaced(profile, flags)
        ),
    )


def _replaced(profile: Profile, flags: NDArray[np.uint32]) -> Iterator[int]:
    """Indices of paths whose earlier content cannot have mattered.

    What an MPI-IO library reads inside a write (data sieving) is no look at it; what HDF5
    reads may be, unless the file had been removed before.  The order of reads and of emptying
    is not known, so a file of which the program reads data at all stays.  A program that
    appends writes less than the file holds in the end.
    """
    rows = profile.records
    reads = rows["ops"]["count"][:, [Op.READ, Op.READ_COLLECTIVE]].sum(axis=1)
    is_system = np.isin(rows["layer"], _SYSTEM)
    system = np.where(is_system, rows["ops"]["bytes"][:, Op.WRITE], 0)

    def total(values: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(rows["path"], weights=values, minlength=len(profile.paths))

    unread = total(reads) == 0
    no_data_read = total(rows["outermost_read_bytes"]) == 0
    no_hdf5 = total(rows["layer"] == ContainerLayer.HDF5) == 0
    removed = (flags & np.uint32(FileFlag.CREATED)) != 0
    emptied = (flags & np.uint32(FileFlag.TRUNCATED)) != 0
    anew = no_data_read & (removed | (emptied & (unread | no_hdf5)))
    written = np.maximum(total(rows["outermost_write_bytes"]), total(system))
    for row in np.flatnonzero(anew | (unread & (written > 0))):
        if anew[row] or written[row] >= _size(profile.paths[row]):
            yield int(row)


def _size(path: str) -> float:
    try:
        return os.path.getsize(path)
    except OSError:
        return inf


def _internal(rows: NDArray[Any]) -> bool:
    """Whether only an I/O library used the file, inside calls on another one.

    Open MPI keeps such a file beside its session for each file that it opens.
    """
    moved = rows["outermost_read_bytes"].sum() + rows["outermost_write_bytes"].sum()
    return not moved and bool(np.isin(rows["layer"], _SYSTEM).all())


def _data_calls(rows: NDArray[Any]) -> NDArray[Any]:
    """(n_rows,) number of data calls."""
    return np.asarray(rows["ops"]["count"][:, list(_DATA)].sum(axis=1))


def _observe(
    profile: Profile, name: str, rows: NDArray[Any], settings: dict[int, dict[str, str]]
) -> ObservedFile:
    seconds = np.zeros(len(profile.processes))
    np.add.at(seconds, rows["process"], rows["outermost_ns"] * 1e-9)
    system = rows[np.isin(rows["layer"], _SYSTEM)]
    writes = system["ops"]["count"][:, Op.WRITE]
    writing = system[writes > 0]
    return ObservedFile(
        path=name,
        read_bytes=int(rows["outermost_read_bytes"].sum()),
        write_bytes=int(rows["outermost_write_bytes"].sum()),
        io_seconds=profile.over_ranks(seconds),
        interface=ContainerLayer(int(rows["layer"][_data_calls(rows) > 0].max())).name.lower(),
        writers=_n_writers(profile, writing),
        system_writes=int(writes.sum()),
        system_write_bytes=int(system["ops"]["bytes"][:, Op.WRITE].sum()),
        median_write_bytes=_median_write(writing),
        largest_write_bytes=int(writing["write_max"].max()) if writing.size else 0,
        aligned_fraction=_aligned(writing),
        requested=settings.get(SettingsKind.PROGRAM, {}),
        applied=settings.get(SettingsKind.APPLIED, {}),
        reported=settings.get(SettingsKind.REPORTED, {}),
    )


def _with_data_files(profile: Profile, observed: ObservedFile, rows: NDArray[Any]) -> ObservedFile:
    """Add into how many files ADIOS2 wrote, the one thing of its parameters that can be seen."""
    if observed.interface != "adios2":
        return observed
    written = np.unique(rows["path"][rows["ops"]["count"][:, Op.WRITE] > 0])
    names = [os.path.basename(profile.paths[row]) for row in written]
    data_files = sum(_DATA_FILE.fullmatch(name) is not None for name in names)
    if not data_files:
        return observed
    return replace(observed, reported={**observed.reported, "NumSubFiles": str(data_files)})


def _n_writers(profile: Profile, writing: NDArray[Any]) -> int:
    owners = np.unique(writing["process"])
    if not profile.is_rank.any():
        return int(owners.size)
    return int(np.unique(profile.processes["rank"][owners]).size)


def _median_write(writing: NDArray[Any]) -> int:
    """Approximate median size: the middle of its bin, within what was seen."""
    bins = writing["write_sizes"].sum(axis=0, dtype=np.int64)
    total = int(bins.sum())
    if not total:
        return 0
    smallest, largest = int(writing["write_min"].min()), int(writing["write_max"].max())
    if np.count_nonzero(bins) == 1:
        written = int(writing["ops"]["bytes"][:, Op.WRITE].sum())
        return min(max(written // total, smallest), largest)
    place = int(np.searchsorted(np.cumsum(bins), (total + 1) // 2))
    upper = _BIN_EDGES[place + 1] if place + 1 < len(_BIN_EDGES) else largest
    return min(max((_BIN_EDGES[place] + upper) // 2, smallest), largest)


def _aligned(writing: NDArray[Any]) -> dict[int, float]:
    bins = writing["write_alignment"].sum(axis=0, dtype=np.int64)
    total = int(bins.sum())
    if not total:
        return {}
    return {size: float(bins[bit:].sum()) / total for size, bit in _ALIGNMENTS.items()}


def _settings_of(profile: Profile) -> dict[int, dict[int, dict[str, str]]]:
    """Path index to settings kind to key to value; the lowest rank's word counts."""
    found: dict[int, dict[int, dict[str, str]]] = {}
    of_pnetcdf = set(profile.records["path"][profile.records["layer"] == ContainerLayer.PNETCDF])
    ranks = profile.processes["rank"]
    for entry in sorted(profile.settings, key=lambda entry: -int(ranks[entry.process])):
        passed_on = entry.layer == ContainerLayer.MPIIO and entry.path in of_pnetcdf
        if passed_on and entry.kind == SettingsKind.PROGRAM:
            continue  # PnetCDF's words, the program's among them are in its own layer
        if entry.path >= 0:
            found.setdefault(entry.path, {}).setdefault(entry.kind, {}).update(entry.values)
    return found
