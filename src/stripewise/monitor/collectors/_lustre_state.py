# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a target is: readings of space, connections, recovery and locks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lustre_stats import Target, told
from stripewise.monitor.metrics import Metric, Reading, lustre
from stripewise.monitor.texts.lustre import (
    STATES,
    excerpt,
    parse_count,
    parse_namespace,
    parse_recovery_status,
)

_KIB = 1024
_SPACE = (
    ("kbytestotal", "kbytesfree", _KIB,
     (lustre.TARGET_TOTAL_BYTES, lustre.TARGET_FREE_BYTES, lustre.TARGET_USED_BYTES)),
    ("filestotal", "filesfree", 1,
     (lustre.TARGET_TOTAL_FILES, lustre.TARGET_FREE_FILES, lustre.TARGET_USED_FILES)),
)  # fmt: skip
_LOCKS: dict[str, Metric] = {
    "lock_count": lustre.LOCKS,
    "lock_timeouts": lustre.LOCK_TIMEOUTS,
    "pool.grant_rate": lustre.LOCK_GRANT_RATE,
    "pool.cancel_rate": lustre.LOCK_CANCEL_RATE,
    "pool.limit": lustre.LOCK_LIMIT,
}
LOCK_PATTERNS = tuple(
    f"ldlm.namespaces.{kind}-*.{name}" for kind in ("filter", "mdt") for name in _LOCKS
)


def count_of(name: str, values: Mapping[str, str]) -> int | Problem | None:
    """Return a parameter that is a count; None: it is not there; a problem: it is no count."""
    if name not in values:
        return None
    value = parse_count(values[name])
    return Problem(f"{name}: not a count: {excerpt(values[name])}") if value is None else value


def space_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return capacity and use of a target, in bytes and in inodes."""
    if not target.osd:
        return
    for total_name, free_name, unit, metrics in _SPACE:
        total = count_of(f"{target.osd}.{total_name}", values)
        free = count_of(f"{target.osd}.{free_name}", values)
        yield from (found for found in (total, free) if isinstance(found, Problem))
        if not isinstance(total, int) or not isinstance(free, int):
            continue
        if free > total:
            yield Problem(f"{target.osd}: {free_name} {free} is more than {total_name} {total}")
            continue
        for metric, value in zip(metrics, (total, free, total - free), strict=True):
            yield Reading(metric, target.labels, value * unit)
    available = count_of(f"{target.osd}.kbytesavail", values)
    if isinstance(available, Problem):
        yield available
    elif available is not None:
        yield Reading(lustre.TARGET_AVAILABLE_BYTES, target.labels, available * _KIB)


def connection_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return connections of a target and the state of its recovery."""
    exports = count_of(f"{target.root}.num_exports", values)
    if isinstance(exports, Problem):
        yield exports
    elif exports is not None:
        yield Reading(lustre.TARGET_EXPORTS, target.labels, exports)
    name = f"{target.root}.recovery_status"
    if name not in values:
        return
    found = parse_recovery_status(values[name])
    yield from told(name, found.problems)
    if found.state:
        for state in dict.fromkeys((*STATES, found.state)):
            is_it = float(state == found.state)
            yield Reading(lustre.RECOVERY_STATE, (*target.labels, state), is_it)
    for state, count in (found.clients or {}).items():
        yield Reading(lustre.RECOVERY_CLIENTS, (*target.labels, state), count)
    if found.remaining_seconds is not None:
        yield Reading(lustre.RECOVERY_REMAINING, target.labels, found.remaining_seconds)
    if found.duration_seconds is not None:
        yield Reading(lustre.RECOVERY_DURATION, target.labels, found.duration_seconds)


def lock_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return locks of all targets, from their namespaces."""
    for name in values:
        if not name.startswith("ldlm.namespaces."):
            continue
        space, _, kind = name.removeprefix("ldlm.namespaces.").partition(".")
        target = parse_namespace(space)
        metric = _LOCKS.get(kind)
        if target is None or metric is None:
            continue
        value = count_of(name, values)
        if isinstance(value, Problem):
            yield value
        elif value is not None:
            yield Reading(metric, tuple(target), value)
