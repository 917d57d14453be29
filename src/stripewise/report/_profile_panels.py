# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps of ranks and of files over time, each with its scale, labels and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stripewise.diagnosis import _heat_cells as heat
from stripewise.diagnosis._heat_cells import Cells, Floats, Rows, TimeAxis
from stripewise.model import RunProfile
from stripewise.report._profile_image import (
    Picture,
    Scale,
    heat_picture,
    ramp_picture,
    scale_of,
)
from stripewise.report._text import format_bandwidth, format_seconds, significant

_FILE_ROW_PIXELS = 18
_MOST_LABELS = 8
_STEPS = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128)


@dataclass(frozen=True)
class Label:
    """A label beside a picture: where (percent), what, and in full."""

    at: float
    text: str
    full: str = ""


@dataclass(frozen=True, eq=False)
class TimeMap:
    """One matrix over time before it is drawn.

    Attributes:
        kind: "ranks" or "files".
        quantity: "write", "read" or "busy".
        title: In words.
        unit: "rate" (bytes per second), "share" (of the time) or "ranks" (how many).
        rows: What stands in each row.
        values: (n_rows, n_columns) float64, in `unit`.
    """

    kind: str
    quantity: str
    title: str
    unit: str
    rows: Rows
    values: Floats


@dataclass(frozen=True)
class Panel:
    """One heat map with what stands around it.

    Attributes:
        title / description: The second for those who cannot see the picture.
        picture / ramp: Of the cells; of the colours.
        scale / unit: Value of the least and most intense colour; unit as in `TimeMap`.
        ends: Least, middle and largest value in words.
        labels: Beside the picture; `row_names`: of all rows.
        pixels: Height.
        column_seconds: Width of a column.
    """

    title: str
    description: str
    picture: Picture
    ramp: Picture
    scale: Scale
    unit: str
    ends: tuple[str, str, str]
    labels: tuple[Label, ...]
    row_names: tuple[str, ...]
    pixels: int
    column_seconds: float


def time_maps(profile: RunProfile, axis: TimeAxis) -> Iterator[TimeMap]:
    """All maps that have something in them; ranks first, then files if they are known."""
    parts = list(_parts(profile, axis))
    rows = heat.rank_rows(profile)
    each = "each rank" if max(rows.members) == 1 else "each rank (mean of neighbours)"
    for quantity, words, cells in parts:
        title = _TITLES[quantity].format(each) + words
        values = heat.rank_matrix(cells, rows, axis) / axis.column_seconds
        unit = "share" if quantity == "busy" else "rate"
        yield TimeMap("ranks", quantity, title, unit, rows, values)
    if not heat.knows_files(profile):
        return
    rows = heat.file_rows(profile, *(cells for _, _, cells in parts))
    asked = {quantity: cells for quantity, _, cells in reversed(parts)}
    for quantity, cells in reversed(asked.items()):
        values = heat.file_matrix(cells, rows, axis) / axis.column_seconds
        title, unit = _TITLES[quantity].format("each file"), "rate"
        if quantity == "busy":
            several = bool(values.max(initial=0.0) > 1)
            title = "Ranks in I/O calls on each file" if several else title
            unit = "ranks" if several else "share"
        yield _without_empty(TimeMap("files", quantity, title, unit, rows, values))


def _without_empty(one: TimeMap) -> TimeMap:
    """Leave out rows that have nothing in this map."""
    kept = np.flatnonzero(one.values.any(axis=1))
    labels = tuple(one.rows.labels[row] for row in kept)
    members = tuple(one.rows.members[row] for row in kept)
    return replace(
        one, rows=replace(one.rows, labels=labels, members=members), values=one.values[kept]
    )


_TITLES = {
    "write": "Written, {}",
    "read": "Read, {}",
    "busy": "Time in I/O calls, {}",
}


def _parts(profile: RunProfile, axis: TimeAxis) -> Iterator[tuple[str, str, Cells]]:
    """Quantity, words about its layer, cells; both levels only where they differ."""
    for quantity in ("write", "read"):
        program = heat.moved_bytes(profile, axis, quantity, "program")
        system = heat.moved_bytes(profile, axis, quantity, "system")
        if program.layers == system.layers or _alike(program, system):
            if system.value.any():
                yield quantity, "", system
            continue
        if not program.value.any():
            words = f": beneath the program's calls ({_join(system)}), which asked for none"
            yield quantity, words, system
            continue
        yield quantity, f": what the program asked for ({_join(program)})", program
        yield quantity, f": what reached the file system ({_join(system)})", system
    busy = heat.busy_seconds(profile, axis)
    if busy.value.any():
        yield "busy", "", busy


def _alike(first: Cells, second: Cells) -> bool:
    """Whether two levels show the same (nothing was gathered or split): by rank and in sum."""
    if not (first.value.any() and second.value.any()):
        return False
    one, other = (np.bincount(cells.rank + 2, cells.value) for cells in (first, second))
    return len(one) == len(other) and bool(np.allclose(one, other, rtol=0.02, atol=65_536))


def _join(cells: Cells) -> str:
    return " and ".join(cells.layers)


def panel_of(one: TimeMap, axis: TimeAxis) -> Panel:
    """Draw a map."""
    show = _UNITS[one.unit]
    scale = _scale(one)
    names = one.rows.labels
    return Panel(
        title=one.title,
        description=_describe(one, axis, show),
        picture=heat_picture(one.values, scale, one.quantity),
        ramp=ramp_picture(one.quantity),
        scale=scale,
        unit=one.unit,
        ends=(show(scale.low) if scale.low else "0", show(scale.middle()), show(scale.high)),
        labels=_file_labels(names) if one.kind == "files" else _rank_labels(names),
        row_names=names,
        pixels=_pixels(one),
        column_seconds=axis.column_seconds,
    )


def _scale(one: TimeMap) -> Scale:
    """Rates by their range; shares up to the whole time, more only where calls overlap."""
    highest = float(one.values.max(initial=0.0))
    if one.unit == "share":
        return Scale(0.0, max(1.0, highest), False)
    if one.unit == "ranks":
        return Scale(0.0, highest, False)
    return scale_of(one.values)


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %" if value >= 0.01 or value == 0 else f"{100 * value:.2g} %"


def _ranks(value: float) -> str:
    return f"{significant(value)} rank{'' if value == 1 else 's'}"


_UNITS: dict[str, Callable[[float], str]] = {
    "rate": format_bandwidth,
    "share": _percent,
    "ranks": _ranks,
}


def _pixels(one: TimeMap) -> int:
    n_rows = len(one.rows.labels)
    if one.kind == "files":
        return _FILE_ROW_PIXELS * n_rows
    return int(min(max(14 * n_rows, 28), 220))


def _rank_labels(names: Sequence[str]) -> tuple[Label, ...]:
    n_rows = len(names)
    step = next((s for s in _STEPS if n_rows / s <= _MOST_LABELS), n_rows)
    return tuple(Label(100 * (row + 0.5) / n_rows, names[row]) for row in range(0, n_rows, step))


def _file_labels(names: Sequence[str]) -> tuple[Label, ...]:
    n_rows = len(names)
    return tuple(
        Label(100 * (row + 0.5) / n_rows, name.rstrip("/").rpartition("/")[2] or name, name)
        for row, name in enumerate(names)
    )


def _describe(one: TimeMap, axis: TimeAxis, show: Callable[[float], str]) -> str:
    values = one.values
    row, column = divmod(int(values.argmax()), values.shape[1])
    active_rows = int((values > 0).any(axis=1).sum())
    active_columns = int((values > 0).any(axis=0).sum())
    where = one.rows.labels[row]
    return (
        f"Heat map: {one.title}. {active_rows} of {values.shape[0]} rows and {active_columns} of "
        f"{values.shape[1]} spans of {format_seconds(axis.column_seconds)} have any. Most in "
        f"{where} at {format_seconds(column * axis.column_seconds)}: "
        f"{show(float(values[row, column]))}."
    )


def ticks_of(seconds: float) -> tuple[Label, ...]:
    """Round times below a picture, with their unit."""
    unit, name = (3600.0, "h") if seconds >= 3 * 3600 else (60.0, "min")
    if seconds < 600:
        unit, name = (1.0, "s") if seconds >= 0.1 else (1e-3, "ms")
    length = seconds / unit
    step = 10.0 ** math.floor(math.log10(length))
    step = next(s * step for s in (0.2, 0.25, 0.5, 1.0, 2.0) if length / (s * step) <= 5.5)
    count = int(length / step + 1e-9)
    return tuple(Label(100 * k * step / length, f"{k * step:g} {name}") for k in range(count + 1))
