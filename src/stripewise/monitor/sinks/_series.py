# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of a round, checked: what a database cannot hold is left out, and counted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from stripewise.monitor._records import Round
from stripewise.monitor.metrics import Histogram, Kind, Metric, Reading

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENDINGS = ("_total", "_bucket", "_created")
RESERVED = frozenset(("server", "le", "time"))
"""Labels that sinks add, or that a database has for itself."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Buckets(NamedTuple):
    """A histogram as databases have it.

    Attributes:
        bounds: Upper bounds as text; the last is "+Inf".
        counts: For each, how many were not above it.
        total: Sum of all; None: not told.
    """

    bounds: tuple[str, ...]
    counts: list[int]
    total: float | None


Begin = Callable[[Metric, tuple[str, ...]], str]


def clean(text: str) -> str:
    """Return a text without what UTF-8 cannot hold: that becomes U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def is_sound(metric: Metric) -> bool:
    """Whether a metric can be reported; those of this package are, a plug-in's may not be."""
    labels = metric.labels
    return (
        _NAME.fullmatch(metric.name) is not None
        and not metric.name.endswith(_ENDINGS)
        and all(_NAME.fullmatch(label) and label not in RESERVED for label in labels)
        and len(set(labels)) == len(labels)
    )


class Series:
    """The series of one collector, from round to round.

    Attributes:
        problems: Readings that were left out so far: given twice in a round, no finite number,
            labels that do not fit their metric, a metric that cannot be reported.
    """

    def __init__(self, begin: Begin) -> None:
        """Begin without any.

        Args:
            begin: Returns how the lines of a series begin; other series begin otherwise.
        """
        self.problems = 0
        self._begin = begin
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}
        self._metrics: dict[str, Metric] = {}

    def of(self, found: Round) -> Iterator[tuple[Metric, str, float | Buckets]]:
        """Yield metric, beginning of lines, and value of each series; the first of equal ones."""
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
        """Whether there is no other metric of this name in the round."""
        first = self._metrics.setdefault(metric.name, metric)
        return first is metric or first == metric

    def _first(self, reading: Reading) -> str:
        """Return how lines of a new series begin; "": it cannot be reported."""
        metric, labels = reading.metric, reading.labels
        if not is_sound(metric) or len(labels) != len(metric.labels):
            return ""
        if not all(isinstance(label, str) for label in labels):
            return ""
        return self._begin(metric, tuple(map(clean, labels)))


def is_finite(value: object) -> bool:
    """Whether a value is a finite number that fits a floating-point one."""
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _value(reading: Reading) -> float | Buckets | None:
    """Return a value as databases have it; None: they cannot hold it."""
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
    except (ValueError, OverflowError):  # no number, or infinite
        return None
    if bounds is None or counts != sorted(counts) or (counts and counts[0] < 0):
        return None
    if len(bounds) > len(counts):
        counts.append(counts[-1] if counts else 0)
    return Buckets(bounds, counts, value.total)


@lru_cache(maxsize=1024)
def _bound_texts(bounds: tuple[float, ...]) -> tuple[str, ...] | None:
    """Return bounds as text, with that of the last bucket; None: they do not ascend."""
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
