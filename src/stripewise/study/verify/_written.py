# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds which parts of its output a traced run wrote; gaps between them are not output.

Data sieving writes whole ranges back, and allocation without fill values leaves what was on the
storage: such holes contain different garbage in every run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import Evidence, Pieces, Selections, unfolded

MOST_SLABS = 50_000
"""Maximum number of different selections of one dataset that are compared with its elements."""
MOST_RANGES = 4_000_000
"""Maximum number of byte ranges of one file."""

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Start and count of a box, in elements."""


@dataclass(frozen=True)
class Written:
    """Complete record of what the ranks wrote to one file.

    Attributes:
        datasets: For a file with HDF5 datasets: name to what was written to it.
        ranges: For any other file: (n, 2) int64, begin and end of byte ranges, disjoint and
            ascending.
    """

    datasets: Mapping[str, Slabs] = field(default_factory=dict)
    ranges: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Slabs:
    """Different hyperslabs of one dataset: (n, 4, n_dims) int64, start, stride, count, block."""

    rows: NDArray[np.int64]

    def inside(self, box: Box) -> NDArray[np.bool_]:
        """Return which elements of a box were written, (n_elements,) bool in C order."""
        start, count = (np.array(part, np.int64) for part in box)
        found = np.zeros(box[1], bool)
        begin, stride, number, block = (self.rows[:, part] for part in range(4))
        end = begin + (number - 1) * stride + block
        near = ((begin < start + count) & (end > start)).all(axis=1)
        for row in self.rows[near]:
            axes = map(_on_axis, row.T.tolist(), *box)
            found[np.ix_(*axes)] = True
        return found.ravel()


def written_by(evidence: Evidence, directory: Path) -> dict[str, Written]:
    """Return what a traced run wrote to each file in its directory, by relative path.

    A file is left out if its trace is incomplete: calls were lost, a selection was not recorded,
    or it was also written to by something other than the topmost known library.
    """
    if evidence.profile.partial:
        return {}
    root = os.path.realpath(directory)
    files: dict[str, list[Selections | Pieces]] = {}
    for entry in evidence.accesses:
        if entry.writing and entry.file.startswith(f"{root}{os.sep}"):
            files.setdefault(os.path.relpath(entry.file, root), []).append(entry)
    found = {path: _of_file(entries) for path, entries in files.items()}
    return {path: written for path, written in found.items() if written is not None}


def _of_file(entries: Sequence[Selections | Pieces]) -> Written | None:
    slabs: dict[str, list[NDArray[np.int64]]] = {}
    for entry in entries:
        if isinstance(entry, Pieces):
            ranges = _ranges(entry) if len(entries) == 1 else None
            return None if ranges is None else Written(ranges=ranges)
        if entry.irregular or entry.source != "hdf5":
            return None
        parts = np.stack([entry.start, entry.stride, entry.count, entry.block], axis=1)
        slabs.setdefault(entry.dataset, []).append(np.unique(parts, axis=0))
    if any(len({part.shape[2] for part in parts}) > 1 for parts in slabs.values()):
        return None
    joined = {name: np.concatenate(parts) for name, parts in slabs.items()}
    if any(len(rows) > MOST_SLABS for rows in joined.values()):
        return None
    return Written({name: Slabs(rows) for name, rows in joined.items()})


def _ranges(pieces: Pieces) -> NDArray[np.int64] | None:
    """Return the byte ranges of MPI-IO calls, merged; None if they are not all known."""
    if pieces.source != "view" or pieces.notes or int(pieces.repeat.sum()) > MOST_RANGES:
        return None
    row, begin = unfolded(pieces)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], (begin + pieces.size[row])[order]
    reach = np.maximum.accumulate(end)
    new = np.ones(len(begin), bool)
    new[1:] = begin[1:] > reach[:-1]
    return np.stack([begin[new], np.append(reach[:-1][new[1:]], reach[-1:])], axis=1)


def _on_axis(slab: Sequence[int], start: int, count: int) -> NDArray[np.bool_]:
    """Return which positions of one dimension a hyperslab selects, (count,) bool."""
    begin, stride, number, block = slab
    away = np.arange(start, start + count) - begin
    step = max(stride, 1)
    chosen = (away >= 0) & (away // step < number) & (away % step < block)
    return np.asarray(chosen)
