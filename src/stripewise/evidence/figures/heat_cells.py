# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Spreads bytes and busy time over a run in cells, and finds I/O phases and their period.

One byte passes through several layers and is counted in each. *System* is what reached the file
system (POSIX and stdio, or the lowest layer that was observed), *program* is what was requested in
the highest layer. Every rank has its place, even if it did nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.figures._records import HeatMap, Periodicity
from stripewise.evidence.trace import IoLayer, RunProfile
from stripewise.present import plural as things

MOST_COLUMNS = 240
MOST_RANK_ROWS = 128
MOST_FILE_ROWS = 16
LEAST_SHARE = 0.002
"""Share of the bytes or time below which a file has no row of its own."""
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
    """Heat of one quantity: (n,) bytes or seconds by rank, file and column of time."""

    rank: NDArray[np.int64]
    file: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats
    layers: tuple[str, ...]


@dataclass(frozen=True)
class PictureRows:
    """Assignment of ranks or files to the rows of a picture.

    Attributes:
        labels: One label per row; `members`: ranks or files in it.
        place: Row of each rank or file; -1 if it is not shown.
        left_out: Number of files that share the last row.
    """

    labels: tuple[str, ...]
    members: tuple[int, ...]
    place: NDArray[np.int64]
    left_out: int = 0


@dataclass(frozen=True)
class TimeAxis:
    """Columns of a picture, each of `factor` bins of the profile."""

    bin_seconds: float
    n_bins: int
    factor: int

    @property
    def n_columns(self) -> int:
        """Number of columns of the picture."""
        return -(-self.n_bins // self.factor)

    @property
    def column_seconds(self) -> float:
        """Width of one column in seconds."""
        return self.bin_seconds * self.factor

    @property
    def seconds(self) -> float:
        """Width of the picture in seconds."""
        return self.n_columns * self.column_seconds


def time_axis(profile: RunProfile) -> TimeAxis | None:
    """Return the columns up to the end of the run; None without time bins."""
    if not len(profile.heat) or profile.heat_bin_seconds <= 0:
        return None
    used = int(profile.heat["bin"].max()) + 1
    run = math.ceil(max(profile.elapsed_seconds, 0.0) / profile.heat_bin_seconds - 1e-6)
    n_bins = max(used, min(run, 1000 * used))
    return TimeAxis(profile.heat_bin_seconds, n_bins, -(-n_bins // MOST_COLUMNS))


def knows_files(profile: RunProfile) -> bool:
    """Return whether the time bins distinguish files."""
    return bool(len(profile.heat)) and bool((profile.heat["file"] >= 0).all())


def level_of_bins(profile: RunProfile) -> str:
    """Return the level of the time bins: "program", or "system" if they combine all files.

    In the latter case layers cannot be distinguished.
    """
    return "program" if knows_files(profile) else "system"


def moving_rows(profile: RunProfile, level: str = "") -> NDArray[Any]:
    """Return the heat rows that count each byte once, at `level` or else `level_of_bins`."""
    level = level or level_of_bins(profile)
    heat = profile.heat[(profile.heat["write_bytes"] > 0) | (profile.heat["read_bytes"] > 0)]
    return heat[_of_level(heat, level)]


def moved_bytes(profile: RunProfile, axis: TimeAxis, quantity: str, level: str = "") -> Cells:
    """Return the bytes of `quantity` "write" or "read" at a level (see `moving_rows`)."""
    heat, name = moving_rows(profile, level), f"{quantity}_bytes"
    heat = heat[heat[name] > 0]
    return _cells(heat, axis, heat[name].astype(np.float64))


def _of_level(heat: NDArray[Any], level: str) -> NDArray[np.bool_]:
    """Select, for each file, the rows of the lowest or highest layer that moved anything.

    Stdio is beside POSIX, or below HDF5 with its stdio driver.
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
    """Return the seconds in I/O calls; layers that call each other on one file count once."""
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


def rank_rows(profile: RunProfile) -> PictureRows:
    """Assign ranks to rows; neighbours share a row if there are too many."""
    highest = int(profile.heat["rank"].max()) if len(profile.heat) else -1
    n_ranks = max(profile.n_ranks, highest + 1)
    if n_ranks == 0:
        return PictureRows(("the program",), (1,), np.zeros(1, np.int64))
    each = -(-n_ranks // MOST_RANK_ROWS)
    ends = [(start, min(start + each, n_ranks)) for start in range(0, n_ranks, each)]
    labels = (f"rank {a}" if b == a + 1 else f"ranks {a}–{b - 1}" for a, b in ends)
    members = tuple(b - a for a, b in ends)
    return PictureRows(tuple(labels), members, np.arange(n_ranks, dtype=np.int64) // each)


def file_rows(profile: RunProfile, *parts: Cells) -> PictureRows:
    """Assign the files with the largest values to their own rows, the others to the last."""
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
    return PictureRows(tuple(labels), tuple(members), place, len(rest))


def rank_matrix(cells: Cells, rows: PictureRows, axis: TimeAxis) -> Floats:
    """Return the mean over the ranks of each row: (n_rows, n_columns) float64.

    Processes without a rank are in the first row; values known only for all ranks together (rank
    -2) are spread over them.
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


def file_matrix(cells: Cells, rows: PictureRows, axis: TimeAxis) -> Floats:
    """Sum over all ranks: (n_rows, n_columns) float64."""
    shape = (len(rows.labels), axis.n_columns)
    return _sum(rows.place[cells.file], cells.column, cells.value, shape)


def series(cells: Cells, axis: TimeAxis) -> Floats:
    """Return the sum of everything by column: (n_columns,) float64."""
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
    """Yield the maps of ranks, and of files if the source distinguishes them, as data."""
    axis = time_axis(profile)
    if axis is None:
        return
    moved = (moved_bytes(profile, axis, quantity) for quantity in ("read", "write"))
    parts = (*moved, busy_seconds(profile, axis))
    level, width = level_of_bins(profile), axis.column_seconds
    rows = rank_rows(profile)
    members = np.array(rows.members, np.float64)[:, None]
    read, write, busy = (rank_matrix(cells, rows, axis) * members for cells in parts)
    yield HeatMap("ranks", level, rows.labels, width, read, write, busy)
    if knows_files(profile):
        rows = file_rows(profile, *parts)
        read, write, busy = (file_matrix(cells, rows, axis) for cells in parts)
        yield HeatMap("files", level, rows.labels, width, read, write, busy, rows.left_out)


# Detection of I/O phases and of their period.
#
# The signal is bytes per time bin. Its autocorrelation (by FFT, unbiased, of the signal minus its
# mean, smoothed by a Gaussian so that a phase that comes a little early still counts) has peaks at
# the multiples of the period; the first peak that is nearly as high as the highest gives the
# period, its height the confidence. A single burst, a trend or noise has none.
#
# Source: Oppenheim and Schafer, "Discrete-Time Signal Processing" (autocorrelation by FFT); the
# idea of a period of I/O phases: Tarraf et al., "Capturing Periodic I/O Using Frequency
# Techniques" (IPDPS 2024). Thresholds are assumed; test_phases.py checks them with synthetic
# signals.

LEAST_CONFIDENCE = 0.5
LEAST_PHASES = 4
_LEAST_BINS = 8
LEAST_LENGTH = 3
_NEARLY = 0.75
_BLUR = 1 / 6
_BLUR_REACH = 4  # standard deviations
_AGREEING = (0.7, 1.5)
_MOST_UNEVEN = 0.2
_CLOSE = 0.1
_BURST_LEVEL = 0.3
_MOST_BINS = 1 << 16


def phases(profile: RunProfile) -> tuple[Periodicity, ...]:
    """Return one record for each direction that moved data."""
    rows = moving_rows(profile)
    width = profile.heat_bin_seconds
    if not len(rows) or width <= 0:
        return ()
    n_bins = int(rows["bin"].max()) + 1
    if profile.elapsed_seconds > 0:
        n_bins = max(n_bins, min(math.ceil(profile.elapsed_seconds / width), 4 * n_bins))
    merged = math.ceil(n_bins / _MOST_BINS)
    found = []
    for direction in ("read", "write"):
        moved = np.bincount(
            rows["bin"] // merged, weights=rows[f"{direction}_bytes"], minlength=n_bins // merged
        )
        if moved.any():
            found.append(find_period(moved.astype(np.float64), width * merged, direction))
    return tuple(found)


def find_period(
    values: NDArray[np.float64], bin_seconds: float, direction: str = "write"
) -> Periodicity:
    """Return the period of a signal.

    Args:
        values: (n,) float64, bytes per bin.
        bin_seconds: Width of a bin.
        direction: "read" or "write", for the record.
    """
    values = np.trim_zeros(values)
    lag, confidence = _lag(values)
    bursts = _bursts(values, lag)
    periodic = confidence >= LEAST_CONFIDENCE and _agree(bursts, lag)
    lengths = [high - low for low, high in bursts]
    moved = [float(values[low:high].sum()) for low, high in bursts]
    return Periodicity(
        direction=direction,
        periodic=periodic,
        period_seconds=_period(bursts, lag) * bin_seconds if periodic else math.nan,
        confidence=confidence,
        n_phases=len(bursts),
        phase_seconds=_length(lengths) * bin_seconds,
        phase_bytes=float(np.median(moved)) if bursts else 0.0,
        resolution_seconds=bin_seconds,
    )


def _length(lengths: list[int]) -> float:
    """Return the median length of bursts in bins; NaN if it is too short to be known.

    A burst in n bins may have taken any time from n - 2 to n bins.
    """
    middle = float(np.median(lengths)) if lengths else 0.0
    return middle if middle >= LEAST_LENGTH else math.nan


def _agree(bursts: list[tuple[int, int]], lag: float) -> bool:
    """Return whether there are enough bursts, and as many as the period implies."""
    if len(bursts) < LEAST_PHASES:
        return False
    gaps = np.diff([low for low, _ in bursts])
    expected = 1 + gaps.sum() / lag
    even = float(np.std(gaps)) <= _MOST_UNEVEN * float(np.mean(gaps))
    return bool(even and _AGREEING[0] <= len(bursts) / expected <= _AGREEING[1])


def _period(bursts: list[tuple[int, int]], lag: float) -> float:
    """Return the mean distance of bursts if none is missing or split, else the lag; in bins."""
    mean = (bursts[-1][0] - bursts[0][0]) / (len(bursts) - 1)
    return mean if abs(mean / lag - 1) < _CLOSE else lag


def _lag(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the lag of the first high peak of the autocorrelation, in bins, and its height."""
    n = len(values)
    if n < _LEAST_BINS or np.ptp(values) == 0:
        return 0.0, 0.0
    part = _autocorrelation(_detrended(_smooth(values)))[: n // (LEAST_PHASES - 2) + 1]
    peaks = _peaks(part)
    peaks = peaks[(peaks >= 2) & (part[peaks] >= LEAST_CONFIDENCE / 2)]
    if not len(peaks):
        return 0.0, 0.0
    first = int(peaks[part[peaks] >= _NEARLY * part[peaks].max()][0])
    return _refined(part, first), float(np.clip(part[first], 0.0, 1.0))


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blur by a sixth of the typical distance of bursts; keep short distances unchanged."""
    starts = [low for low, _ in _bursts(values, 0.0)]
    gap = float(np.median(np.diff(starts))) if len(starts) > 2 else 0.0
    if gap < 4:
        return values
    reach = int(_BLUR_REACH * gap * _BLUR + 0.5)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (gap * _BLUR)) ** 2)
    return np.convolve(values, bell / bell.sum(), mode="same")


def _detrended(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract the least-squares line."""
    place = np.arange(len(values)) - (len(values) - 1) / 2
    slope = (place @ values) / (place @ place)
    detrended: NDArray[np.float64] = values - values.mean() - slope * place
    return detrended


def _peaks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places higher than both neighbours; of a flat top, the first place."""
    starts = np.flatnonzero(np.diff(values, prepend=np.nan))
    tops = values[starts]
    return starts[1:-1][(tops[1:-1] > tops[:-2]) & (tops[1:-1] > tops[2:])]


def _autocorrelation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n = len(values)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(values, size)) ** 2
    full = np.fft.irfft(power, size)[:n] / np.arange(n, 0, -1)
    result: NDArray[np.float64] = full / full[0] if full[0] > 0 else np.zeros(n)
    return result


def _refined(values: NDArray[np.float64], peak: int) -> float:
    """Return the place of a peak between bins, by the parabola through its three points."""
    left, middle, right = values[peak - 1 : peak + 2]
    return float(peak + 0.5 * (left - right) / (left - 2 * middle + right))


def _bursts(values: NDArray[np.float64], lag: float) -> list[tuple[int, int]]:
    """Return the spans of bins above a third of the way to the high level.

    Gaps below an eighth of the period are bridged.
    """
    if not values.any():
        return []
    low = float(np.quantile(values, 0.1))
    level = low + _BURST_LEVEL * (float(np.quantile(values[values > 0], 0.9)) - low)
    busy = np.flatnonzero(values > level)
    if not len(busy):
        return [(0, len(values))]
    bridge = max(1, int(lag / 8))
    breaks = np.flatnonzero(np.diff(busy) > bridge)
    starts = busy[np.concatenate(([0], breaks + 1))]
    ends = busy[np.concatenate((breaks, [len(busy) - 1]))] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
