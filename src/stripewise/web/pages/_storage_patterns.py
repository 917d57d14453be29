# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the load of one file system runs over days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import (
    TEMPO_DAYS,
    DayTempo,
    StorageTempo,
    Tempo,
    TemporalPattern,
    find_file_system,
    storage_tempo,
)
from stripewise.text import duration_text
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Chart, Column, Content, Line, Link, Links, Notice, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._storage_words import curve_text, gaps_text, pages_of, path_of

_TITLES = {"read_bytes": "Read", "write_bytes": "Written", "metadata_operations": "Metadata"}
_NOUNS = {"read_bytes": "reading", "write_bytes": "writing",
          "metadata_operations": "metadata operations"}  # fmt: skip
_MEANS = {
    Tempo.IDLE: "nothing was done",
    Tempo.STEADY: "it hardly changes",
    Tempo.PERIODIC: "it comes back at even intervals, as checkpoints of simulations do",
    Tempo.BURSTY: "much comes in few moments, with little between them",
    Tempo.RANDOM: "it changes without an order, as the load of many jobs or of data analysis does",
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
    Column("means", "That is"),
    Column("period_seconds", "Period", "duration"),
    Column("strength", "Strength", "number"),
    Column("variation", "Variation", "number"),
    Column("peak_share", "In the busiest tenth", "share"),
    Column("burstiness", "Burstiness", "number"),
    Column("known_share", "Known", "share"),
)
_DAYS = (
    Column("at", "Day (UTC)", "day"),
    *(Column(name, title) for name, title in _TITLES.items()),
    *(Column(f"{name}_period_seconds", f"{title}: period", "duration", is_shown=False)
      for name, title in _TITLES.items()),
)  # fmt: skip
_HOW = (
    "A rate is periodic if its spectrum has a peak that noise with the same memory from one "
    "interval to the next has in 1 of 100 cases only, or if eleven bursts or more come at even "
    "intervals, and if it resembles itself one period later; the strength is how much, 1 at "
    "most. It is steady if its standard deviation is at "
    "most a fifth of its mean, and bursty if the busiest tenth of the time has at least half of "
    "it, or if bursts come far less regularly than by chance.",
    "These are rates of the whole file system, all jobs together. Gaps are not taken for zero. "
    "Whether the files are read sequentially or at random places is not told by rates.",
)


class StoragePatterns(Page):
    """Patterns of the load of one file system over days."""

    path = "/storage/{name}/patterns"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, asked: Asked) -> Content | None:
        """Show them."""
        name = str(asked.path["name"])
        key = find_file_system(asked.connection, name)
        if key is None:
            return None
        days = _days_of(asked.words.get("days", ""))
        found = storage_tempo(asked.connection, key, days, asked.now)
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
                Table("patterns", "Hours of all days together", _WHOLE,
                      [_row(metric, one) for metric, one in found.patterns.items()]),
                *_charts(found),
                Table("days", "Minutes of each day", _DAYS, [_day(one) for one in found.days],
                      empty="This file system has too many series to look at their minutes."),
                Notice("how", "How this is told", _HOW),
                pages_of(name),
            ],
        )  # fmt: skip


def _days_of(text: str) -> int:
    """Return how many days are asked for.

    Raises:
        UsageError: It is none of the choices.
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
        return f"Nothing can be said of the last {days} days: too little of them was sampled."
    said = [f"{_NOUNS[metric]} is {_tempo_text(one)}" for metric, one in known.items()]
    text = ", ".join(said).replace("operations is", "operations are")
    return f"By the hours of the last {days} days, {text}." + _within_days(found)


def _within_days(found: StorageTempo) -> str:
    """Say what most days are by their minutes, where that is something else than their hours."""
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
    return f" By the minutes of most days, {text}." if said else ""


def _tempo_text(one: TemporalPattern) -> str:
    if one.tempo is Tempo.UNKNOWN:
        return _REASONS.get(one.reason, "not known")
    if one.period_seconds is None:
        return one.tempo.value
    return f"periodic, every {duration_text(round(one.period_seconds))}"


def _row(metric: str, one: TemporalPattern) -> dict[str, Any]:
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
    """Whether a period is of whole days."""
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
