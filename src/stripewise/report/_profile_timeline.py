# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The run over time: one axis, bandwidth, heat maps, and the same as a table."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis import Diagnosis
from stripewise.diagnosis import heat_cells as heat
from stripewise.diagnosis.heat_cells import Cells, TimeAxis, time_axis
from stripewise.model import RunProfile
from stripewise.report._chart import Chart
from stripewise.report._profile_phases import phase_marks, phase_words
from stripewise.report._time_charts import rates, time_chart

_MOST_SPANS = 12


@dataclass(frozen=True)
class Span:
    """One row of the table that tells what the pictures show; `active`: ranks with any I/O."""

    start: float
    end: float
    read_bytes: float
    write_bytes: float
    busy_seconds: float
    active: int


@dataclass(frozen=True)
class Timeline:
    """Everything that has time on its horizontal axis."""

    chart: Chart | None
    spans: tuple[Span, ...]
    phases: tuple[str, ...]
    files_known: bool
    busy_known: bool


def timeline(diagnosis: Diagnosis, profile: RunProfile) -> Timeline | None:
    """Prepare the charts over time; None where the source has no time bins."""
    axis = time_axis(profile)
    if axis is None:
        return None
    level = "program" if heat.knows_files(profile) else "system"
    moved = {
        quantity: heat.moved_bytes(profile, axis, quantity, level)
        for quantity in ("write", "read")
    }
    marks = phase_marks(rates(profile, axis), axis.column_seconds, diagnosis.phases)
    return Timeline(
        chart=time_chart(profile, marks),
        spans=_spans(moved, heat.busy_seconds(profile, axis), axis),
        phases=tuple(phase_words(phase) for phase in diagnosis.phases),
        files_known=heat.knows_files(profile),
        busy_known=bool((profile.heat["busy_seconds"] > 0).any()),
    )


def _spans(moved: dict[str, Cells], busy: Cells, axis: TimeAxis) -> tuple[Span, ...]:
    n = axis.n_columns
    edges = np.unique(np.linspace(0, n, min(n, _MOST_SPANS) + 1).round().astype(np.int64))
    parts = (moved["read"], moved["write"], busy)
    sums = [np.add.reduceat(heat.series(cells, axis), edges[:-1]) for cells in parts]
    ranks = _active(parts, edges)
    return tuple(
        Span(
            start=float(start) * axis.column_seconds,
            end=float(end) * axis.column_seconds,
            read_bytes=float(sums[0][place]),
            write_bytes=float(sums[1][place]),
            busy_seconds=float(sums[2][place]),
            active=ranks[place],
        )
        for place, (start, end) in enumerate(itertools.pairwise(edges))
    )


def _active(parts: tuple[Cells, ...], edges: NDArray[np.int64]) -> list[int]:
    """Count the ranks that did anything between two edges."""
    rank = np.concatenate([cells.rank for cells in parts])
    span = np.searchsorted(edges, np.concatenate([cells.column for cells in parts]), "right") - 1
    n_ranks = int(rank.max(initial=0)) + 3
    pairs = np.unique(span * n_ranks + rank + 2)
    return [int(n) for n in np.bincount(pairs // n_ranks, minlength=len(edges) - 1)]
