# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds as collectors give them, made up."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stripewise.centre.monitor import (
    METRICS,
    Histogram,
    Kind,
    Metric,
    Reading,
    Round,
    counter,
    level,
)

READ = counter("lustre_target_read_bytes", "bytes", "Read.", ("fs", "target"))
WRITE = counter("lustre_target_write_bytes", "bytes", "Written.", ("fs", "target"))
FREE = level("lustre_target_free_bytes", "bytes", "Free.", ("fs", "target"))
SIZES = Histogram(((4096.0, 3), (1048576.0, 4), (math.inf, 1)), 5.5e6)
START = 1_790_000_000.0
"""When rounds begin, if nobody says."""


def made_round(
    readings: Iterable[Reading], number: int = 0, collector: str = "made", reason: str = ""
) -> Round:
    """Return a round; the next number is 15 s later."""
    at = 15.0 * number
    return Round(collector, START + at, 1000.0 + at, readings=tuple(readings), reason=reason)


def one_of_each(metric: Metric) -> Reading:
    """Return a reading of a metric."""
    labels = tuple(f"{label}-1" for label in metric.labels)
    return Reading(metric, labels, SIZES if metric.kind is Kind.HISTOGRAM else 12)


def whole_round(number: int = 0) -> Round:
    """Return a round with every metric that there is."""
    return made_round(map(one_of_each, METRICS), number)


STRANGE = made_round(
    (
        Reading(READ, ("fs", "twice"), 1),
        Reading(READ, ("fs", "twice"), 2),
        Reading(READ, ("fs", "nan"), math.nan),
        Reading(READ, ("fs", "infinite"), math.inf),
        Reading(READ, ("fs", "huge"), 10**400),
        Reading(READ, ("fs",), 3),
        Reading(READ, ["fs", 5], 3),  # type: ignore[arg-type, list-item]
        Reading(READ, ("fs", "none"), None),  # type: ignore[arg-type]
        Reading(READ, ("fs", "histogram"), SIZES),
        Reading(counter("lustre_target_read_bytes", "bytes", "Other.", ("a",)), ("x",), 4),
        Reading(counter("Bad-Name", "bytes", "It breaks formats."), (), 5),
        Reading(counter("own_server", "bytes", "A label of the sinks'.", ("server",)), ("x",), 6),
        Reading(level("twice_a_label", "bytes", "So.", ("fs", "fs")), ("x", "y"), 7),
        Reading(READ, ("fs", "good"), 8),
    )
)
"""Two readings that are sound, the first and the last, among those that are not."""
STRANGE_COUNT = len(STRANGE.readings) - 2
