# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps as data: ranks and files over time, in the cells that pictures have too."""

from __future__ import annotations

import numpy as np

from stripewise.diagnosis._records import HeatMap
from stripewise.diagnosis._words import things
from stripewise.diagnosis.heat_cells import (
    Cells,
    TimeAxis,
    busy_seconds,
    file_matrix,
    file_rows,
    knows_files,
    moved_bytes,
    rank_matrix,
    rank_rows,
    time_axis,
)
from stripewise.model import RunProfile

_Parts = tuple[Cells, Cells, Cells]


def heat_maps(profile: RunProfile) -> tuple[HeatMap, ...]:
    """The map of ranks, and that of files where the source tells them."""
    axis = time_axis(profile)
    if axis is None:
        return ()
    level = "program" if knows_files(profile) else "system"
    parts = (
        moved_bytes(profile, axis, "read", level),
        moved_bytes(profile, axis, "write", level),
        busy_seconds(profile, axis),
    )
    maps = [_ranks(profile, axis, level, parts)]
    if knows_files(profile):
        maps.append(_files(profile, axis, level, parts))
    return tuple(maps)


def _ranks(profile: RunProfile, axis: TimeAxis, level: str, parts: _Parts) -> HeatMap:
    rows = rank_rows(profile)
    members = np.array(rows.members, np.float64)[:, None]
    read, write, busy = (rank_matrix(cells, rows, axis) * members for cells in parts)
    return HeatMap("ranks", level, rows.labels, axis.column_seconds, read, write, busy)


def _files(profile: RunProfile, axis: TimeAxis, level: str, parts: _Parts) -> HeatMap:
    rows = file_rows(profile, *parts)
    read, write, busy = (file_matrix(cells, rows, axis) for cells in parts)
    last = rows.members[-1] if rows.members else 0
    left_out = last if rows.labels and rows.labels[-1] == things(last, "other file") else 0
    width = axis.column_seconds
    return HeatMap("files", level, rows.labels, width, read, write, busy, left_out)
