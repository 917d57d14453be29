# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports what was observed of each file of a profile; an ADIOS2 directory counts as one file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from stripewise.core import ObservedFile, ReportedPart, reasons
from stripewise.evidence.trace import (
    ALL_RANKS,
    DATA_OPS,
    READS,
    RECORDED_LAYERS,
    SIZE_EDGES,
    SYSTEM_LAYERS,
    FileFlag,
    FileHints,
    IoLayer,
    Op,
    RunProfile,
    begins,
)

_DATA_FILE = re.compile(r"data\.\d+")
_ALIGNMENTS = {4096: 12, 65536: 16, 1 << 20: 20}
_ISSUER_BITS = 32
_SMALLEST_ISSUER = -ALL_RANKS
_INTERFACES = tuple(layer.name.lower() for layer in RECORDED_LAYERS)
_NO_HINTS = FileHints()
_WRITTEN = FileFlag.WRITTEN | FileFlag.OPENED_WRITE | FileFlag.CREATED


@dataclass(frozen=True)
class WrittenFiles:
    """Files that a run wrote, as paths relative to a directory, or absolute ones.

    Attributes:
        written: Files opened for writing, or written.
        replaced: Files whose earlier content was entirely replaced without being read: truncated
            or created at open, or written from end to end.
    """

    written: frozenset[Path]
    replaced: frozenset[Path]


class NamesBelow:
    """Converts paths to relative ones if they are inside a directory, also through links."""

    def __init__(self, root: Path) -> None:
        self._bases = tuple(
            base.rstrip("/") + "/" for base in dict.fromkeys((str(root), os.path.realpath(root)))
        )
        self._real: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """Return the relative name of a path, or the path itself if it is outside."""
        ended = path + "/"
        if path[:1] != "/" or "//" in ended or "/./" in ended or "/../" in ended:
            return self._relative_name(path)
        for base in self._bases:
            if path.startswith(base):
                return path[len(base) :]
        return self._below(self._resolved(path)) or path

    def _relative_name(self, path: str) -> str:
        for base in self._bases:
            if path.startswith(base):
                return str(Path(os.path.relpath(path, base)))
        return self._below(os.path.realpath(path)) or str(Path(path))

    def _below(self, real: str) -> str:
        base = self._bases[-1]
        return real[len(base) :] if real.startswith(base) else ""

    def _resolved(self, path: str) -> str:
        """Return the real path; each directory is resolved only once."""
        if os.path.islink(path):
            return os.path.realpath(path)
        parent, _, name = path.rpartition("/")
        if parent not in self._real:
            self._real[parent] = os.path.realpath(parent or "/")
        return os.path.join(self._real[parent], name)


def relative_path(path: str, root: Path) -> Path:
    """Return `path` relative to `root` if it is inside, otherwise unchanged."""
    return Path(NamesBelow(root)(path))


def observed_files(profile: RunProfile, root: Path) -> tuple[ObservedFile, ...]:
    """Return what was observed of each file that was read or written, largest first.

    Args:
        profile: Profile of the run.
        root: Directory of the run; paths below it are given relative to it.
    """
    return tuple(FilesSeen(profile, root))


def written_files(profile: RunProfile, root: Path) -> WrittenFiles:
    """Return the files that any process wrote, including the launcher and shells.

    Args:
        profile: Profile of the run.
        root: Directory of the run; paths below it are given relative to it.
    """
    everyone = np.concatenate([profile.counters, profile.helpers])
    flags = np.zeros(len(profile.paths), dtype=np.uint32)
    rows = everyone[everyone["layer"] != IoLayer.ADIOS2]
    np.bitwise_or.at(flags, rows["file"], rows["flags"])
    written = np.flatnonzero(flags & np.uint32(_WRITTEN))

    name = NamesBelow(root)

    def named(files: Iterable[int]) -> frozenset[Path]:
        return frozenset(Path(name(profile.paths[file])) for file in files)

    return WrittenFiles(named(written), named(_replaced(profile.paths, everyone, flags)))


def _replaced(
    paths: Sequence[str], rows: NDArray[Any], flags: NDArray[np.uint32]
) -> Iterator[int]:
    """Yield the indices of paths whose earlier content cannot have mattered.

    Reads of an MPI-IO library inside a write (data sieving) do not use that content; reads of HDF5
    may, unless the file had been removed before. The order of reads and truncation is unknown, so
    a file of which the program reads any data is left out. A program that appends writes less than
    the file's final size.
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


def system_rows(profile: RunProfile, rows: NDArray[Any]) -> NDArray[Any]:
    """Return the rows of system calls; for streams, the calls that libc made for them."""
    issued = profile.issued[np.isin(profile.issued["file"], rows["file"])]
    return np.concatenate([rows[_are_system(rows, issued)], issued])


def _are_system(rows: NDArray[Any], issued: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether rows are of system calls, without streams in `issued`."""
    counted, of_libc = (_pairs(some["process"], some["file"]) for some in (rows, issued))
    covered = np.isin(counted, of_libc)
    posix, stdio = (rows["layer"] == layer for layer in (IoLayer.POSIX, IoLayer.STDIO))
    return np.asarray(posix | (stdio & ~covered))


class FilesSeen(Sequence[ObservedFile]):
    """Observations of each file that was read or written, largest first.

    All files are analysed at once; the observation of one file is assembled when it is requested.
    Files that only an I/O library used, inside calls on another file, are not included: Open MPI
    keeps such a file beside its session for each file that it opens.

    Args:
        profile: Profile of the run.
        root: Directory of the run; paths below it are given relative to it.
    """

    def __init__(self, profile: RunProfile, root: Path) -> None:
        rows = profile.counters
        self._profile = profile
        self._n = len(profile.paths)
        owner_of = owners_of_paths(rows, profile.paths)
        owner = owner_of[rows["file"]]
        moves = rows["count"][:, DATA_OPS].any(axis=1)
        self._owner, self._moves = owner, moves
        self._interface = np.zeros(self._n, np.int64)
        np.maximum.at(self._interface, owner[moves], rows["layer"][moves])
        self._read = self._sums(owner, rows["outermost_read_bytes"])
        self._written = self._sums(owner, rows["outermost_write_bytes"])
        used, above = np.zeros(self._n, bool), np.zeros(self._n, bool)
        used[owner[moves]] = True
        above[owner[~np.isin(rows["layer"], SYSTEM_LAYERS)]] = True
        requested = self._read + self._written
        self._missing = _missing(profile, owner_of)
        unknown = np.zeros(self._n, bool)
        unknown[[file for file, lacks in self._missing.items() if _BYTES & lacks.keys()]] = True
        found = np.flatnonzero((used & (above | (requested != 0))) | unknown).tolist()
        self._seconds = _seconds_by(owner, self._n, profile)
        self._sum_system_calls(owner_of)
        name = NamesBelow(root)
        names = {file: name(profile.paths[file]) for file in found}
        found.sort(key=names.__getitem__)
        order = np.argsort(-requested[found], kind="stable")
        self._files = [found[place] for place in order.tolist()]
        self._names = [names[file] for file in self._files]

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._files)

    @overload
    def __getitem__(self, place: int) -> ObservedFile: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ObservedFile, ...]: ...
    def __getitem__(self, place: int | slice) -> ObservedFile | tuple[ObservedFile, ...]:
        """Return one file, or several."""
        if isinstance(place, slice):
            return tuple(self._observations(range(*place.indices(len(self)))))
        return next(self._observations([range(len(self))[place]]))

    def __iter__(self) -> Iterator[ObservedFile]:
        """Yield all files."""
        return self._observations(range(len(self)))

    def _observations(self, places: Sequence[int]) -> Iterator[ObservedFile]:
        files = [self._files[place] for place in places]
        hints = [self._profile.hints.get(file, _NO_HINTS) for file in files]
        columns = (
            [self._names[place] for place in places],
            self._read[files].tolist(),
            self._written[files].tolist(),
            self._seconds[files].tolist(),
            [_INTERFACES[layer] for layer in self._interface[files].tolist()],
            *(
                by_op[op][files].tolist()
                for by_op, op in (
                    (self._issuers, Op.WRITE), (self._issuers, Op.READ),
                    (self._calls, Op.WRITE), (self._bytes, Op.WRITE),
                    (self._calls, Op.READ), (self._bytes, Op.READ),
                )
            ),
            self._median_writes(files),
            self._largest[files].tolist(),
            self._aligned_fractions(files),
            [dict(one.requested) for one in hints],
            [dict(one.applied) for one in hints],
            [dict(one.reported) for one in hints],
            [self._missing.get(file, {}) for file in files],
        )  # fmt: skip
        for file, values in zip(files, zip(*columns, strict=True), strict=True):
            observed = ObservedFile(*values)
            adios2 = observed.interface == "adios2"
            yield self._add_data_file_count(observed, file) if adios2 else observed

    def _sums(self, owner: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
        sums = np.zeros((self._n, *values.shape[1:]), np.int64)
        np.add.at(sums, owner, values)
        return sums

    def _sum_system_calls(self, owner_of: NDArray[np.int64]) -> None:
        """Sum up the system calls of each file, and the sizes and alignments of its writes."""
        rows, issued = self._profile.counters, self._profile.issued
        known = np.zeros(self._n, bool)
        known[rows["file"]] = True
        parts = [
            (rows, np.flatnonzero(_are_system(rows, issued))),
            (issued, np.flatnonzero(known[issued["file"]])),
        ]

        def column(name: str, op: Op | None = None) -> NDArray[Any]:
            found = np.concatenate([some[name][places] for some, places in parts])
            return found if op is None else found[:, op]

        owner = owner_of[column("file")]
        issuer = column("rank" if self._profile.is_mpi else "process")
        self._issuers, self._calls, self._bytes = {}, {}, {}
        for op in (Op.READ, Op.WRITE):
            calls = column("count", op)
            pairs = np.sort(_pairs(owner, issuer)[calls > 0])
            single = pairs[begins(pairs)] >> _ISSUER_BITS
            self._issuers[op] = np.bincount(single, minlength=self._n)
            self._calls[op] = self._sums(owner, calls)
            self._bytes[op] = self._sums(owner, column("bytes", op))
        writes = calls > 0
        self._largest = np.zeros(self._n, np.int64)
        self._smallest = np.full(self._n, np.iinfo(np.int64).max)
        np.maximum.at(self._largest, owner[writes], column("write_max")[writes])
        np.minimum.at(self._smallest, owner[writes], column("write_min")[writes])
        self._sizes = self._sums(owner[writes], column("write_sizes")[writes])
        bits = column("write_alignment")
        self._aligned = {
            size: self._sums(owner, bits[:, bit:].sum(axis=1))
            for size, bit in {0: 0, **_ALIGNMENTS}.items()
        }

    def _median_writes(self, files: Sequence[int]) -> list[int]:
        largest, written = self._largest[files], self._bytes[Op.WRITE][files]
        total = self._sizes[files].sum(axis=1)
        same = (self._smallest[files] == largest) & (written == total * largest)
        medians: list[int] = np.where(same, largest, 0).tolist()
        for place in np.flatnonzero(~same & (total > 0)).tolist():
            medians[place] = self._median_write(files[place])
        return medians

    def _median_write(self, file: int) -> int:
        """Return the approximate median: the mean of its bin, limited by the other bins."""
        bins = self._sizes[file]
        total = int(bins.sum())
        smallest, largest = int(self._smallest[file]), int(self._largest[file])
        place = int(np.searchsorted(np.cumsum(bins), (total + 1) // 2))
        edges = np.array([*SIZE_EDGES, largest], dtype=np.float64).clip(smallest, largest)
        lowest, highest = edges[:-1], edges[1:]
        others = np.where(np.arange(len(bins)) == place, 0, bins)
        written = float(self._bytes[Op.WRITE][file])
        least = max((written - float(others @ highest)) / bins[place], lowest[place])
        most = min((written - float(others @ lowest)) / bins[place], highest[place])
        return int((least + most) / 2 + 0.5)

    def _aligned_fractions(self, files: Sequence[int]) -> list[dict[int, float]]:
        total = self._aligned[0][files]
        shares = [self._aligned[size][files] / np.maximum(total, 1) for size in _ALIGNMENTS]
        rows = zip(*(share.tolist() for share in shares), strict=True)
        return [
            dict(zip(_ALIGNMENTS, row, strict=True)) if any_ else {}
            for any_, row in zip(total.tolist(), rows, strict=True)
        ]

    def _add_data_file_count(self, observed: ObservedFile, file: int) -> ObservedFile:
        """Add the number of files that ADIOS2 wrote, its only parameter that can be observed."""
        rows = self._profile.counters[self._owner == file]
        written = np.unique(rows["file"][rows["count"][:, Op.WRITE] > 0])
        names = [os.path.basename(self._profile.paths[row]) for row in written]
        data_files = sum(_DATA_FILE.fullmatch(name) is not None for name in names)
        if not data_files:
            return observed
        return replace(observed, reported={**observed.reported, "NumSubFiles": str(data_files)})


def _missing(profile: RunProfile, owner_of: NDArray[np.int64]) -> dict[int, dict[str, str]]:
    """Return why figures of a file, or of a file inside it, are unknown; by file and figure."""
    found: dict[int, dict[str, str]] = {}
    for gap in profile.gaps:
        own = {name: gap.why for name, part in _OF_PART.items() if gap.parts & part}
        for file in set(owner_of[sorted(gap.files)].tolist()):
            old = found.get(file, {})
            found[file] = own if not old else {
                name: reasons((old.get(name, ""), own.get(name, ""))) for name in {**old, **own}
            }  # fmt: skip
    return found


_BYTES = {"read_bytes", "write_bytes"}
_OF_PART = {
    "read_bytes": ReportedPart.READ_BYTES,
    "write_bytes": ReportedPart.WRITE_BYTES,
    "io_seconds": ReportedPart.SECONDS,
}


def _pairs(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: one number for each pair of a number and a small one (maybe negative)."""
    return (first.astype(np.int64) << _ISSUER_BITS) + (second.astype(np.int64) + _SMALLEST_ISSUER)


def _seconds_by(owner: NDArray[np.int64], n: int, profile: RunProfile) -> NDArray[np.float64]:
    """Return (n,) float64: `RunProfile.seconds_of` for the rows of each owner."""
    rows, seconds = profile.counters, profile.counters["outermost_seconds"]
    if len(profile.processes):
        by = profile.processes["rank"][rows["process"]] if profile.is_mpi else rows["process"]
        return _longest(owner, by, seconds, n)
    reduced = rows["rank"] == ALL_RANKS
    longest = _longest(owner[~reduced], profile.actors[~reduced], seconds[~reduced], n)
    mean = seconds[reduced] / max(profile.n_ranks, 1)
    slowest = np.minimum(rows["slowest_seconds"], seconds)[reduced]
    np.add.at(longest, owner[reduced], np.maximum(mean, slowest))
    return longest


def _longest(
    owner: NDArray[np.int64], by: NDArray[Any], seconds: NDArray[Any], n: int
) -> NDArray[np.float64]:
    """Return (n,) float64: the largest sum over each owner's times per process or rank."""
    pairs = _pairs(owner, by)
    order = np.argsort(pairs, kind="stable")
    new = begins(pairs[order])
    sums = np.bincount(np.cumsum(new) - 1, weights=seconds[order])
    longest = np.zeros(n)
    np.maximum.at(longest, owner[order][new], sums)
    return longest


# Files of a library inside the directory that it presents as one file (ADIOS2's `out.bp`).


def owners(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[np.int64]:
    """Return (n,) int64: index of the path that each row is accounted to, mostly its own.

    Args:
        rows: (n,) `COUNTER_ROW` of the files.
        paths: Paths of the files.
    """
    return np.asarray(owners_of_paths(rows, paths)[rows["file"]])


def owners_of_paths(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[np.int64]:
    """Return (m,) int64: index of the path that each of the m paths is accounted to."""
    found = np.arange(len(paths))
    opened = rows["file"][rows["layer"] == IoLayer.ADIOS2]
    directories = {paths[row]: int(row) for row in opened}
    for row, path in enumerate(paths if directories else ()):
        parents = (str(parent) for parent in PurePosixPath(path).parents)
        found[row] = next((directories[p] for p in parents if p in directories), row)
    return found


def take_back_doubles(processes: NDArray[Any], rows: NDArray[Any], paths: Sequence[str]) -> None:
    """Subtract bytes that the library moved by itself from the program's requests, in place.

    A thread of ADIOS2 may write, outside of any call, what the program put before.
    """
    owner = owners(rows, paths)
    inside = owner != rows["file"]
    if not inside.any():
        return
    adios2 = rows["layer"] == IoLayer.ADIOS2
    for name in ("outermost_read_bytes", "outermost_write_bytes"):
        counted = rows["file"][adios2 & (rows[name] > 0)]
        double = inside & np.isin(rows["layer"], SYSTEM_LAYERS)
        double &= np.isin(owner, counted)
        np.subtract.at(processes[name], rows["process"][double], rows[name][double])
        rows[name][double] = 0
