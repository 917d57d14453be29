# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents nightly campaigns in the terminal, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, isfinite
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from stripewise.bench.comparison import FigureHistory, Finding, History, day_of
from stripewise.present import finite, percent_text, plural, printable, throughput_text
from stripewise.present.blocks import Block, Column, Content, Notice, Points, Table
from stripewise.present.renderers import as_page


def history_headline(history: History) -> str:
    """Return the verdict in one line."""
    if history.verdict == "slower":
        worst = history.open_findings[0]
        return f"Slower {worst.sentence.split(':')[0].split(',')[0]}"
    return "Nothing is slower" if history.verdict == "unchanged" else "Still learning"


def history_lines(history: History) -> Iterator[str]:
    """Yield the verdict for a terminal, and earlier changes."""
    yield from history.sentences
    closed = [one for one in history.findings if not one.is_open]
    if closed:
        yield "earlier changes:"
        yield from (f"  {one.sentence}" for one in closed[:20])


def history_to_json(history: History) -> dict[str, Any]:
    """Return the verdict, all changes, and each night's figures."""
    document = {
        "name": history.name,
        "verdict": history.verdict,
        "sentences": list(history.sentences),
        "nights": [
            {
                "file": one.file,
                "started_unix_seconds": one.started_unix_seconds,
                "failed": one.failed,
                "versions": dict(one.versions),
            }
            for one in history.nights
        ],
        "changes": [_finding_json(one) for one in history.findings],
    }
    result: dict[str, Any] = finite(document)
    return result


def _finding_json(one: Finding) -> dict[str, Any]:
    return {
        "case": one.series.case,
        "operation": one.series.operation,
        "target": one.series.target if one.series.target >= 0 else None,
        "since": day_of(one.since_unix_seconds),
        "since_night": one.since,
        "earliest_night": one.earliest,
        "latest_night": one.latest,
        "found_night": one.found,
        "ratio": one.ratio,
        "low": one.low,
        "high": one.high,
        "versions": list(one.versions),
        "is_open": one.is_open,
        "sentence": one.sentence,
    }


# A history of campaigns as a page that stays small over years.
#
# The page has no script.  Its curves are drawn here for groups of successive nights, with their
# median and range; three years of forty figures are a few hundred kilobytes.

_WIDTH, _HEIGHT = 640, 84
_MOST_POINTS = 160
_MOST_SERIES = 400
_RECENT = 30
_MOST_EARLIER = 100
Floats = NDArray[np.float64]


def render_history(history: History) -> str:
    """Return the HTML page of a history; the same nights give the same page."""
    shown = list(range(min(len(history.series), _MOST_SERIES)))
    changed = {one.series for one in history.open_findings}
    shown.sort(
        key=lambda at: (
            history.series[at] not in changed,
            history.series[at] in changed and history.series[at].target < 0,
        )
    )
    nights = history.nights
    lead = plural(len(nights), "night")
    if nights:
        begin, end = (day_of(one.started_unix_seconds) for one in (nights[0], nights[-1]))
        lead += f", {begin} to {end}"
    blocks: list[Block] = [
        Notice("verdict", "Verdict", history.sentences, _TONES.get(history.verdict, "calm")),
        _figures(history, shown),
    ]
    if earlier := [one.sentence for one in history.findings if not one.is_open][:_MOST_EARLIER]:
        blocks.append(Points.of("earlier", "Earlier changes", earlier))
    blocks.append(_last_nights(history))
    return as_page(
        Content(
            history_headline(history),
            f"{lead}.",
            blocks,
            subject=f"History · {history.name}",
            tone="good" if history.verdict == "unchanged" else "calm",
        )
    )


_TONES = {"slower": "bad", "unchanged": "good"}


def _figures(history: History, shown: Sequence[int]) -> Table:
    caption = (
        "The height is 70 to 115 % of the usual figure, or more. The line is the median of "
        "neighbouring nights, the band their range; a red line marks where it became "
        "slower, a green line where it became faster."
    )
    columns = (
        Column("name", "Figure", small="change"),
        Column("picture", "Nights", "picture"),
        Column("usual", "Usually", "figure"),
        Column("last", "Last night", "figure"),
    )
    left_out = len(history.series) - len(shown)
    note = f"{plural(left_out, 'more figure')} left out; --json has all changes."
    rows = [_row(history, at) for at in shown]
    return Table("figures", "Figures", columns, rows, note if left_out else "", total=caption)


def _last_nights(history: History) -> Table:
    columns = (
        Column("day", "Night"),
        Column("figures", "Figures", "count"),
        Column("failed", "Runs that failed", "count"),
    )
    rows = [
        {
            "day": day_of(one.started_unix_seconds),
            "figures": len(one.rates),
            "failed": one.failed,
            "look": "failed" if one.failed else "",
        }
        for one in history.nights[: -_RECENT - 1 : -1]
    ]
    return Table("last", "Last nights", columns, rows, total="The newest first")


def _row(history: History, place: int) -> dict[str, Any]:
    series, values = history.series[place], history.values[:, place]
    changes = [one for one in history.findings if one.series == series]
    known = values[np.isfinite(values)]
    return {
        "name": series.name,
        "last": _shown(series, float(values[-1])) if len(values) else "–",
        "usual": _shown(series, float(np.median(known))) if known.size else "–",
        "picture": curve(history, place, changes),
        "change": next((one.sentence for one in changes if one.is_open), ""),
    }


def _shown(series: FigureHistory, log_rate: float) -> str:
    if not isfinite(log_rate):
        return "–"
    if series.target >= 0:
        return percent_text(exp(log_rate))
    return throughput_text(exp(log_rate), of_data=series.of_data)


def curve(history: History, place: int, changes: list[Finding]) -> Markup:
    """Draw the nights of one figure: a band for their range, a line for their median."""
    values = np.exp(history.values[:, place])
    begins, lows, middles, highs = _thinned(values)
    if not begins.size:
        return Markup("")
    usual = float(np.median(middles))
    floor, top = min(0.7 * usual, float(lows.min())), max(1.15 * usual, float(highs.max()))
    x = (begins + 0.5) / len(values) * _WIDTH
    y = [_HEIGHT * (top - one) / (top - floor) for one in (lows, middles, highs)]
    band = _points(np.concatenate([x, x[::-1]]), np.concatenate([y[0], y[2][::-1]]))
    marks = Markup("").join(
        Markup('<line x1="{0:.0f}" x2="{0:.0f}" y1="0" y2="{1}" class="{2}"/>').format(
            one.since / len(values) * _WIDTH, _HEIGHT, "slower" if one.ratio < 1 else "faster"
        )
        for one in changes
    )
    name = history.series[place].name
    words = f"{name}: {len(values)} nights" + "".join(f"; {one.sentence}" for one in changes)
    return Markup(
        '<svg class="curve" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img" '
        'aria-label="{words}">'
        '<polygon points="{band}"/>{marks}<polyline points="{line}"/></svg>'
    ).format(
        w=_WIDTH, h=_HEIGHT, words=printable(words), band=band, marks=marks, line=_points(x, y[1])
    )


def _thinned(values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return middle night, lowest, median and highest value of groups of nights with values.

    The groups are so large that there are no more than 160 of them.
    """
    step = max(1, -(-len(values) // _MOST_POINTS))
    found = []
    for begin in range(0, len(values), step):
        own = values[begin : begin + step]
        own = own[np.isfinite(own)]
        if own.size:
            middle = begin + (min(begin + step, len(values)) - begin - 1) / 2
            found.append((middle, own.min(), np.median(own), own.max()))
    columns = np.array(found, dtype=float).reshape(-1, 4).T
    return columns[0], columns[1], columns[2], columns[3]


def _points(x: Floats, y: Floats) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
