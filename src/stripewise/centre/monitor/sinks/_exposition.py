# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes rounds as text for Prometheus or OpenMetrics, without series that cannot be stored.

This is own code because prometheus-client takes 70 to 100 ms of a core for 8,000 series; here,
lines are made once for each round, and a scrape joins them.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import is_
from typing import NamedTuple

from stripewise.centre.monitor._records import Histogram, Kind, Metric, Reading, Round

_STALE_INTERVALS = 5
_LEAST_SECONDS = 10.0
_REMEMBERED = 6
_FIRST_SECONDS = 300.0
"""Lifetime of a round until a second one shows the interval (assumed)."""
_TYPES = {Kind.COUNTER: "counter", Kind.LEVEL: "gauge", Kind.HISTOGRAM: "histogram"}


class Form(Enum):
    """A format; the value is its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass
class _Page:
    """The last report of one collector.

    Attributes:
        families: Metric and lines by the metric's name.
        until: Time of the exposition's clock after which it expires.
    """

    families: dict[str, tuple[Metric, str]]
    until: float


class _Histograms(NamedTuple):
    """Readings of the histograms of one metric, and the lines made from them."""

    readings: list[Reading]
    family: tuple[Metric, str]


class Exposition:
    """The last round of each collector, as text.

    Attributes:
        problems: Number of readings that were left out so far.
    """

    def __init__(self, server: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without any round.

        Args:
            server: Value of the label "server" of every series.
            clock: Monotonic clock, in seconds.
        """
        self._constant = f'server="{_escaped(clean(server))}"'
        self._clock = clock
        self._lock = threading.Lock()
        self._series: dict[str, CollectorSeries] = {}
        self._pages: dict[str, _Page] = {}
        self._histograms: dict[str, dict[str, _Histograms]] = {}
        self._begins: dict[str, deque[float]] = {}
        self._clashes = 0
        self._changes = 0

    @property
    def problems(self) -> int:
        """Number of readings that were left out so far."""
        return self._clashes + sum(series.problems for series in list(self._series.values()))

    @property
    def changes(self) -> int:
        """A number that changes whenever the text does."""
        with self._lock:
            self._forget()
            return self._changes

    def take(self, found: Round) -> None:
        """Store a round, which replaces the collector's previous report."""
        families = self._families(found)
        with self._lock:
            others = [p for name, p in self._current() if name != found.collector]
            for name in families.keys() & {name for page in others for name in page.families}:
                self._share(name, families, others)
            self._pages[found.collector] = _Page(families, self._until(found))
            self._changes += 1

    def _families(self, found: Round) -> dict[str, tuple[Metric, str]]:
        """Return metric and lines by the metric's name.

        Histograms have most of the lines, and are read less often than other metrics: in between,
        a collector repeats its readings, whose lines are reused.
        """
        last = self._histograms.get(found.collector, {})
        groups = _histograms(found)
        same = {
            name: last[name].family
            for name, readings in groups.items()
            if name in last and _are_same(last[name].readings, readings)
        }
        fresh = [one for one in found.readings if one.metric.name not in same]
        series = self._series.setdefault(found.collector, CollectorSeries(self._begin))
        lines: dict[str, tuple[Metric, list[str]]] = {}
        for metric, begin, value in series.of(replace(found, readings=tuple(fresh))):
            _, own = lines.setdefault(metric.name, (metric, []))
            own.append(_lines(begin, value))
        families = {name: (metric, "".join(own)) for name, (metric, own) in lines.items()} | same
        self._histograms[found.collector] = {
            name: _Histograms(readings, families[name])
            for name, readings in groups.items()
            if name in families
        }
        return families

    def text(self, form: Form) -> str:
        """Return the text of all current series."""
        return "".join(self.parts(form))

    def parts(self, form: Form) -> Iterator[str]:
        """Yield the text of all current series, one metric at a time."""
        with self._lock:
            pages = [page for _, page in self._current()]
        metrics: dict[str, Metric] = {}
        texts: dict[str, list[str]] = {}
        for page in pages:
            for name, (metric, text) in page.families.items():
                metrics.setdefault(name, metric)
                texts.setdefault(name, []).append(text)
        for name in sorted(metrics):
            yield "".join((_head(metrics[name], form), *texts[name]))
        if form is Form.OPENMETRICS:
            yield "# EOF\n"

    def _begin(self, metric: Metric, labels: tuple[str, ...]) -> str:
        pairs = zip(metric.labels, labels, strict=True)
        body = ",".join((self._constant, *(f'{key}="{_escaped(value)}"' for key, value in pairs)))
        if metric.kind is Kind.HISTOGRAM:
            return f"{metric.name}_bucket{{{body}"
        return f"{metric.name}{'_total' if metric.kind is Kind.COUNTER else ''}{{{body}}} "

    def _until(self, found: Round) -> float:
        """Return until when a round that has just arrived is valid, by the usual interval."""
        begins = self._begins.setdefault(found.collector, deque(maxlen=_REMEMBERED))
        begins.append(found.monotonic)
        gaps = sorted(late - early for early, late in pairwise(begins))
        if not gaps:
            return self._clock() + _FIRST_SECONDS
        return self._clock() + max(_LEAST_SECONDS, _STALE_INTERVALS * gaps[len(gaps) // 2])

    def _current(self) -> Iterable[tuple[str, _Page]]:
        """Yield the pages that are still valid."""
        self._forget()
        return self._pages.items()

    def _forget(self) -> None:
        """Remove the pages that have expired."""
        now = self._clock()
        for name in [name for name, page in self._pages.items() if page.until < now]:
            del self._pages[name]
            self._changes += 1

    def _share(
        self, name: str, families: dict[str, tuple[Metric, str]], others: Iterable[_Page]
    ) -> None:
        """Leave out what another collector already reports: no series may occur twice."""
        metric, text = families[name]
        there = [page.families[name] for page in others if name in page.families]
        if any(other != metric for other, _ in there):
            self._clashes += 1
            del families[name]
            return
        known: dict[str, set[str]] = {}
        for line in (line for _, other in there for line in other.split("\n")):
            known.setdefault(_series_of(line), set()).add(line)
        kept = []
        for line in text.split("\n"):
            first = known.get(_series_of(line))
            if first is None:
                kept.append(f"{line}\n")
            elif line not in first:
                self._clashes += 1
        families[name] = (metric, "".join(kept))


def _histograms(found: Round) -> dict[str, list[Reading]]:
    """Return the readings of histograms by the metric's name."""
    groups: dict[str, list[Reading]] = {}
    for one in found.readings:
        if one.metric.kind is Kind.HISTOGRAM:
            groups.setdefault(one.metric.name, []).append(one)
    return groups


def _are_same(before: list[Reading], now: list[Reading]) -> bool:
    """Return whether readings are the identical objects as before."""
    return len(before) == len(now) and all(map(is_, before, now))


def _series_of(line: str) -> str:
    """Return the labels of a line without "le": all lines of a histogram are one series."""
    labels = line.rpartition("} ")[0].partition("{")[2]
    return labels.partition(',le="')[0]  # no value contains this: quotes in it are escaped


def _lines(begin: str, value: float | Buckets) -> str:
    if not isinstance(value, Buckets):
        return f"{begin}{value!r}\n"
    pairs = zip(value.bounds, value.counts, strict=True)
    lines = [f'{begin},le="{bound}"}} {count}\n' for bound, count in pairs]
    if value.total is not None:  # OpenMetrics has _count only with _sum; +Inf has the same value
        name, _, body = begin.partition("_bucket{")
        lines.append(f"{name}_count{{{body}}} {value.counts[-1]}\n")
        lines.append(f"{name}_sum{{{body}}} {+value.total!r}\n")
    return "".join(lines)


def _head(metric: Metric, form: Form) -> str:
    name = metric.name
    if form is Form.TEXT and metric.kind is Kind.COUNTER:
        name += "_total"
    text = metric.summary.replace("\\", "\\\\").replace("\n", "\\n")
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {_TYPES[metric.kind]}"]
    if form is Form.OPENMETRICS:
        lines[0] = lines[0].replace('"', '\\"')
        if name.endswith(f"_{metric.unit}"):
            lines.append(f"# UNIT {name} {metric.unit}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# Checked readings of a round: what a database cannot store is left out, and counted.

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENDINGS = ("_total", "_bucket", "_created")
RESERVED = frozenset(("server", "le", "time"))
"""Labels that sinks add, or that a database reserves."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Buckets(NamedTuple):
    """A histogram in the form that databases use.

    Attributes:
        bounds: Upper bounds as text; the last is "+Inf".
        counts: For each bound, the number of values not above it.
        total: Sum of all values; None if not reported.
    """

    bounds: tuple[str, ...]
    counts: list[int]
    total: float | None


Begin = Callable[[Metric, tuple[str, ...]], str]


def clean(text: str) -> str:
    """Return a text with U+FFFD in place of what UTF-8 cannot encode."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def is_sound(metric: Metric) -> bool:
    """Return whether a metric can be reported; ours always can, a plug-in's may not."""
    labels = metric.labels
    return (
        _NAME.fullmatch(metric.name) is not None
        and not metric.name.endswith(_ENDINGS)
        and all(_NAME.fullmatch(label) and label not in RESERVED for label in labels)
        and len(set(labels)) == len(labels)
    )


class CollectorSeries:
    """The series of one collector, from round to round.

    Attributes:
        problems: Number of readings that were left out so far: given twice in a round, not a
            finite number, labels that do not fit their metric, or a metric that cannot be
            reported.
    """

    def __init__(self, begin: Begin) -> None:
        """Start without any series.

        Args:
            begin: Function that returns the unique prefix of the lines of a series.
        """
        self.problems = 0
        self._begin = begin
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}
        self._metrics: dict[str, Metric] = {}

    def of(self, found: Round) -> Iterator[tuple[Metric, str, float | Buckets]]:
        """Yield metric, line prefix, and value of each series; of equal series, only the first."""
        known, self._known = self._known, {}
        self._metrics = {}
        seen: set[str] = set()
        for reading in found.readings:
            key = (reading.metric.name, tuple(reading.labels))
            begin = known.get(key) or self._first(reading)
            value = _value(reading) if begin and self._is_one(reading.metric) else None
            if value is None or begin in seen:
                self.problems += 1
                continue
            seen.add(begin)
            self._known[key] = begin
            yield reading.metric, begin, value

    def _is_one(self, metric: Metric) -> bool:
        """Return whether no other metric in the round has this name."""
        first = self._metrics.setdefault(metric.name, metric)
        return first is metric or first == metric

    def _first(self, reading: Reading) -> str:
        """Return the line prefix of a new series, or "" if it cannot be reported."""
        metric, labels = reading.metric, reading.labels
        if not is_sound(metric) or len(labels) != len(metric.labels):
            return ""
        if not all(isinstance(label, str) for label in labels):
            return ""
        return self._begin(metric, tuple(map(clean, labels)))


def is_finite(value: object) -> bool:
    """Return whether a value is a finite number that fits a floating-point number."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _value(reading: Reading) -> float | Buckets | None:
    """Return a value in the form that databases use, or None if they cannot store it."""
    is_histogram = reading.metric.kind is Kind.HISTOGRAM
    if isinstance(reading.value, Histogram):
        return _buckets(reading.value) if is_histogram else None
    return +reading.value if is_finite(reading.value) and not is_histogram else None


def _buckets(value: Histogram) -> Buckets | None:
    if value.total is not None and not is_finite(value.total):
        return None
    bounds = _bound_texts(tuple(bound for bound, _ in value.counts))
    try:
        counts = list(accumulate(int(count) for _, count in value.counts))
    except (ValueError, OverflowError):  # not a number, or infinite
        return None
    if bounds is None or counts != sorted(counts) or (counts and counts[0] < 0):
        return None
    if len(bounds) > len(counts):
        counts.append(counts[-1] if counts else 0)
    return Buckets(bounds, counts, value.total)


@lru_cache(maxsize=1024)
def _bound_texts(bounds: tuple[float, ...]) -> tuple[str, ...] | None:
    """Return bounds as text, including the last bucket's, or None if they do not ascend."""
    if any(math.isnan(bound) for bound in bounds):
        return None
    if any(low >= high for low, high in pairwise(bounds)):
        return None
    return (*(bound_text(bound) for bound in bounds if bound != math.inf), "+Inf")


def bound_text(bound: float) -> str:
    """Return a bound as Prometheus 3 writes it, so that all versions have the same series."""
    text = repr(float(bound))
    if math.isinf(bound):
        return "+Inf" if bound > 0 else "-Inf"
    if bound == 0 or 1e-4 <= abs(bound) < 1e6:
        return text
    digits, _, exponent = f"{Decimal(text).normalize():e}".partition("e")
    return f"{digits}e{exponent[0]}{exponent[1:].zfill(2)}"
