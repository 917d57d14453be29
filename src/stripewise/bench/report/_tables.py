# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of a campaign: cells, failed runs, striping and hints, circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from statistics import median
from typing import Any

from stripewise.bench._case import CaseRun
from stripewise.bench.campaign import Campaign, CaseFigures, DirectoryStriping
from stripewise.bench.report._axes import (
    ELEMENT_BYTES,
    Axis,
    axes_of_campaign,
    label_of,
    operation_title,
    rate_of,
    spread_of,
    striping_words,
)
from stripewise.present import number_text, plural, printable, size_text
from stripewise.present.blocks import Block, Column, Section, Table

_LONG = 400
_MOST_ROWS = 500
Row = dict[str, Any]


def cell_table(campaign: Campaign, figures: Iterable[CaseFigures], most: int) -> Table:
    """Return a table with a row for each cell and operation, at most `most`; 0 for all."""
    axes = axes_of_campaign(campaign)
    rows = list(_cell_rows(campaign, figures, axes))
    shown = rows[:most] if most else rows
    columns = [
        Column("series", "Series"),
        *(Column(f"axis_{at}", axis.title, order=f"at_{at}") for at, axis in enumerate(axes)),
        Column("operation", "Operation"),
        Column("median", "Median", "figure", order="by_median"),
        Column("interval", "Interval, 95 %", "figure", order="by_low"),
        Column("best", "Best", "figure", order="by_best"),
        Column("spread", "Spread (CV)", "figure"),
        Column("runs", "Runs", "figure", order="by_runs"),
        Column("doubts", "Doubts", small="trouble"),
    ]
    total = f"{plural(len(rows), 'row')}, in the order of the suite"
    if len(rows) > len(shown):
        total = (
            f"The first {most} of {plural(len(rows), 'row')}; write all with `stripewise bench "
            "report --csv FILE`"
        )
    note = (
        "Median, interval and best are of all successful runs, including outliers. Spread: "
        "coefficient of variation of these runs."
    )
    return Table("cells", "All cells", columns, shown, note, total=total, is_sortable=True)


def _cell_rows(
    campaign: Campaign, figures: Iterable[CaseFigures], axes: Sequence[Axis]
) -> Iterator[Row]:
    """Yield the rows in the order of the suite."""
    places = [{value: n for n, value in enumerate(axis.values)} for axis in axes]
    by_case: dict[str, list[CaseFigures]] = {}
    for one in figures:
        by_case.setdefault(one.case.key, []).append(one)
    for case, runs in campaign.of_cases():
        row: Row = {"series": case.series, "trouble": _trouble(runs)}
        for number, (axis, place) in enumerate(zip(axes, places, strict=True)):
            value = axis.at(case)
            row |= {f"axis_{number}": axis.text(value), f"at_{number}": place[value]}
        mine = by_case.get(case.key, [])
        yield from (row | _figure_cells(one) for one in mine)
        if not mine:
            yield row | _NO_FIGURE


def _figure_cells(one: CaseFigures) -> Row:
    outliers = f", {plural(len(one.outliers), 'outlier')}" if one.outliers else ""
    return {
        "operation": operation_title(one.operation),
        "median": rate_of(one), "by_median": one.median,
        "interval": f"{rate_of(one, one.low)} – {rate_of(one, one.high)}", "by_low": one.low,
        "best": rate_of(one, one.best), "by_best": one.best,
        "spread": spread_of(one),
        "runs": f"{len(one.rates)}{outliers}", "by_runs": len(one.rates),
        "doubts": ", ".join(dict.fromkeys(printable(flag.name) for flag in one.flags)),
    }  # fmt: skip


_NO_FIGURE: Row = {
    **dict.fromkeys(("operation", "interval", "best", "spread", "doubts"), ""),
    **dict.fromkeys(("by_median", "by_low", "by_best", "by_runs"), 0),
    **{"median": "–", "runs": "0", "look": "failed"},
}
"""Row of a cell of which no run ended well."""


def _trouble(runs: Sequence[CaseRun]) -> str:
    bad = [run for run in runs if run.status != "ok"]
    if not bad:
        return "" if runs else "not run"
    return (
        f"{plural(len(bad), 'run')}: {', '.join(dict.fromkeys(printable(r.status) for r in bad))}"
    )


def constants(campaign: Campaign) -> dict[str, str]:
    """Return the common properties of all cases, if they are informative."""
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


def failed_rows(campaign: Campaign) -> list[Row]:
    """Return runs that failed; equal failures of a cell are merged."""
    axes = axes_of_campaign(campaign)
    names = {case.key: label_of(case, axes) for case in campaign.suite.cases}
    found: dict[tuple[str, str, str], list[int]] = {}
    for run in campaign.runs:
        if run.status != "ok":
            found.setdefault((run.key, run.status, run.message), []).append(run.repeat)
    return [
        {
            "cell": names.get(key, printable(key)),
            "runs": ", ".join(map(str, sorted(repeats))),
            "status": printable(status),
            "why": printable(message)[:_LONG] or "no reason is recorded",
            "look": "failed",
        }
        for (key, status, message), repeats in found.items()
    ]


def failed_table(campaign: Campaign) -> Iterator[Block]:
    """Yield the table of failed runs, if there are any."""
    rows = failed_rows(campaign)
    if rows:
        columns = [Column(name, name.capitalize()) for name in ("cell", "runs", "status", "why")]
        shown = rows[:_MOST_ROWS]
        first = f"The first {len(shown)} of {len(rows)}" if len(rows) > len(shown) else ""
        total = f"{first or 'Runs that did not succeed'}; none of them is in the figures"
        yield Table("failed", "Failed runs", columns, shown, total=total)


# ---- striping and hints ----------------------------------------------------------------------


def striping_section(campaign: Campaign) -> Iterator[Block]:
    """Yield how files were striped and which hints MPI-IO reported, if known."""
    blocks: list[Block] = []
    if striping := _striping_rows(campaign):
        columns = (
            Column("directory", "Directory"),
            Column("asked", "Requested"),
            Column("found", "Found"),
            Column("targets", "Targets used"),
        )
        total = "Files of each directory, read back from the storage"
        blocks.append(Table("found-striping", "", columns, striping, total=total))
    if hints := _hint_rows(campaign)[:_MOST_ROWS]:
        note = "A reported hint is one that the library knows; this does not prove that it acts."
        total = "Hints that MPI-IO reported of the open file"
        both = (Column("cells", "Cells"), Column("hints", "Hints"))
        blocks.append(Table("found-hints", "", both, hints, note, total=total))
    if blocks:
        yield Section("striping", "Striping and hints as found", blocks)


def _striping_rows(campaign: Campaign) -> list[Row]:
    """Return for each directory the requested and the actual striping of its files."""
    of_case = {case.key: case.directory for case in campaign.suite.cases}
    layouts: dict[str, list[Mapping[str, Any]]] = {}
    for run in campaign.runs:
        if run.layout and run.key in of_case:
            layouts.setdefault(of_case[run.key], []).append(run.layout)
    return [_striping_row(campaign, name, found) for name, found in layouts.items()]


def _striping_row(campaign: Campaign, name: str, found: Sequence[Mapping[str, Any]]) -> Row:
    place = campaign.suite.directories.get(name, DirectoryStriping())
    counts, sizes = (
        _whole_numbers(found, "stripe_count"),
        _whole_numbers(found, "stripe_size_bytes"),
    )
    targets = sorted({target for one in found for target in _targets(one)})
    text = "not known"
    if counts:
        span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        text = f"{span} {'stripe' if counts == [1] else 'stripes'}"
    text += f" of {', '.join(map(size_text, sizes[:4]))}" if sizes else ""
    is_other_count = place.stripe_count > 0 and counts not in ([], [place.stripe_count])
    is_other_size = place.stripe_bytes and sizes not in ([], [place.stripe_bytes])
    differs = is_other_count or is_other_size
    return {
        "directory": name,
        "asked": striping_words(place) or "the storage's default",
        "found": f"{text}, which is not what was requested" if differs else text,
        "targets": _number_ranges(targets) or "not known",
        "look": "doubtful" if differs else "",
    }


def _whole_numbers(found: Iterable[Mapping[str, Any]], name: str) -> list[int]:
    return sorted({one[name] for one in found if isinstance(one.get(name), int)})


def _targets(layout: Mapping[str, Any]) -> list[int]:
    found = layout.get("targets")
    return (
        [one for one in found if isinstance(one, int)] if isinstance(found, list | tuple) else []
    )


def _number_ranges(values: Sequence[int]) -> str:
    """Return numbers with successive ones as a range: "0–11, 14"."""
    parts: list[list[int]] = []
    for value in values:
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in parts[:40])


def _hint_rows(campaign: Campaign) -> list[Row]:
    """Return the hints that MPI-IO reported, with equal ones of several cells merged."""
    axes = axes_of_campaign(campaign)
    names = {case.key: label_of(case, axes) for case in campaign.suite.cases}
    found: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for run in campaign.runs:
        if run.hints:
            key = tuple(sorted((printable(str(name)), printable(str(value)))
                               for name, value in run.hints.items()))  # fmt: skip
            found.setdefault(key, {}).setdefault(names.get(run.key, printable(run.key)))
    return [
        {"cells": _first_of(cells), "hints": ", ".join(f"{name}={value}" for name, value in hints)}
        for hints, cells in found.items()
    ]


def _first_of(cells: Mapping[str, None], most: int = 6) -> str:
    shown = "; ".join(list(cells)[:most])
    return f"{shown}; and {len(cells) - most} more" if len(cells) > most else shown


# ---- circumstances ---------------------------------------------------------------------------

_ABOUT = {
    "launcher": "Launcher", "system": "System", "stack": "MPI-IO", "targets": "Targets",
    "stripewise": "Stripewise",
}  # fmt: skip


def circumstances(campaign: Campaign) -> dict[str, str]:
    """Return the circumstances under which the runs were made."""
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
    """Return a summary of what was observed in each run."""
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
