# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Targets that two agents tell of at the same time: their sums are twice what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Engine, select

from stripewise.fleet._engine import refusals_said
from stripewise.fleet._records import SampleRecord
from stripewise.fleet.tables import FileSystem, Sample, Series

LOOK_BACK_SECONDS = 900.0
_LEAST_SAMPLES = 3
_LEAST_SECONDS = 240.0
"""Beyond the difference of clocks that is allowed for (120 s): a target that fails over is told
by one agent, then by the other."""
_Key = tuple[str, str, str]
_Spans = list[tuple[float, float]]


class Twice(NamedTuple):
    """Another agent that tells of targets, and those targets.

    Attributes:
        file_system: Of them.
        server: Name of the other agent's.
        targets: Names, sorted.
    """

    file_system: str
    server: str
    targets: tuple[str, ...]


def told_twice(engine: Engine, server: str, samples: Iterable[SampleRecord]) -> list[Twice]:
    """Return which other agents told of the same targets for the same minutes.

    Args:
        engine: Of the database.
        server: Whose agent asks.
        samples: What it has delivered just now: tells targets and the time.

    Raises:
        StorageError: The database refuses.
    """
    counters = [one for one in samples if one.is_counter and one.target and one.values]
    if not counters:
        return []
    one_of_each: dict[tuple[str, str], str] = {}  # one counter of a target stands for all
    for one in counters:
        place = (one.file_system, one.target)
        one_of_each[place] = min(one.metric, one_of_each.get(place, one.metric))
    since = max(at for one in counters for at, _, _ in one.values) - LOOK_BACK_SECONDS
    with refusals_said(engine):
        series = _series(engine, one_of_each)
        wanted = {key for key in series if key[1] == server or _has(series, key, server)}
        spans = _spans(engine, [series[key] for key in wanted], since)
    found: dict[tuple[str, str], list[str]] = {}
    for key in sorted(wanted):
        file_system, other, target = key
        own = spans.get(series.get((file_system, server, target), -1), [])
        if other != server and _is_twice(own, spans.get(series[key], [])):
            found.setdefault((file_system, other), []).append(target)
    return [Twice(*place, tuple(targets)) for place, targets in found.items()]


def _has(series: Mapping[_Key, int], key: _Key, server: str) -> bool:
    return (key[0], server, key[2]) in series


def _series(engine: Engine, wanted: Mapping[tuple[str, str], str]) -> dict[_Key, int]:
    """Return the series of some counters by file system, server and target: of all servers."""
    found = {}
    query = (
        select(Series.id, FileSystem.name, Series.server, Series.target, Series.metric)
        .join(FileSystem, FileSystem.id == Series.file_system_id)
        .where(
            FileSystem.name.in_({name for name, _ in wanted}),
            Series.target.in_({target for _, target in wanted}),
            Series.metric.in_(set(wanted.values())),
        )
    )
    with engine.connect() as connection:
        for key, file_system, server, target, metric in connection.execute(query):
            if wanted.get((file_system, target)) == metric:
                found[file_system, server, target] = key
    return found


def _spans(engine: Engine, keys: Sequence[int], since: float) -> dict[int, _Spans]:
    found: dict[int, _Spans] = {}
    query = select(Sample.series_id, Sample.at, Sample.seconds).where(
        Sample.series_id.in_(keys), Sample.at >= since
    )
    with engine.connect() as connection:
        for key, at, seconds in connection.execute(query):
            found.setdefault(key, []).append((at, at + seconds))
    return found


def _is_twice(own: _Spans, others: _Spans) -> bool:
    """Whether two agents told of the same minutes, again and again, each in samples of its own.

    A target that was away is told of in one long sample: over the time in which another told.
    """
    mine, theirs = _shared(own, others), _shared(others, own)
    return min(len(mine), len(theirs)) >= _LEAST_SAMPLES and sum(theirs) >= _LEAST_SECONDS


def _shared(spans: _Spans, others: _Spans) -> list[float]:
    """Return for each span of which others have more than a half how many seconds they have."""
    seconds = [
        sum(max(min(end, until) - max(begin, start), 0.0) for start, until in others)
        for begin, end in spans
    ]
    return [
        shared for shared, (begin, end) in zip(seconds, spans, strict=True)
        if shared > 0.5 * (end - begin)
    ]  # fmt: skip
