# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a campaign: cells, runs that failed, striping and hints as found, circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import Any

from stripewise.bench._case import CaseRun
from stripewise.bench.campaign import Campaign, CaseFigures
from stripewise.bench.report._axes import (
    ELEMENT_BYTES,
    Axis,
    axes_of,
    label_of,
    operation_title,
    rate_of,
    spread_of,
    striping_words,
)
from stripewise.present import number_text, plural, printable, size_text

_LONG = 400


@dataclass(frozen=True)
class CellRow:
    """One cell and operation of the table.

    Attributes:
        series: Of the case.
        values: Of each axis that varies, for people.
        orders: Their places, to sort by.
        operation: For people; "" where no run ended well.
        figures: None where no run ended well.
        interval / best / spread / runs: For people.
        doubts: Names of the flags.
        trouble: What became of runs that did not end well.
    """

    series: str
    values: tuple[str, ...]
    orders: tuple[int, ...]
    operation: str = ""
    figures: CaseFigures | None = None
    median: str = ""
    interval: str = ""
    best: str = ""
    spread: str = ""
    runs: str = ""
    doubts: str = ""
    trouble: str = ""


def cell_axes(campaign: Campaign) -> tuple[Axis, ...]:
    """Return the columns between a cell's series and its figures."""
    return axes_of(list(campaign.suite.cases), campaign.suite.directories)


def cell_rows(campaign: Campaign, figures: Iterable[CaseFigures]) -> Iterator[CellRow]:
    """Yield a row for each cell and operation, in the order of the suite."""
    axes = cell_axes(campaign)
    places = [{value: n for n, value in enumerate(axis.values)} for axis in axes]
    by_case: dict[str, list[CaseFigures]] = {}
    for one in figures:
        by_case.setdefault(one.case.key, []).append(one)
    for case, runs in campaign.of_cases():
        values = [axis.at(case) for axis in axes]
        words = tuple(axis.text(value) for axis, value in zip(axes, values, strict=True))
        orders = tuple(at[value] for at, value in zip(places, values, strict=True))
        row = CellRow(printable(case.series), words, orders, trouble=_trouble(runs))
        mine = by_case.get(case.key, [])
        yield from (_with_figures(row, one) for one in mine)
        if not mine:
            yield row


def _with_figures(row: CellRow, one: CaseFigures) -> CellRow:
    outliers = f", {plural(len(one.outliers), 'outlier')}" if one.outliers else ""
    return CellRow(
        row.series, row.values, row.orders, operation_title(one.operation), one,
        rate_of(one), f"{rate_of(one, one.low)} – {rate_of(one, one.high)}",
        rate_of(one, one.best), spread_of(one), f"{len(one.rates)}{outliers}",
        ", ".join(dict.fromkeys(printable(flag.name) for flag in one.flags)), row.trouble,
    )  # fmt: skip


def _trouble(runs: Sequence[CaseRun]) -> str:
    bad = [run for run in runs if run.status != "ok"]
    if not bad:
        return "" if runs else "not run"
    return (
        f"{plural(len(bad), 'run')}: {', '.join(dict.fromkeys(printable(r.status) for r in bad))}"
    )


def constants(campaign: Campaign) -> dict[str, str]:
    """Return what all cases have in common, where it says something."""
    cases = campaign.suite.cases
    if not cases:
        return {}
    same: dict[str, str] = {}
    of_data = any(case.operation != "metadata" for case in cases)
    for name, title, show in _COMMON:
        if not of_data and name in ("pattern", "local", "size", "transfer_bytes"):
            continue
        values = {getattr(case, name) for case in cases}
        if len(values) == 1 and (value := next(iter(values))):
            same[title] = show(value)
    return same


def _shape(value: Any) -> str:
    if str(value).isdigit():
        return size_text(int(value) * ELEMENT_BYTES)
    return f"{printable(str(value)).replace(',', ' x ')} elements"


_COMMON: tuple[tuple[str, str, Any], ...] = (
    ("nodes", "Nodes", str),
    ("ranks_per_node", "Ranks per node", str),
    ("pattern", "Pattern", printable),
    ("local", "Data of each rank", _shape),
    ("size", "Array", _shape),
    ("transfer_bytes", "Transfer size", size_text),
    ("files", "Files per rank", str),
    ("file_bytes", "Bytes per file", size_text),
    ("runner", "Program", printable),
    ("repeats", "Runs of each cell", str),
)


# ---- failed runs -----------------------------------------------------------------------------


def failed_rows(campaign: Campaign) -> list[tuple[str, str, str, str]]:
    """Return runs that did not end well as cell, runs, status, why; equal ones of a cell once."""
    names = {case.key: label_of(case, axes) for axes in [cell_axes(campaign)]
             for case in campaign.suite.cases}  # fmt: skip
    found: dict[tuple[str, str, str], list[int]] = {}
    for run in campaign.runs:
        if run.status != "ok":
            found.setdefault((run.key, run.status, run.message), []).append(run.repeat)
    return [
        (names.get(key, printable(key)), ", ".join(map(str, sorted(repeats))), printable(status),
         printable(message)[:_LONG] or "no reason is recorded")
        for (key, status, message), repeats in found.items()
    ]  # fmt: skip


# ---- striping and hints ----------------------------------------------------------------------


@dataclass(frozen=True)
class StripingRow:
    """How files of a directory were striped.

    Attributes:
        directory: Its name.
        asked: By the suite.
        found: On the storage.
        targets: On which files were.
        differs: Whether stripes are others than the suite asked for.
    """

    directory: str
    asked: str
    found: str
    targets: str
    differs: bool


def striping_rows(campaign: Campaign) -> list[StripingRow]:
    """Return for each directory how its files were to be striped, and how they were."""
    of_case = {case.key: case.directory for case in campaign.suite.cases}
    layouts: dict[str, list[Mapping[str, Any]]] = {}
    for run in campaign.runs:
        if run.layout and run.key in of_case:
            layouts.setdefault(of_case[run.key], []).append(run.layout)
    return [_striping(campaign, name, found) for name, found in layouts.items()]


def _striping(campaign: Campaign, name: str, found: Sequence[Mapping[str, Any]]) -> StripingRow:
    place = campaign.suite.directories.get(name)
    counts = sorted({one["stripe_count"] for one in found
                     if isinstance(one.get("stripe_count"), int)})  # fmt: skip
    sizes = sorted({one["stripe_size_bytes"] for one in found
                    if isinstance(one.get("stripe_size_bytes"), int)})  # fmt: skip
    targets = sorted({target for one in found for target in _targets(one)})
    text = f"{_span(counts)} {'stripe' if counts == [1] else 'stripes'}" if counts else "not known"
    text += f" of {', '.join(map(size_text, sizes[:4]))}" if sizes else ""
    asked = place.stripe_count if place else 0
    differs = asked > 0 and bool(counts) and counts != [asked]
    return StripingRow(
        printable(name), striping_words(place) if place else "", text, _numbers(targets),
        differs or bool(place and place.stripe_bytes and sizes and sizes != [place.stripe_bytes]),
    )  # fmt: skip


def _targets(layout: Mapping[str, Any]) -> list[int]:
    found = layout.get("targets")
    return (
        [one for one in found if isinstance(one, int)] if isinstance(found, list | tuple) else []
    )


def _span(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def _numbers(values: Sequence[int]) -> str:
    """Write numbers with runs of neighbours as a range: "0–11, 14"."""
    parts: list[list[int]] = []
    for value in values:
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in parts[:40])


def hint_rows(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the hints that MPI-IO reported, cells with the same ones together."""
    axes = cell_axes(campaign)
    names = {case.key: label_of(case, axes) for case in campaign.suite.cases}
    found: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for run in campaign.runs:
        if run.hints:
            key = tuple(sorted((printable(str(name)), printable(str(value)))
                               for name, value in run.hints.items()))  # fmt: skip
            found.setdefault(key, {}).setdefault(names.get(run.key, printable(run.key)))
    return [(_some(cells), ", ".join(f"{name}={value}" for name, value in hints))
            for hints, cells in found.items()]  # fmt: skip


def _some(cells: Mapping[str, None], most: int = 6) -> str:
    shown = "; ".join(list(cells)[:most])
    return f"{shown}; and {len(cells) - most} more" if len(cells) > most else shown


# ---- circumstances ---------------------------------------------------------------------------

_ABOUT = {
    "launcher": "Launcher", "system": "System", "stack": "MPI-IO", "targets": "Targets",
    "stripewise": "Stripewise",
}  # fmt: skip


def circumstances(campaign: Campaign) -> dict[str, str]:
    """Return under which circumstances the runs were made."""
    about, found = campaign.about, dict[str, str]()
    for key, title in _ABOUT.items():
        if value := about.get(key):
            found[title] = printable(str(value))
    memory = about.get("memory_bytes")
    if isinstance(memory, int | float) and memory > 0:
        found["Memory of a node"] = size_text(memory)
    versions = about.get("versions")
    if isinstance(versions, Mapping) and versions:
        found["Versions"] = ", ".join(f"{printable(str(name))} {printable(str(value))}"
                                      for name, value in versions.items())  # fmt: skip
    for key, value in about.items():
        if key not in (*_ABOUT, "memory_bytes", "versions") and value not in ("", None):
            found[printable(str(key)).replace("_", " ").capitalize()] = printable(str(value))[
                :_LONG
            ]
    return {**found, **_observed(campaign.runs)}


def _observed(runs: Sequence[CaseRun]) -> dict[str, str]:
    """Say what was seen run by run, over all of them."""
    values: dict[str, list[Any]] = {}
    for run in runs:
        for key, value in run.circumstances.items():
            values.setdefault(str(key), []).append(value)
    titles = {"load": "Load at the start of a run", "other_jobs": "Other jobs at a run",
              "node_list": "Nodes that were used"}  # fmt: skip
    return {titles.get(key, printable(key).replace("_", " ").capitalize()): _over_all(found)
            for key, found in values.items()}  # fmt: skip


def _over_all(values: Sequence[Any]) -> str:
    numbers = [float(one) for one in values
               if isinstance(one, int | float) and isfinite(one)]  # fmt: skip
    if numbers and len(numbers) == len(values):
        low, high = number_text(min(numbers)), number_text(max(numbers))
        return low if low == high else f"{low} to {high}, median {number_text(median(numbers))}"
    texts = list(dict.fromkeys(printable(str(one)) for one in values))
    shown = "; ".join(texts[:4])[:_LONG]
    return f"{shown}; and {len(texts) - 4} more" if len(texts) > 4 else shown
