# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names what varies between cases of a campaign, and formats figures, rates and labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite, prod
from statistics import mean, stdev
from typing import Any

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, CaseFigures, DirectoryStriping
from stripewise.present import (
    percent_text,
    plural,
    printable,
    seconds_text,
    size_text,
    value_text,
)

ELEMENT_BYTES = 8
"""Size of an element in the pattern blocks, whose `local` a suite's rank_size determines."""

DIRECTORY = "directory"
SCALES = ("nodes", "ranks_per_node")


@dataclass(frozen=True)
class Axis:
    """One quantity that varies.

    Attributes:
        name: Name of the case's field, or "settings." and the name of a tunable.
        title: Title for users.
        values: Values that occur, in order.
        is_number: Whether the values are positive numbers, which allow a logarithmic axis.
        at: Returns the value of a case.
        text: Returns a value in words.
    """

    name: str
    title: str
    values: tuple[Any, ...]
    is_number: bool
    at: Callable[[Case], Any] = field(compare=False)
    text: Callable[[Any], str] = field(compare=False)

    @property
    def is_scale(self) -> bool:
        """Whether it determines the size of the job."""
        return self.name in SCALES

    def labelled_value(self, case: Case) -> str:
        """Return the value of a case with as much of the title as needed to understand it.

        It is empty if the case has no value, like one of another series that does not set the
        tunable.
        """
        value = self.at(case)
        if value is None:
            return ""
        if self.name == "nodes":
            return plural(value, "node")
        if self.name == "ranks_per_node":
            return f"{plural(value, 'rank')} per node"
        if self.name in ("beside", "sync"):
            return self.text(value)
        if self.name.startswith("settings.") or self.is_number:
            return f"{self.title} {self.text(value)}"
        return self.text(value)


def axes_of(cases: Sequence[Case], places: Mapping[str, DirectoryStriping]) -> tuple[Axis, ...]:
    """Return what varies within at least one series, scales first.

    An axis that only repeats an earlier one (the transfer size follows the stripe size) is left
    out.
    """
    found: list[Axis] = []
    partitions: set[tuple[int, ...]] = set()
    series = [case.series for case in cases]
    for name in _names(cases):
        read = _reader(name)
        values = [read(case) for case in cases]
        if not _varies(series, values):
            continue
        partition = _partition(values)
        if partition not in partitions:
            partitions.add(partition)
            found.append(_axis(name, cases, values, places))
    return tuple(found)


def axes_of_campaign(campaign: Campaign) -> tuple[Axis, ...]:
    """Return what varies between the cases of a campaign."""
    return axes_of(list(campaign.suite.cases), campaign.suite.directories)


def _names(cases: Iterable[Case]) -> list[str]:
    settings = sorted({name for case in cases for name, _ in case.settings})
    return [*_FIELDS, *(f"settings.{name}" for name in settings)]


def _reader(name: str) -> Callable[[Case], Any]:
    if name.startswith("settings."):
        return partial(_setting, name.removeprefix("settings."))
    return partial(_field, name)


def _setting(name: str, case: Case) -> Any:
    return next((value for key, value in case.settings if key == name), None)


def _field(name: str, case: Case) -> Any:
    return getattr(case, name)


def _varies(series: Sequence[str], values: Sequence[Hashable]) -> bool:
    first: dict[str, Hashable] = {}
    pairs = zip(series, values, strict=True)
    return any(first.setdefault(name, value) != value for name, value in pairs)


def _partition(values: Sequence[Hashable]) -> tuple[int, ...]:
    """Return each value's first index, which is equal for axes that divide cases equally."""
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)


def _axis(
    name: str,
    cases: Sequence[Case],
    values: Sequence[Any],
    places: Mapping[str, DirectoryStriping],
) -> Axis:
    known = list(dict.fromkeys(values))
    if name == DIRECTORY:
        return _directories(known, places)
    read = _reader(name)
    title, text = _FIELDS.get(name, ("", _setting_text))
    if name.startswith("settings."):
        title = printable(name.rpartition(".")[2])
    if name == "local" and all("," not in one and one for one in known):
        read, known = _rank_bytes, [_elements(one) * ELEMENT_BYTES for one in known]
        text = size_text
    elif name == "local":
        title = "elements per rank"
    numeric = all(_is_positive(one) for one in known if one is not None)
    return Axis(name, title, tuple(sorted(known, key=_order)), numeric, read, text)


def _rank_bytes(case: Case) -> int:
    return _elements(case.local) * ELEMENT_BYTES


def _elements(shape: str) -> int:
    return prod(int(one) for one in shape.split(",")) if shape else 0


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _order(value: Any) -> tuple[bool, float, str]:
    if isinstance(value, int | float):
        return False, value, ""
    return True, 0.0, "" if value is None else str(value)


def _setting_text(value: Any) -> str:
    return "default" if value in (None, "") else value_text(value)


def _size(value: int) -> str:
    return size_text(value) if value else "whole"


_FIELDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "nodes": ("nodes", str),
    "ranks_per_node": ("ranks per node", str),
    "transfer_bytes": ("transfer size", _size),
    "local": ("data per rank", _setting_text),
    "size": ("array", _setting_text),
    "steps": ("steps", str),
    "files": ("files per rank", str),
    "depth": ("depth of the tree", str),
    "width": ("directories per level", str),
    "file_bytes": ("bytes per file", _size),
    "stonewall_seconds": ("stonewall", lambda value: seconds_text(value) if value else "off"),
    "pattern": ("pattern", _setting_text),
    "backend": ("library", _setting_text),
    "layout": ("files", _setting_text),
    "mode": ("mode", _setting_text),
    "sharing": ("directories", _setting_text),
    "sync": ("sync", lambda value: "with sync" if value else "without sync"),
    "cache": ("against caches", _setting_text),
    "runner": ("program", _setting_text),
    "operation": ("operation", _setting_text),
    "beside": ("beside", lambda value: f"beside {printable(value)}" if value else "alone"),
    DIRECTORY: ("directory", _setting_text),
}
"""Fields of a case that may vary, scales first: their title, and how to format a value."""


# ---- directories -----------------------------------------------------------------------------

_ASPECTS = {"stripe_count": "stripes", "stripe_bytes": "stripe size", "target": "target"}


def _directories(names: Sequence[str], places: Mapping[str, DirectoryStriping]) -> Axis:
    """Return an axis of directories, by the one property in which they differ, if there is one."""
    known = {name: places.get(name, DirectoryStriping()) for name in names}
    differing = [
        aspect for aspect in _ASPECTS if len({getattr(p, aspect) for p in known.values()}) > 1
    ]
    aspect = differing[0] if len(differing) == 1 else ""
    if aspect and len({getattr(p, aspect) for p in known.values()}) < len(known):
        aspect = ""
    if aspect in ("stripe_bytes", "target"):
        return _by_aspect(aspect, known)
    order = sorted(names, key=lambda one: _wide(known[one])) if differing else list(names)
    texts = {name: _named(name, known[name]) for name in order}
    return Axis(
        DIRECTORY, "directory", tuple(order), False, partial(_field, DIRECTORY), texts.__getitem__
    )


def _by_aspect(aspect: str, known: Mapping[str, DirectoryStriping]) -> Axis:
    of = {name: getattr(place, aspect) for name, place in known.items()}
    values = tuple(sorted(of.values()))
    show = size_text if aspect == "stripe_bytes" else str
    return Axis(
        DIRECTORY,
        _ASPECTS[aspect],
        values,
        aspect == "stripe_bytes" and min(values) > 0,
        lambda case: of[case.directory],
        lambda value: show(value) if value > 0 or aspect == "target" else "default",
    )


def _wide(place: DirectoryStriping) -> tuple[float, int, int]:
    count = float("inf") if place.stripe_count < 0 else float(place.stripe_count)
    return count, place.stripe_bytes, place.target


def _named(name: str, place: DirectoryStriping) -> str:
    return f"{printable(name)} ({words})" if (words := striping_words(place)) else printable(name)


def striping_words(place: DirectoryStriping) -> str:
    """Return how files of a directory should be striped; empty for the storage's default."""
    words = []
    if place.stripe_count:
        every = place.stripe_count < 0
        words.append("all targets" if every else plural(place.stripe_count, "stripe"))
    if place.stripe_bytes:
        words.append(f"of {size_text(place.stripe_bytes)}" if words else
                     f"stripes of {size_text(place.stripe_bytes)}")  # fmt: skip
    if place.target >= 0:
        words.append(f"from target {place.target}")
    return " ".join(words)


# Formatting of a campaign's figures: rates, units, names of cells.

_NOUNS = {
    "write": "written",
    "read": "read",
    "create": "files created",
    "stat": "files looked up",
    "read-file": "files read",
    "remove": "files removed",
    "create-directory": "directories created",
    "stat-directory": "directories looked up",
    "remove-directory": "directories removed",
}


@dataclass(frozen=True)
class Unit:
    """Unit of an axis of rates.

    Attributes:
        name: Name of the unit: "GiB/s".
        size: Number of base units in one unit.
    """

    name: str
    size: float


def unit_of(figures: Iterable[CaseFigures]) -> Unit:
    """Return the unit in which the largest of figures of one kind is at least 1."""
    found = list(figures)
    top = max((one.best for one in found), default=0.0)
    if found and not found[0].of_data:
        return Unit("thousand operations/s", 1e3) if top >= 1e4 else Unit("operations/s", 1.0)
    if top >= 2**40:
        return Unit("TiB/s", 2.0**40)
    return Unit("GiB/s", 2.0**30) if top >= 2**30 else Unit("MiB/s", 2.0**20)


def is_drawable(one: CaseFigures) -> bool:
    """Return whether a figure can be drawn on an axis."""
    return all(
        isfinite(value) and value > 0 for value in (one.median, one.best, one.low, one.high)
    )


def figure_row(one: CaseFigures, unit: Unit) -> dict[str, Any]:
    """Return the chart data of a cell: numbers in a unit, and texts for its tooltip."""
    return {
        "median": one.median / unit.size,
        "low": one.low / unit.size,
        "high": one.high / unit.size,
        "best": one.best / unit.size,
        "outliers": [one.rates[place] / unit.size for place in one.outliers],
        "rate": rate_of(one),
        "interval": f"{rate_of(one, one.low)} – {rate_of(one, one.high)}",
        "top": rate_of(one, one.best),
        "runs": len(one.rates),
    }


def job_words(case: Case) -> str:
    """Return the size of a case's job in words."""
    return f"{plural(case.nodes, 'node')}, {plural(case.ranks_per_node, 'rank')} per node"


def rate_of(one: CaseFigures, rate: float | None = None) -> str:
    """Return the median of a figure, or another rate of it, in words."""
    return one.text(one.median if rate is None else rate)


def operation_words(operation: str) -> str:
    """Return a rate with what was done: "12 GiB/s written", "9500 files created a second"."""
    return _NOUNS.get(operation, printable(operation))


def operation_title(operation: str) -> str:
    """Return an operation as a heading: "Write", "Create directory"."""
    return printable(operation.replace("-", " ")).capitalize()


def label_of(case: Case, axes: Iterable[Axis], *, series: bool = True) -> str:
    """Return the name of a case from its series and its values on some axes."""
    words = [printable(case.series)] if series else []
    words += [axis.labelled_value(case) for axis in axes]
    return ", ".join(filter(None, words)) or printable(case.series)


def spread_of(one: CaseFigures) -> str:
    """Return the coefficient of variation of the runs; empty for fewer than two."""
    if len(one.rates) < 2 or not isfinite(sum(one.rates)) or not mean(one.rates) > 0:
        return ""
    return percent_text(stdev(one.rates) / mean(one.rates))
