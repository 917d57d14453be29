# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes and busy time by rank and by file over the whole run, in as many cells as a page holds.

One byte passes through several layers and is counted in each.  *System* is what reached the file
system (POSIX and stdio, or the lowest layer that was watched), *program* what was asked for in
the highest layer.  Every rank has its place, also one that did nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._records import HeatMap
from stripewise.diagnosis._words import things
from stripewise.model import IoLayer, RunProfile

MOST_COLUMNS = 240
MOST_RANK_ROWS = 128
MOST_FILE_ROWS = 16
LEAST_SHARE = 0.002
"""Of the bytes or of the time: a file with less has no row of its own."""
LAYER_NAMES = {
    IoLayer.DAOS: "DAOS",
    IoLayer.DFS: "DFS",
    IoLayer.POSIX: "POSIX",
    IoLayer.STDIO: "stdio",
    IoLayer.MPIIO: "MPI-IO",
    IoLayer.PNETCDF: "PnetCDF",
    IoLayer.HDF5: "HDF5",
    IoLayer.ADIOS2: "ADIOS2",
}
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Heat of one quantity: (n,) each; bytes or seconds by rank, file and column of time."""

    rank: NDArray[np.int64]
    file: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Rows:
    """Which ranks or files stand in which row of a picture.

    Attributes:
        labels: One per row; `members`: ranks or files in it.
        place: Row of each rank or file; -1: not shown.
        left_out: Files that share the last row.
    """

    labels: tuple[str, ...]
    members: tuple[int, ...]
    place: NDArray[np.int64]
    left_out: int = 0


@dataclass(frozen=True)
class TimeAxis:
    """Columns of a picture: `factor` bins of the profile each."""

    bin_seconds: float
    n_bins: int
    factor: int

    @property
    def n_columns(self) -> int:
        """Columns of the picture."""
        return -(-self.n_bins // self.factor)

    @property
    def column_seconds(self) -> float:
        """Width of one column."""
        return self.bin_seconds * self.factor

    @property
    def seconds(self) -> float:
        """Width of the picture."""
        return self.n_columns * self.column_seconds


def time_axis(profile: RunProfile) -> TimeAxis | None:
    """Find the columns, up to the end of the run; None without time bins."""
    if not len(profile.heat) or profile.heat_bin_seconds <= 0:
        return None
    used = int(profile.heat["bin"].max()) + 1
    run = math.ceil(max(profile.elapsed_seconds, 0.0) / profile.heat_bin_seconds - 1e-6)
    n_bins = max(used, min(run, 1000 * used))
    return TimeAxis(profile.heat_bin_seconds, n_bins, -(-n_bins // MOST_COLUMNS))


def knows_files(profile: RunProfile) -> bool:
    """Whether the time bins tell files apart."""
    return bool(len(profile.heat)) and bool((profile.heat["file"] >= 0).all())


def told_level(profile: RunProfile) -> str:
    """What the time bins tell: "program", or "system" where they have all files together.

    There the layers cannot be told apart.
    """
    return "program" if knows_files(profile) else "system"


def moving_rows(profile: RunProfile, level: str = "") -> NDArray[Any]:
    """Rows of the heat table that count each byte once, at `level` (otherwise `told_level`)."""
    level = level or told_level(profile)
    heat = profile.heat[(profile.heat["write_bytes"] > 0) | (profile.heat["read_bytes"] > 0)]
    return heat[_of_level(heat, level)]


def moved_bytes(profile: RunProfile, axis: TimeAxis, quantity: str, level: str = "") -> Cells:
    """Bytes of `quantity` "write" or "read" at a level as in `moving_rows`."""
    heat, name = moving_rows(profile, level), f"{quantity}_bytes"
    heat = heat[heat[name] > 0]
    return _cells(heat, axis, heat[name].astype(np.float64))


def _of_level(heat: NDArray[Any], level: str) -> NDArray[np.bool_]:
    """Choose, file by file, the rows of the lowest or highest layer that moved anything.

    Stdio stands beside POSIX, or beneath HDF5 on its stdio driver.
    """
    stdio: NDArray[np.bool_] = heat["layer"] == IoLayer.STDIO
    if not len(heat) or stdio.all():
        return stdio
    file = heat["file"].astype(np.int64) + 1
    layer = heat["layer"].astype(np.int64)
    n_files = int(file.max()) + 1
    low, high = np.full(n_files, 255), np.full(n_files, -1)
    np.minimum.at(low, file[~stdio], layer[~stdio])
    np.maximum.at(high, file[~stdio], layer[~stdio])
    has_stdio = np.zeros(n_files, bool)
    has_stdio[file[stdio]] = True
    low[has_stdio & (low > IoLayer.STDIO)] = IoLayer.STDIO
    if level == "system":
        lowest: NDArray[np.bool_] = (layer == low[file]) | stdio
        return lowest
    apart = (file == 0) | (high[file] <= IoLayer.STDIO)
    highest: NDArray[np.bool_] = (layer == high[file]) | (stdio & apart)
    return highest


def busy_seconds(profile: RunProfile, axis: TimeAxis) -> Cells:
    """Seconds in I/O calls; layers that call each other on one file count once."""
    heat = profile.heat[profile.heat["busy_seconds"] > 0]
    if not len(heat):
        return _cells(heat, axis, np.zeros(0))
    n_bins = int(heat["bin"].max()) + 1
    n_files = int(heat["file"].max()) + 2
    key = (heat["rank"].astype(np.int64) + 2) * n_files + heat["file"] + 1
    key = key * n_bins + heat["bin"]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    value = np.zeros(len(first))
    np.maximum.at(value, group, heat["busy_seconds"])
    return _cells(heat[first], axis, value)


def _cells(heat: NDArray[Any], axis: TimeAxis, value: Floats) -> Cells:
    layers = tuple(LAYER_NAMES[IoLayer(int(n))] for n in np.unique(heat["layer"]))
    return Cells(
        heat["rank"].astype(np.int64),
        heat["file"].astype(np.int64),
        heat["bin"].astype(np.int64) // axis.factor,
        value,
        layers,
    )


def rank_rows(profile: RunProfile) -> Rows:
    """Put ranks into rows; neighbours share a row where there are too many."""
    highest = int(profile.heat["rank"].max()) if len(profile.heat) else -1
    n_ranks = max(profile.n_ranks, highest + 1)
    if n_ranks == 0:
        return Rows(("the program",), (1,), np.zeros(1, np.int64))
    each = -(-n_ranks // MOST_RANK_ROWS)
    ends = [(start, min(start + each, n_ranks)) for start in range(0, n_ranks, each)]
    labels = (f"rank {a}" if b == a + 1 else f"ranks {a}–{b - 1}" for a, b in ends)
    members = tuple(b - a for a, b in ends)
    return Rows(tuple(labels), members, np.arange(n_ranks, dtype=np.int64) // each)


def file_rows(profile: RunProfile, *parts: Cells) -> Rows:
    """Put the files with most into rows of their own, the others into the last one."""
    n_files = len(profile.paths)
    total = np.zeros(n_files)
    large = np.zeros(n_files, bool)
    for cells in parts:
        if cells.value.any():
            shares = _count(cells.file, cells.value / cells.value.sum(), n_files)
            large |= shares >= LEAST_SHARE
            total += shares
    order = np.argsort(-total, kind="stable")
    order = order[total[order] > 0]
    own = order[large[order]][: MOST_FILE_ROWS - 1]
    rest = order[~np.isin(order, own)]
    place = np.full(n_files, -1, np.int64)
    place[own] = np.arange(len(own))
    place[rest] = len(own)
    labels = [profile.paths[number] for number in own]
    members = [1] * len(own)
    if len(rest):
        labels.append(things(len(rest), "other file"))
        members.append(len(rest))
    return Rows(tuple(labels), tuple(members), place, len(rest))


def rank_matrix(cells: Cells, rows: Rows, axis: TimeAxis) -> Floats:
    """Mean over the ranks of each row: (n_rows, n_columns) float64.

    Processes without a rank stand in the first row; what is known of all ranks together only
    (rank -2) is spread over them.
    """
    shape = (len(rows.labels), axis.n_columns)
    members = np.array(rows.members, np.float64)
    single = cells.rank != -2
    rank = np.clip(cells.rank[single], 0, len(rows.place) - 1)
    matrix = _sum(rows.place[rank], cells.column[single], cells.value[single], shape)
    matrix /= members[:, None]
    if not single.all():
        together = _count(cells.column[~single], cells.value[~single], axis.n_columns)
        matrix += together / members.sum()
    return matrix


def file_matrix(cells: Cells, rows: Rows, axis: TimeAxis) -> Floats:
    """Sum over all ranks: (n_rows, n_columns) float64."""
    shape = (len(rows.labels), axis.n_columns)
    return _sum(rows.place[cells.file], cells.column, cells.value, shape)


def series(cells: Cells, axis: TimeAxis) -> Floats:
    """Sum of everything by column: (n_columns,) float64."""
    return _count(cells.column, cells.value, axis.n_columns)


def _sum(
    place: NDArray[np.int64], column: NDArray[np.int64], value: Floats, shape: tuple[int, int]
) -> Floats:
    shown = (place >= 0) & (column >= 0) & (column < shape[1])
    key = place[shown] * shape[1] + column[shown]
    return _count(key, value[shown], shape[0] * shape[1]).reshape(shape)


def _count(place: NDArray[np.int64], value: Floats, size: int) -> Floats:
    """Sum values by place: (size,) float64."""
    return np.bincount(place, value, size)[:size].astype(np.float64)


def heat_maps(profile: RunProfile) -> Iterator[HeatMap]:
    """The map of ranks, and that of files where the source tells them, as data."""
    axis = time_axis(profile)
    if axis is None:
        return
    moved = (moved_bytes(profile, axis, quantity) for quantity in ("read", "write"))
    parts = (*moved, busy_seconds(profile, axis))
    level, width = told_level(profile), axis.column_seconds
    rows = rank_rows(profile)
    members = np.array(rows.members, np.float64)[:, None]
    read, write, busy = (rank_matrix(cells, rows, axis) * members for cells in parts)
    yield HeatMap("ranks", level, rows.labels, width, read, write, busy)
    if knows_files(profile):
        rows = file_rows(profile, *parts)
        read, write, busy = (file_matrix(cells, rows, axis) for cells in parts)
        yield HeatMap("files", level, rows.labels, width, read, write, busy, rows.left_out)
