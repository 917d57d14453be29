# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The state of a file system in words, and addresses of its pages."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.fleet.queries import Curve, FileSystemState, Space
from stripewise.text import duration_text, plural, printable
from stripewise.web._urls import address, part
from stripewise.web._words import moment, written
from stripewise.web.content import Link, Links

TONES = ("good", "calm", "warn", "bad")
NAMED = 5
_DAY = 86400


def age_text(seconds: float) -> str:
    """Return an age in words: "12 min", "3 days"."""
    if seconds < 2 * _DAY:
        return duration_text(max(round(seconds), 0))
    return f"{seconds / _DAY:.0f} days"


def width_text(seconds: int) -> str:
    """Return the width of an interval in words: "an hour", "2 min"."""
    return {3600: "an hour", _DAY: "a day"}.get(seconds) or duration_text(seconds)


def names_text(names: Sequence[str]) -> str:
    """Return some names, and how many there are besides."""
    text = ", ".join(map(printable, names[:NAMED]))
    return f"{text} and {len(names) - NAMED} more" if len(names) > NAMED else text


def health(state: FileSystemState, now: float) -> tuple[str, str]:
    """Return how a file system is, as (tone, sentences)."""
    tone, said = _samples(state, now)
    if state.silent:
        tone = _worse(tone, "warn")
        number = plural(len(state.silent), "target")
        said.append(f"{number} sent no samples lately: {names_text(state.silent)}.")
    if state.events:
        tone = _worse(tone, "warn")
        kinds = names_text(list(dict.fromkeys(kind for kind, _ in state.events)))
        said.append(f"{plural(len(state.events), 'event')} open: {kinds}.")
    return tone, " ".join(said)


def _samples(state: FileSystemState, now: float) -> tuple[str, list[str]]:
    if state.newest_at is None:
        return "calm", ["No samples have been delivered: its health is not known."]
    if state.newest_at > now and state.is_stale:
        lead = age_text(state.newest_at - now)
        return "warn", [
            f"The newest sample is {lead} ahead of this clock: its health is not known."
        ]
    if state.is_stale:
        age = age_text(now - state.newest_at)
        return "warn", [f"The newest sample is {age} old: its health is not known."]
    if state.failed:
        have = "has" if len(state.failed) == 1 else "have"
        return "bad", [
            f"{len(state.failed)} of {plural(state.targets, 'target')} {have} failed: "
            f"{names_text(state.failed)}."
        ]
    if state.slow:
        number = f"{len(state.slow)} of {plural(state.targets, 'target')}"
        verb = "is" if len(state.slow) == 1 else "are"
        return "warn", [f"{number} {verb} slow: {_slow_text(state)}."]
    if state.failed is None:
        return "good", ["Samples arrive; they do not tell whether targets have failed."]
    slow = "" if state.slow is None else ", and none takes far longer than its like"
    return "good", [f"All {plural(state.targets, 'target')} serve{slow}."]


def _slow_text(state: FileSystemState) -> str:
    """Return the names of slow targets, with their times beside those of the others if known."""
    said = []
    for target in (state.slow or ())[:NAMED]:
        one = state.slow_seconds.get(target)
        times = "" if one is None else (
            f" ({written(one.seconds, 'seconds')} an operation, "
            f"others {written(one.usual_seconds, 'seconds')})"
        )  # fmt: skip
        said.append(printable(target) + times)
    left = len(state.slow or ()) - NAMED
    return ", ".join(said) + (f" and {left} more" if left > 0 else "")


def _worse(one: str, other: str) -> str:
    return max(one, other, key=TONES.index)


def full_text(space: Space) -> str:
    """Return when something is full, in words."""
    if space.used is None or space.total is None:
        return "not known: not sampled"
    if space.weekly is None:
        return "not known: less than eight days of samples"
    if space.weekly <= 0:
        return "does not grow"
    return "not within ten years" if space.full_at is None else moment(space.full_at)[:10]


def curve_text(title: str, curve: Curve, kind: str) -> str:
    """Return a curve in words, for those who do not see it."""
    if not curve.values:
        return f"{title}: nothing is known."
    values = curve.values
    mean = sum(values.values()) / len(values)
    top = max(values, key=lambda at: values[at])
    return (
        f"{title}: {written(mean, kind)} on average, "
        f"{written(values[top], kind)} at most ({moment(top)})."
    )


def gaps_text(*curves: Curve) -> str:
    """Say where curves have gaps since too few series reported; "" if they have none."""
    gaps = max((curve.gaps for curve in curves), default=0)
    if not gaps:
        return ""
    return (
        f"At {plural(gaps, 'moment')} less than nine in ten targets reported: the curves have "
        "gaps there, since the sums would be too small."
    )


def path_of(name: str, page: str = "") -> str:
    """Return the path of a page about a file system."""
    return f"/storage/{part(name)}" + (f"/{page}" if page else "")


def pages_of(name: str) -> Links:
    """Return links to all pages about a file system."""
    return Links(
        "pages",
        f"More about {name}",
        [
            Link("Load of servers and targets", path_of(name)),
            Link("Patterns over days", path_of(name, "patterns")),
            Link("Who causes the load", path_of(name, "top"), "for users who are logged in"),
            Link("Benchmarks", path_of(name, "benchmarks")),
            Link("Events", address("/storage/events", {"file_system": name})),
        ],
    )
