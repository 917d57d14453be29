# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the pages of a file system over weeks: load over time, and benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.bench.comparison import case_words
from stripewise.centre.database.queries import (
    FEWEST_BEFORE,
    TEMPO_DAYS,
    CaseHistory,
    DayTempo,
    StorageTempo,
    Tempo,
    TemporalPattern,
    benchmark_history,
    find_file_system,
    storage_tempo,
)
from stripewise.centre.portal.pages._base import Audience, Page, PageRequest, address
from stripewise.centre.portal.pages._storage import (
    StoragePage,
    age_text,
    curve_text,
    gaps_text,
    pages_of,
    path_of,
)
from stripewise.core.errors import UsageError
from stripewise.present import duration_text, plural, printable
from stripewise.present.blocks import (
    Block,
    Chart,
    Column,
    Content,
    Line,
    Link,
    Links,
    Notice,
    Table,
    moment,
    written,
)

_TITLES = {"read_bytes": "Read", "write_bytes": "Written", "metadata_operations": "Metadata"}
_NOUNS = {"read_bytes": "reading", "write_bytes": "writing",
          "metadata_operations": "metadata operations"}  # fmt: skip
_MEANS = {
    Tempo.IDLE: "nothing was done",
    Tempo.STEADY: "it hardly changes",
    Tempo.PERIODIC: "it comes back at even intervals, as checkpoints of simulations do",
    Tempo.BURSTY: "much of it comes in short bursts, with little in between",
    Tempo.RANDOM: "it changes irregularly, as the load of many jobs or of data analysis does",
}
_DAILY = "it follows the hours of the day or the days of the week, as people do"
_NEAR_DAY = 0.05
_REASONS = {
    "too short": "not known: too few values",
    "too many gaps": "not known: too many gaps",
    "no rates": "not known: no rates",
}
_WHOLE = (
    Column("what", "What"),
    Column("tempo", "Over all days"),
    Column("means", "Meaning"),
    Column("period_seconds", "Period", "duration"),
    Column("strength", "Strength", "number"),
    Column("variation", "Variation", "number"),
    Column("peak_share", "Share in the busiest tenth", "share"),
    Column("burstiness", "Burstiness", "number"),
    Column("known_share", "Sampled", "share"),
)
_DAYS = (
    Column("at", "Day (UTC)", "day"),
    *(Column(name, title) for name, title in _TITLES.items()),
    *(Column(f"{name}_period_seconds", f"{title}: period", "duration", is_shown=False)
      for name, title in _TITLES.items()),
)  # fmt: skip
_HOW = (
    (
        "A rate is periodic if its spectrum has a peak that noise with the same correlation "
        "from one interval to the next would show in only 1 of 100 cases, or if at least eleven "
        "bursts come at even intervals, and if it resembles itself one period later; the "
        "strength is that similarity, at most 1. It is steady if its standard deviation is at "
        "most a fifth of its mean. It is bursty if the busiest tenth of the time has at least "
        "half of the total, or if bursts come far less regularly than by chance."
    ),
    (
        "These are rates of the whole file system, all jobs together. Gaps do not count as "
        "zero. Rates do not show whether files are read sequentially or at random places."
    ),
)


class StoragePatterns(StoragePage):
    """Patterns of the load of one file system over days."""

    path = "/storage/{name}/patterns"

    def build_for(self, request: PageRequest, name: str, key: int) -> Content:
        """Show the patterns of all days together, and of each day."""
        days = _days_of(request.words.get("days", ""))
        found = storage_tempo(request.connection, key, days, request.now)
        choice = [
            Link(f"{number} days", address(path_of(name, "patterns"), {"days": number}),
                 "shown now" if number == days else "")
            for number in TEMPO_DAYS
        ]  # fmt: skip
        return Content(
            f"Patterns of {name} over days",
            _lead(found, days),
            [
                Links("days_shown", "", choice, is_row=True),
                Table("patterns", "All days, by the hour", _WHOLE,
                      [_pattern_row(metric, one) for metric, one in found.patterns.items()]),
                *_charts(found),
                Table("days", "Each day, by the minute", _DAYS, [_day(one) for one in found.days],
                      empty="This file system has too many series to look at their minutes."),
                Notice("how", "How patterns are determined", _HOW),
                pages_of(name),
            ],
        )  # fmt: skip


def _days_of(text: str) -> int:
    """Return the requested number of days.

    Raises:
        UsageError: It is not one of the choices.
    """
    choices = {str(number): number for number in TEMPO_DAYS}
    if text and text not in choices:
        raise UsageError(f"days={text[:40]!r}: give one of {', '.join(choices)}")
    return choices.get(text, TEMPO_DAYS[0])


def _lead(found: StorageTempo, days: int) -> str:
    known = {
        metric: one for metric, one in found.patterns.items() if one.tempo is not Tempo.UNKNOWN
    }
    if not known:
        return f"Nothing can be said about the last {days} days: too little of them was sampled."
    said = [f"{_NOUNS[metric]} is {_tempo_text(one)}" for metric, one in known.items()]
    text = ", ".join(said).replace("operations is", "operations are")
    return f"In the hours of the last {days} days, {text}." + _within_days(found)


def _within_days(found: StorageTempo) -> str:
    """Return the behaviour of most days by minutes, if it differs from that by hours."""
    said = []
    for metric, whole in found.patterns.items():
        of_days = Counter(
            _tempo_text(day.patterns[metric])
            for day in found.days
            if day.patterns[metric].tempo is not Tempo.UNKNOWN
        )
        for text, number in of_days.most_common(1):
            if 2 * number > len(found.days) and text != _tempo_text(whole):
                said.append(f"{_NOUNS[metric]} is {text}")
    text = ", ".join(said).replace("operations is", "operations are")
    return f" In the minutes of most days, {text}." if said else ""


def _tempo_text(one: TemporalPattern) -> str:
    if one.tempo is Tempo.UNKNOWN:
        return _REASONS.get(one.reason, "not known")
    if one.period_seconds is None:
        return one.tempo.value
    return f"periodic, every {duration_text(round(one.period_seconds))}"


def _pattern_row(metric: str, one: TemporalPattern) -> dict[str, Any]:
    return {
        "what": _TITLES[metric],
        "tempo": _tempo_text(one),
        "means": _DAILY if _is_daily(one) else _MEANS.get(one.tempo),
        "period_seconds": one.period_seconds,
        "strength": one.strength,
        "variation": one.variation,
        "peak_share": one.peak_share,
        "burstiness": one.burstiness,
        "known_share": one.known_share,
    }


def _is_daily(one: TemporalPattern) -> bool:
    """Return whether a period is a whole number of days."""
    days = (one.period_seconds or 0.0) / 86400
    return days > 0.9 and abs(days - round(days)) < _NEAR_DAY


def _day(one: DayTempo) -> dict[str, Any]:
    return {
        "at": one.at,
        **{metric: _day_text(pattern) for metric, pattern in one.patterns.items()},
        **{f"{metric}_period_seconds": pattern.period_seconds
           for metric, pattern in one.patterns.items()},
    }  # fmt: skip


def _day_text(one: TemporalPattern) -> str:
    text = _tempo_text(one)
    if one.strength is not None:
        text += f" (strength {written(one.strength, 'number')})"
    return text


def _charts(found: StorageTempo) -> Sequence[Chart]:
    return [
        _chart(found, "rates", "Read and written", ("read_bytes", "write_bytes"), "rate"),
        _chart(found, "metadata", "Metadata operations", ("metadata_operations",), "operations"),
    ]


def _chart(found: StorageTempo, name: str, title: str, metrics: Sequence[str], kind: str) -> Chart:
    curves: Mapping[str, Any] = {metric: found.curves[metric] for metric in metrics}
    at = list(found.moments) if any(one.values for one in curves.values()) else []
    lines = [Line(metric, _TITLES[metric].lower(), one.at(at)) for metric, one in curves.items()]
    words = [curve_text(_TITLES[metric], one, kind) for metric, one in curves.items()]
    return Chart(name, title, at, lines if at else (), kind,
                 description=f"Means over an hour. {' '.join(words)}",
                 note=gaps_text(*curves.values()))  # fmt: skip


# Benchmarks of a file system over time.

_DATA = "bytes/s"


class StorageBenchmarks(Page):
    """Each case of the campaigns: the latest figure and those before, and all over time."""

    path = "/storage/{name}/benchmarks"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content | None:
        """Build the page."""
        name = str(request.path["name"])
        cases = benchmark_history(request.connection, name)
        if not cases and find_file_system(request.connection, name) is None:
            return None
        blocks: list[Block] = []
        if cases:
            blocks.append(_benchmark_chart(_chosen(cases, request)))
        blocks += [
            _case_table("bandwidth", "Bandwidth", "rate", name,
                   [one for one in cases if one.unit == _DATA]),
            _case_table("operations", "Operations", "operations", name,
                   [one for one in cases if one.unit != _DATA]),
            pages_of(name),
        ]  # fmt: skip
        return Content(f"Benchmarks of {name}", _benchmark_lead(cases, request.now), blocks)


def _benchmark_lead(cases: Sequence[CaseHistory], now: float) -> str:
    if not cases:
        return "No campaign of benchmarks is stored for this file system."
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
        text += f"Changes are judged once there are {FEWEST_BEFORE} earlier campaigns."
    if all(one.is_emulated for one in cases):
        text += " All of it was measured on emulated storage."
    return text


def _case_table(
    name: str, title: str, kind: str, storage: str, cases: Sequence[CaseHistory]
) -> Table:
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
        [_case_row(one, storage) for one in cases],
        note="Low and high are the interval of the latest median at 95 %, or its least and "
        "greatest run where there are fewer than six. A change is beyond the spread if it "
        "exceeds three robust standard deviations of the earlier campaigns, and 5 %.",
        empty="No campaign measured this.",
        total=plural(len(cases), "case"),
    )


def _case_row(one: CaseHistory, storage: str) -> dict[str, Any]:
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
    """Return in words how the latest figure compares with those before."""
    if one.change is None:
        return "the first campaign"
    change = f"{written(abs(one.change), 'share')} {'lower' if one.change < 0 else 'higher'}"
    if one.verdict == "usual":
        return f"{change}, within the spread"
    if not one.verdict:
        return f"{change}; too few campaigns to judge"
    return f"{change}, beyond the spread"


def _chosen(cases: Sequence[CaseHistory], request: PageRequest) -> CaseHistory:
    """Return the requested case, else the first."""
    words = request.words
    for one in cases:
        case_key = (one.case, one.operation, str(one.nodes), str(one.ranks))
        wanted = tuple(words.get(name, "") for name in ("case", "operation", "nodes", "ranks"))
        if case_key == wanted and one.is_emulated == (words.get("emulated") == "yes"):
            return one
    return cases[0]


def _benchmark_chart(one: CaseHistory) -> Chart:
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
