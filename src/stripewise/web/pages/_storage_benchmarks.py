# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of a file system over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.bench import case_words
from stripewise.fleet.queries import (
    FEWEST_BEFORE,
    CaseHistory,
    benchmark_history,
    find_file_system,
)
from stripewise.text import plural, printable
from stripewise.web._urls import address
from stripewise.web._words import moment, written
from stripewise.web.content import Block, Chart, Column, Content, Line, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._storage_words import age_text, pages_of, path_of

_DATA = "bytes/s"


class StorageBenchmarks(Page):
    """Each case of the campaigns: the latest beside those before, and all of them over time."""

    path = "/storage/{name}/benchmarks"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, asked: Asked) -> Content | None:
        """Show them."""
        name = str(asked.path["name"])
        cases = benchmark_history(asked.connection, name)
        if not cases and find_file_system(asked.connection, name) is None:
            return None
        blocks: list[Block] = []
        if cases:
            blocks.append(_chart(_chosen(cases, asked)))
        blocks += [
            _table("bandwidth", "Bandwidth", "rate", name,
                   [one for one in cases if one.unit == _DATA]),
            _table("operations", "Operations", "operations", name,
                   [one for one in cases if one.unit != _DATA]),
            pages_of(name),
        ]  # fmt: skip
        return Content(f"Benchmarks of {name}", _lead(cases, asked.now), blocks)


def _lead(cases: Sequence[CaseHistory], now: float) -> str:
    if not cases:
        return "No campaign of benchmarks has been taken in for this file system."
    at = max(one.latest.at for one in cases)
    number = plural(len(cases), "case")
    text = f"The latest campaign is {age_text(now - at)} old; {number} were measured so far. "
    lower = [one for one in cases if one.verdict == "lower"]
    if lower:
        verb = "is" if len(lower) == 1 else "are"
        text += f"{plural(len(lower), 'case')} {verb} slower than before, beyond the spread."
    elif any(one.verdict for one in cases):
        text += "None is slower than before beyond the spread."
    else:
        text += f"Changes are told from {FEWEST_BEFORE} campaigns before the latest on."
    if all(one.is_emulated for one in cases):
        text += " All of it was measured on emulated storage."
    return text


def _table(name: str, title: str, kind: str, storage: str, cases: Sequence[CaseHistory]) -> Table:
    columns = (
        Column("case_words", "Case", link="url"),
        Column("operation", "Operation"),
        Column("verdict", "Compared with earlier campaigns"),
        Column("median", "Latest, median", kind),
        Column("low", "Low", kind),
        Column("high", "High", kind),
        Column("before", "Earlier median", kind),
        Column("campaigns", "Campaigns", "count"),
        Column("latest_at", "Latest (UTC)", "day"),
        Column("is_emulated", "Emulated", "flag"),
    )
    return Table(
        name,
        title,
        columns,
        [_row(one, storage) for one in cases],
        note="Low and high are the interval of the latest median at 95 %, or its least and "
        "greatest run where there are fewer than six. A change is beyond the spread if it "
        "exceeds three robust standard deviations of the earlier campaigns, and 5 %.",
        empty="No campaign measured this.",
        total=plural(len(cases), "case"),
    )


def _row(one: CaseHistory, storage: str) -> dict[str, Any]:
    words = {"case": one.case, "operation": one.operation, "nodes": one.nodes, "ranks": one.ranks,
             "emulated": "yes" if one.is_emulated else None}  # fmt: skip
    return {
        "case_words": case_words(one.case),
        "url": address(path_of(storage, "benchmarks"), words),
        "operation": one.operation,
        "verdict": verdict_text(one),
        "median": one.latest.median,
        "low": one.latest.low,
        "high": one.latest.high,
        "before": one.before,
        "campaigns": len(one.figures),
        "latest_at": one.latest.at,
        "is_emulated": one.is_emulated,
    }


def verdict_text(one: CaseHistory) -> str:
    """Return how the latest figure is beside those before, in words."""
    if one.change is None:
        return "the first campaign"
    change = f"{written(abs(one.change), 'share')} {'lower' if one.change < 0 else 'higher'}"
    if one.verdict == "usual":
        return f"{change}, within the spread"
    if not one.verdict:
        return f"{change}; too few campaigns to judge"
    return f"{change}, beyond the spread"


def _chosen(cases: Sequence[CaseHistory], asked: Asked) -> CaseHistory:
    """Return the case that is asked for, else the first."""
    words = asked.words
    for one in cases:
        told = (one.case, one.operation, str(one.nodes), str(one.ranks))
        wanted = tuple(words.get(name, "") for name in ("case", "operation", "nodes", "ranks"))
        if told == wanted and one.is_emulated == (words.get("emulated") == "yes"):
            return one
    return cases[0]


def _chart(one: CaseHistory) -> Chart:
    kind = "rate" if one.unit == _DATA else "operations"
    emulated = " (emulated)" if one.is_emulated else ""
    title = f"{printable(case_words(one.case))}, {printable(one.operation)}{emulated}"
    medians = [figure.median for figure in one.figures]
    first, last = one.figures[0].at, one.latest.at
    return Chart(
        "history",
        title,
        [figure.at for figure in one.figures],
        [
            Line("median", "median", medians),
            Line("low", "low", [figure.low for figure in one.figures]),
            Line("high", "high", [figure.high for figure in one.figures]),
        ],
        kind,
        description=f"{plural(len(medians), 'campaign')} from {moment(first)[:10]} to "
        f"{moment(last)[:10]}: between {written(min(medians), kind)} and "
        f"{written(max(medians), kind)}; the latest is {verdict_text(one)}.",
        style="points",
    )
