# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps: ranks and files over time, few enough cells to be drawn."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._records import HeatMap
from stripewise.model import IoLayer, RunProfile

MOST_ROWS = 64
MOST_COLUMNS = 200

_SYSTEM = (int(IoLayer.POSIX), int(IoLayer.STDIO))

_Cells: TypeAlias = NDArray[np.float64]


def program_heat(profile: RunProfile) -> tuple[NDArray[Any], str]:
    """Rows of the heat table that count each byte once, and their view.

    Where the table tells files, the highest layer of each file: what the program asked for.
    Where it has all files together, what reached the operating system, since a higher layer
    and the one beneath it could not be told apart.
    """
    heat = profile.heat
    if not len(heat):
        return heat, "program"
    if (heat["file"] >= 0).all():
        n_files = int(heat["file"].max()) + 1
        highest = np.zeros(n_files, np.int64)
        moving = (heat["read_bytes"] > 0) | (heat["write_bytes"] > 0)
        np.maximum.at(highest, heat["file"][moving], heat["layer"][moving])
        return heat[heat["layer"] == highest[heat["file"]]], "program"
    together = heat[heat["file"] < 0]
    system = together[np.isin(together["layer"], _SYSTEM)]
    if len(system):
        return system, "system"
    return together[together["layer"] == together["layer"].max()], "program"


def heat_maps(profile: RunProfile) -> tuple[HeatMap, ...]:
    """The map of ranks, and that of files where the source tells them."""
    rows, view = program_heat(profile)
    if not len(rows) or profile.heat_bin_seconds <= 0:
        return ()
    columns, width, n_columns = _columns(rows, profile.heat_bin_seconds)
    maps = [_ranks(rows, columns, n_columns, width, view)]
    if (rows["file"] >= 0).all():
        maps.append(_files(profile, rows, columns, n_columns, width, view))
    return tuple(maps)


def _columns(rows: NDArray[Any], bin_seconds: float) -> tuple[NDArray[np.int64], float, int]:
    n_bins = int(rows["bin"].max()) + 1
    merged = math.ceil(n_bins / MOST_COLUMNS)
    return rows["bin"].astype(np.int64) // merged, bin_seconds * merged, -(-n_bins // merged)


def _ranks(
    rows: NDArray[Any], columns: NDArray[np.int64], n_columns: int, width: float, view: str
) -> HeatMap:
    ranks, inverse = np.unique(rows["rank"], return_inverse=True)
    merged = math.ceil(len(ranks) / MOST_ROWS)
    groups = [ranks[low : low + merged] for low in range(0, len(ranks), merged)]
    labels = tuple(
        str(group[0]) if len(group) == 1 else f"{group[0]}–{group[-1]}" for group in groups
    )
    cells = _cells(rows, inverse // merged, len(groups), columns, n_columns)
    return HeatMap("ranks", view, labels, width, *cells)


def _files(
    profile: RunProfile,
    rows: NDArray[Any],
    columns: NDArray[np.int64],
    n_columns: int,
    width: float,
    view: str,
) -> HeatMap:
    files, inverse = np.unique(rows["file"], return_inverse=True)
    busy = np.bincount(inverse, weights=rows["busy_seconds"])
    order = np.argsort(-busy, kind="stable")
    left_out = max(0, len(files) - MOST_ROWS)
    kept = order if not left_out else order[: MOST_ROWS - 1]
    place = np.full(len(files), len(kept))
    place[kept] = np.arange(len(kept))
    labels = [profile.paths[int(files[index])] for index in kept]
    if left_out:
        left_out += 1
        labels.append(f"{left_out} other files")
    cells = _cells(rows, place[inverse], len(labels), columns, n_columns)
    return HeatMap("files", view, tuple(labels), width, *cells, left_out)


def _cells(
    rows: NDArray[Any],
    places: NDArray[np.int64],
    n_rows: int,
    columns: NDArray[np.int64],
    n_columns: int,
) -> tuple[_Cells, _Cells, _Cells]:
    flat = places * n_columns + columns
    shape = (n_rows, n_columns)

    def cells(name: str) -> _Cells:
        weights = rows[name].astype(np.float64)
        filled = np.bincount(flat, weights=weights, minlength=n_rows * n_columns)
        return filled.astype(np.float64).reshape(shape)

    return cells("read_bytes"), cells("write_bytes"), cells("busy_seconds")
