# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""When the ranks of a job were busy with I/O, and whether that comes in phases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis import Periodicity
from stripewise.fleet.queries import JobView, Source
from stripewise.report import phase_words
from stripewise.text import plural
from stripewise.web._words import written
from stripewise.web.content import Block, Heat, Notice

Row = Mapping[str, Any]
_MOST_ROWS, _MOST_COLUMNS = 32, 120
"""Cells that a page draws: a profile has up to 128 x 240."""
_MOST_RUNS = 4


def timeline(view: JobView) -> list[Block]:
    """Return a map of each run of a program, and its phases in words."""
    found: list[Block] = []
    several = len(view.counted) > 1
    for number, source in enumerate(view.counted[:_MOST_RUNS], 1):
        if source.document is not None:
            found += _of_run(source, number, several)
    return found


def _of_run(source: Source, number: int, several: bool) -> list[Block]:
    assert source.document is not None
    ending = f"_{number}" if several else ""
    run = f", run {number}" + (f" ({source.about['program']})" if source.about["program"] else "")
    title = "When the ranks were in I/O" + (run if several else "")
    found: list[Block] = []
    maps = [one for one in source.document["heat"] if one["kind"] == "ranks"]
    if maps:
        best = min(maps, key=lambda one: one["view"] != "program")
        found.append(_heat(best, f"timeline{ending}", title))
    else:
        text = (
            "This source does not tell when calls were made: `stripewise trace` records it, and "
            "Darshan does with its HEATMAP module (from 3.4) or DXT."
        )
        found.append(Notice(f"timeline{ending}", title, [text]))
    words = [phase_words(_phase(one)) for one in source.document["phases"]]
    if words:
        found.append(Notice(f"phases{ending}", "Phases" + (run if several else ""), words))
    return found


def _heat(one: Row, name: str, title: str) -> Heat:
    busy = _grid(one["busy_seconds"])
    is_time = bool((busy > 0).any())
    cells = busy if is_time else _grid(one["read_bytes"]) + _grid(one["write_bytes"])
    down = -(-cells.shape[0] // _MOST_ROWS) or 1
    across = -(-cells.shape[1] // _MOST_COLUMNS) or 1
    cells = _merged(cells, down, across)
    width = one["bin_seconds"] * across
    most = float(cells.max(initial=0.0))
    shares = cells / most if most > 0 else cells
    what = "time in I/O calls" if is_time else "bytes moved (this source does not tell times)"
    description = (
        f"{plural(len(shares), 'row')} of ranks, {plural(shares.shape[1], 'column')} of "
        f"{written(width, 'seconds')}: "
        f"the darker, the more {what}, as a share of the largest cell. {_busiest(shares, width)}"
    )
    note = "" if one["view"] == "program" else "Calls as they reached the operating system."
    labels = _labels(one["labels"], down)
    return Heat(name, title, labels, width, shares.tolist(), description, note)


def _busiest(shares: NDArray[np.float64], width: float) -> str:
    """Say how much of the time all ranks were idle, and when most was done."""
    columns = shares.sum(axis=0)
    if not columns.any():
        return "No cell has any."
    top = int(columns.argmax())
    idle = float((columns == 0).mean())
    return (
        f"Most was done from {written(top * width, 'seconds')} on; in {written(idle, 'share')} of "
        "the time no rank did any."
    )


def _grid(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    grid = np.array([[value or 0.0 for value in row] for row in rows], np.float64)
    return grid.reshape(len(rows), -1) if len(rows) else np.zeros((0, 0))


def _merged(cells: NDArray[np.float64], down: int, across: int) -> NDArray[np.float64]:
    """Add up cells in rectangles."""
    if not cells.size:
        return cells
    cells = np.add.reduceat(cells, np.arange(0, cells.shape[0], down), axis=0)
    return np.add.reduceat(cells, np.arange(0, cells.shape[1], across), axis=1)


def _labels(labels: Sequence[str], down: int) -> list[str]:
    if down == 1:
        return list(labels)
    return [
        f"{labels[at]} to {labels[min(at + down, len(labels)) - 1]}"
        for at in range(0, len(labels), down)
    ]


def _phase(row: Row) -> Periodicity:
    known: dict[str, Any] = {name: math.nan if one is None else one for name, one in row.items()}
    return Periodicity(**known)
