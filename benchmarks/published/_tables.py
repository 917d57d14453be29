# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the published measurements: each table with its source, workload and cells to fit.

Which cells a fit may use was decided by the rule in each file before anything was fitted; all
others are only predicted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from stripewise.core.errors import UsageError

FOLDER = Path(__file__).parent / "tables"
UNITS = {
    "GiB/s": float(1 << 30),
    "MiB/s": float(1 << 20),
    "GB/s": 1e9,
    "MB/s": 1e6,
    "s": 1.0,
    "ratio": 1.0,
}
"""Unit of a table to its value in bytes per second, seconds or as a plain number."""


@dataclass(frozen=True)
class Cell:
    """One published number.

    Attributes:
        workload: Workload of this cell: the table's, with the cell's own values.
        settings: Tunable name to value, in the same way.
        value: Bytes per second, seconds or a ratio.
        low / high: Least and largest repeat, if known; otherwise equal to `value`.
        repeats: Number of repeats; 0 if unknown.
        calibrate: Whether a fit may use it; otherwise it is only predicted.
        bound: "at most" if the number is a bound and not a measurement.
        own: Values of the cell itself, which distinguish it from the others of its table.
    """

    workload: Mapping[str, Any]
    settings: Mapping[str, Any]
    value: float
    low: float
    high: float
    repeats: int
    calibrate: bool
    bound: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """One published table.

    Attributes:
        name: Name of the file: "archer2-hdd-mpiio-lock2".
        title: Title in one line.
        machine: Description with which it is predicted.
        unit: Unit of the numbers as published, one of `UNITS`.
        statistic: "median", "maximum", ...
        source: Who measured it.
        rule: How the cells to fit were selected.
        assumed: Assumptions that the source does not state.
        search: Tunable name to values, of which "tuned" cells have the best.
        cells: Cells in the order of the file.
    """

    name: str
    title: str
    machine: str
    unit: str
    statistic: str
    source: str
    rule: str
    assumed: tuple[str, ...]
    search: Mapping[str, Sequence[Any]]
    cells: tuple[Cell, ...]

    @property
    def is_time(self) -> bool:
        """Whether the numbers are seconds, of which less is better."""
        return self.unit == "s"


def table_names() -> tuple[str, ...]:
    """Return the names of all tables, sorted."""
    return tuple(sorted(one.stem for one in FOLDER.glob("*.toml")))


@cache
def load_table(name: str) -> Table:
    """Read one of the tables.

    Raises:
        UsageError: There is no such table.
    """
    if name not in table_names():
        raise UsageError(f"no published table {name!r}: choose from {', '.join(table_names())}")
    return parse_table((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def parse_table(text: str) -> Table:
    """Parse the text of a table."""
    data = tomllib.loads(text)
    workload, settings = data.get("workload", {}), data.get("settings", {})
    return Table(
        **{key: data[key] for key in ("name", "title", "machine", "unit", "statistic")},
        source=" ".join(data["source"].split()),
        rule=" ".join(data["rule"].split()),
        assumed=tuple(data.get("assumed", ())),
        search=data.get("search", {}),
        cells=tuple(_cell(one, workload, settings, UNITS[data["unit"]]) for one in data["cells"]),
    )


def _cell(
    data: dict[str, Any], workload: dict[str, Any], settings: dict[str, Any], unit: float
) -> Cell:
    own = {key: value for key, value in data.items() if key not in _NUMBERS}
    value = data["value"] * unit
    return Cell(
        workload={**workload, **{key: own[key] for key in own if key != "settings"}},
        settings={**settings, **own.get("settings", {})},
        value=value,
        low=data.get("low", data["value"]) * unit,
        high=data.get("high", data["value"]) * unit,
        repeats=data.get("repeats", 0),
        calibrate=data.get("calibrate", True),
        bound=data.get("bound", ""),
        own=own,
    )


_NUMBERS = frozenset({"value", "low", "high", "repeats", "calibrate", "bound"})
