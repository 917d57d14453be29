# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents campaigns side by side in the terminal, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

from stripewise.bench import Case
from stripewise.bench.comparison import (
    COMPARISON_METHOD,
    ComparedCell,
    Comparison,
    ComparisonCell,
    FactorTable,
    Ratio,
    case_words,
    difference_words,
    factor_tables,
)
from stripewise.bench.report._axes import operation_title
from stripewise.bench.report._curves import colour_of
from stripewise.present import (
    chart,
    count_text,
    finite,
    plural,
    printable,
    ratio_text,
    throughput_text,
)
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Drawings,
    Notice,
    Point,
    Points,
    Table,
)
from stripewise.present.renderers import as_page, block_lines

_MOST_LINES = 20


# ---- words -----------------------------------------------------------------------------------


def factor_words(ratio: Ratio | None) -> str:
    """Return a factor with its interval: "9.0x [8.1, 9.9]"."""
    if ratio is None:
        return ""
    if not isfinite(ratio.low):
        return f"{ratio_text(ratio.value)}x"
    return f"{ratio_text(ratio.value)}x [{ratio_text(ratio.low)}, {ratio_text(ratio.high)}]"


def operation_name(operation: str) -> str:
    return printable(operation.replace("-", " "))


def rate_words(cell: ComparisonCell | None) -> str:
    return throughput_text(cell.median, of_data=cell.of_data) if cell else "–"


def sentences(found: Comparison, place: int) -> list[str]:
    """Return sentences on how a campaign differs from the first."""
    name, first = found.names[place], found.names[0]
    differing = found.differing(place)
    lines = [
        f"{operation_name(cell.operation)} of {case_words(cell.case.key)} is "
        f"{difference_words(ratio)} on {name}"
        for cell in differing[:_MOST_LINES]
        if (ratio := cell.ratios[place])
    ]
    if len(differing) > _MOST_LINES:
        lines.append(f"and {len(differing) - _MOST_LINES} more differ: --json has all")
    lines += [f"{name}: {one.sentence}" for one in found.changed[place]]
    alike = found.alike(place)
    if not lines and alike:
        lines.append(
            f"no difference between {name} and {first} is certain in {plural(alike, 'cell')}"
        )
    if not alike:
        lines.append(f"{name} and {first} have no cell that is like for like")
    return [*lines, *_other_nodes(found, place)]


def _other_nodes(found: Comparison, place: int) -> Iterator[str]:
    """Yield which numbers of nodes only one of two campaigns has, and what that means."""
    name, first = found.names[place], found.names[0]
    mine, theirs = found.nodes(place), found.nodes(0)
    if not mine & theirs:
        yield (
            f"not comparable at equal nodes: {first} was measured on {_node_words(theirs)}, "
            f"{name} on {_node_words(mine)}; the tables have the best rate of each and the rate "
            "per node, which usually falls with more nodes"
        )
        return
    for one, other, some in ((first, name, theirs - mine), (name, first, mine - theirs)):
        if some:
            yield f"not compared: {_node_words(some)} of {one}, as {other} has none of them"


def _node_words(nodes: set[int]) -> str:
    shown = ", ".join(map(count_text, sorted(nodes)))
    return f"{shown} node{'' if nodes == {1} else 's'}"


def headline_of(found: Comparison) -> str:
    """Return the result of the comparison in one line."""
    parts = []
    for place in range(1, len(found.names)):
        verdicts = [
            ratio.verdict
            for cell in found.cells
            if (ratio := cell.ratios[place]) and not ratio.unlike
        ]
        if not verdicts:
            parts.append(f"{found.names[place]} has no cell that is like for like")
            continue
        slower, faster = verdicts.count("slower"), verdicts.count("faster")
        parts.append(
            f"{found.names[place]} is slower in {slower} and faster in {faster} of "
            f"{plural(len(verdicts), 'cell')}"
        )
    return f"Compared with {found.names[0]}: {'; '.join(parts)}"


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield the comparison for a terminal: the tables of factors, then the differences."""
    for number, table in enumerate(factor_tables(found)):
        yield from block_lines(_factors(table, found, number))
        yield ""
    for place in range(1, len(found.names)):
        yield from sentences(found, place)
    for name, slow in zip(found.names, found.slow, strict=True):
        yield from (f"{name}: {one.sentence}" for one in slow)
    unlike = sum(any(ratio and ratio.unlike for ratio in cell.ratios) for cell in found.cells)
    if unlike:
        verb = "is" if unlike == 1 else "are"
        yield f"{plural(unlike, 'cell')} {verb} not like for like: --json and the page say why"


# ---- JSON ------------------------------------------------------------------------------------


def comparison_to_json(found: Comparison) -> dict[str, Any]:
    """Return all cells, factors, tables and targets."""
    document = {
        "method": COMPARISON_METHOD,
        "campaigns": list(found.names),
        "tables": [_table_json(one) for one in factor_tables(found)],
        "cells": [
            {
                "case": cell.case.key,
                "operation": cell.operation,
                "medians": [one.median if one else None for one in cell.cells],
                "runs": [len(one.logs) if one else 0 for one in cell.cells],
                "ratios": [_ratio_json(one) for one in cell.ratios],
            }
            for cell in found.cells
        ],
        "slow_targets": [[_target_json(one) for one in slow] for slow in found.slow],
        "changed_targets": [[_target_json(one) for one in some] for some in found.changed],
    }
    result: dict[str, Any] = finite(document)
    return result


def _table_json(table: FactorTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "nodes": list(table.nodes),
        "rows": [
            {
                "operation": row.operation,
                "best": [one.median if one else None for one in row.best],
                "cases": [one.case.key if one else None for one in row.best],
                "factors": [_ratio_json(one) for one in row.factors],
            }
            for row in table.rows
        ],
    }


def _ratio_json(ratio: Ratio | None) -> dict[str, Any] | None:
    return None if ratio is None else {**vars(ratio), "verdict": ratio.verdict}


def _target_json(one: Any) -> dict[str, Any]:
    fields = {name: value for name, value in vars(one).items() if name != "changed"}
    return {**fields, "sentence": one.sentence}


# A comparison of campaigns as one self-contained page.

_MOST_CHARTS = 24
_MOST_ROWS = 2000


def render_comparison(found: Comparison) -> str:
    """Return the HTML page of a comparison; the same campaigns give the same page."""
    names = " · ".join(found.names)
    subject = "Comparison of campaigns"
    return as_page(Content(names, headline_of(found), list(_blocks(found)), subject=subject))


def _blocks(found: Comparison) -> Iterator[Block]:
    texts = [text for place in range(1, len(found.names)) for text in sentences(found, place)]
    method = f"Method: {COMPARISON_METHOD}."
    yield Points("differences", "Differences", [Point(one) for one in texts], method)
    slow = [
        f"{name}: {one.sentence}"
        for name, some in zip(found.names, found.slow, strict=True)
        for one in some
    ]
    if slow:
        yield Notice("targets", "Slow targets", slow, "warn")
    for number, table in enumerate(factor_tables(found)):
        yield _factors(table, found, number)
    if pictures := charts(found):
        yield Drawings("curves", "Over nodes and processes", pictures)
    yield _cells(found)


def _factors(table: FactorTable, found: Comparison, number: int) -> Table:
    columns = [Column("operation", "Operation"), Column("best_0", found.names[0], "figure")]
    for place, name in enumerate(found.names[1:], 1):
        columns.append(Column(f"best_{place}", name, "figure"))
        columns.append(Column(f"factor_{place}", "Ratio", "figure", small=f"unlike_{place}"))
    rows = []
    for row in table.rows:
        cells = {"operation": operation_title(row.operation)}
        for place, (best, factor) in enumerate(zip(row.best, row.factors, strict=True)):
            cells |= {
                f"best_{place}": rate_words(best),
                f"factor_{place}": factor_words(factor),
                f"unlike_{place}": factor.unlike if factor else "",
            }
        rows.append(cells)
    caption = (
        f"The best median of any case on {table.title}, and its ratio to {found.names[0]} "
        "with an interval of 95 %"
    )
    name = f"factors-{number + 1}"
    return Table(name, f"Throughput and metadata on {table.title}", columns, rows, total=caption)


def _cells(found: Comparison) -> Table:
    first, *others = found.names
    columns = [Column("case", "Case"), Column("operation", "Operation")]
    columns += [Column(f"rate_{at}", name, "figure") for at, name in enumerate(found.names)]
    for place, name in enumerate(others, 1):
        columns.append(Column(f"ratio_{place}", f"{name} / {first}", "figure"))
        columns.append(Column(f"verdict_{place}", "Verdict"))
    rows = [_row(one) for one in found.cells[:_MOST_ROWS]]
    number = plural(len(found.cells), "cell")
    shown = f"The first {len(rows)} of {number}" if len(found.cells) > len(rows) else number
    caption = f"{shown}: medians, and their ratio to {first}"
    return Table("cells", "All cells", columns, rows, total=caption)


def _row(cell: ComparedCell) -> dict[str, Any]:
    looks = {"slower": "failed", "faster": "best"}
    verdicts = [ratio.verdict for ratio in cell.ratios if ratio and not ratio.unlike]
    row = {"case": case_words(cell.case.key), "operation": operation_name(cell.operation)}
    row |= {f"rate_{place}": rate_words(one) for place, one in enumerate(cell.cells)}
    for place, ratio in enumerate(cell.ratios[1:], 1):
        row[f"ratio_{place}"] = factor_words(ratio)
        row[f"verdict_{place}"] = (ratio.unlike or ratio.verdict) if ratio else ""
    if len(cell.cells) == 2:
        row["look"] = next((looks[one] for one in verdicts if one in looks), "")
    return row


def charts(found: Comparison) -> list[chart.Chart]:
    """Draw each series of cases over nodes or processes, with a curve for each campaign."""
    lines: dict[tuple[str, str, str], list[ComparedCell]] = {}
    for cell in found.cells:
        lines.setdefault(_line(cell, found), []).append(cell)
    drawn = [
        _curve(key, members, found)
        for key, members in lines.items()
        if len({_x(key[2], one.case) for one in members}) > 1
    ]
    return drawn[:_MOST_CHARTS]


def _line(cell: ComparedCell, found: Comparison) -> tuple[str, str, str]:
    """Return the name of a cell's line, its operation, and the quantity over which it is drawn."""
    case = cell.case
    base = replace(case, nodes=1, ranks_per_node=1, repeats=1)
    of_line = [
        one.case
        for one in found.cells
        if one.operation == cell.operation
        and replace(one.case, nodes=1, ranks_per_node=1, repeats=1) == base
    ]
    over = "nodes" if len({one.nodes for one in of_line}) > 1 else "processes"
    if over == "nodes" and len({one.ranks_per_node for one in of_line}) > 1:
        base = replace(base, ranks_per_node=case.ranks_per_node)
    return case_words(base.key), cell.operation, over


def _x(over: str, case: Case) -> int:
    return case.nodes if over == "nodes" else case.ranks


def _curve(
    key: tuple[str, str, str], members: list[ComparedCell], found: Comparison
) -> chart.Chart:
    name, operation, over = key
    unit, scale = ("GiB/s", 2.0**30) if members[0].of_data else ("operations/s", 1.0)
    rows = [
        {
            "campaign": campaign,
            "x": _x(over, cell.case),
            **{name: value / scale for name, value in _span(found, cell).items()},
            "runs": len(cell.logs),
        }
        for member in members
        for campaign, cell in zip(found.names, member.cells, strict=True)
        if cell is not None
    ]
    x = chart.number("x", over, scale={"type": "log", "base": 2, "nice": False}, axis={
        "values": sorted({row["x"] for row in rows}), "format": ",d", "grid": False})  # fmt: skip
    colour = colour_of("campaign", found.names, {"title": None})
    y = chart.number("rate", unit, scale={"zero": True})
    numbers = {"x": over, "rate": unit, "low": "low", "high": "high", "runs": "runs"}
    tips = [*chart.tips(campaign="campaign"), *(chart.tip(*one) for one in numbers.items())]
    bars = {"x": x, "y": chart.number("low", unit), "y2": {"field": "high"}, "color": colour}
    spec = chart.layers(
        rows,
        chart.layer("rule", bars, strokeWidth=1.5),
        chart.layer("line", {"x": x, "y": y, "color": colour}),
        chart.points({"x": x, "y": y, "color": colour, "tooltip": tips}, size=50),
        height=190,
        title={"text": f"{operation_title(operation)}: {name}",
               "subtitle": "medians with intervals of 95 %"},
    )  # fmt: skip
    ends = "; ".join(
        f"{row['campaign']} {row['rate']:.3g} {unit} at {row['x']}" for row in rows[-2:]
    )
    words = f"{operation_title(operation)} of {name} over {over}: {ends}."
    return chart.Chart(chart.column(spec), words)


def _span(found: Comparison, cell: ComparisonCell) -> dict[str, float]:
    """Return the median of a cell with its interval, which is only the median if unknown."""
    ends = zip(("low", "high"), found.interval(cell), strict=True)
    known = {name: end if isfinite(end) else cell.median for name, end in ends}
    return {"rate": cell.median, **known}
