# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The run over time: one axis, bandwidth, heat maps, and the same as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis import Diagnosis
from stripewise.diagnosis import heat_cells as heat
from stripewise.diagnosis.heat_cells import Cells, TimeAxis, time_axis
from stripewise.model import RunProfile
from stripewise.report._profile_phases import phase_words
from stripewise.report._time_charts import time_chart

_MOST_SPANS = 12


def timeline(diagnosis: Diagnosis, profile: RunProfile) -> dict[str, Any] | None:
    """Prepare everything that has time on its horizontal axis; None without time bins."""
    axis = time_axis(profile)
    if axis is None:
        return None
    written, read = (heat.moved_bytes(profile, axis, way) for way in ("write", "read"))
    return {
        "chart": time_chart(profile, diagnosis.phases),
        "spans": _spans((written, read, heat.busy_seconds(profile, axis)), axis),
        "phases": [phase_words(phase) for phase in diagnosis.phases],
        "files_known": heat.knows_files(profile),
        "busy_known": bool((profile.heat["busy_seconds"] > 0).any()),
    }


def _spans(parts: tuple[Cells, Cells, Cells], axis: TimeAxis) -> list[tuple[float, ...]]:
    """Tell what the pictures show: start, end, bytes written and read, busy time, active ranks."""
    n = axis.n_columns
    edges = np.unique(np.linspace(0, n, min(n, _MOST_SPANS) + 1).round().astype(np.int64))
    sums = [np.add.reduceat(heat.series(cells, axis), edges[:-1]).tolist() for cells in parts]
    times = (edges * axis.column_seconds).tolist()
    return list(zip(times, times[1:], *sums, _active(parts, edges), strict=False))


def _active(parts: tuple[Cells, ...], edges: NDArray[np.int64]) -> list[int]:
    """Count the ranks that did anything between two edges."""
    rank = np.concatenate([cells.rank for cells in parts])
    span = np.searchsorted(edges, np.concatenate([cells.column for cells in parts]), "right") - 1
    n_ranks = int(rank.max(initial=0)) + 3
    pairs = np.unique(span * n_ranks + rank + 2)
    return [int(n) for n in np.bincount(pairs // n_ranks, minlength=len(edges) - 1)]
