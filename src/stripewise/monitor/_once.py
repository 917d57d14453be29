# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One round of all collectors, without an agent."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise import __version__
from stripewise.errors import UsageError
from stripewise.monitor._agent import HEALTH
from stripewise.monitor._build import Chosen
from stripewise.monitor._clock import Clock
from stripewise.monitor._host import Host
from stripewise.monitor._records import Round
from stripewise.monitor._rounds import read_round
from stripewise.monitor.collectors import Collector
from stripewise.monitor.metrics import Reading, health


def read_once(
    chosen: Sequence[Chosen], host: Host, names: Sequence[str] = (), clock: Clock | None = None
) -> list[Round]:
    """Read one round of each collector that finds something, or of those that are named.

    Args:
        chosen: Collectors of the configuration.
        host: What they read.
        names: Of collectors; without names, of all that have something to read.
        clock: Of the host.

    Returns:
        Their rounds, and last one that tells whether they are complete.

    Raises:
        UsageError: A name is none of a collector that is switched on.
    """
    known = {one.collector.name: one for one in chosen}
    for name in names:
        if name not in known:
            there = ", ".join(known) or "none"
            raise UsageError(f"there is no collector {name!r} in this configuration: {there}")
    if names:
        used = [known[name] for name in dict.fromkeys(names)]
    else:
        used = [one for one in chosen if not (one.is_automatic and _missing(one.collector, host))]
    clock = clock or Clock()
    rounds = [_read(one.collector, host, clock) for one in used]
    return [*rounds, _report(rounds, clock)]


def _read(collector: Collector, host: Host, clock: Clock) -> Round:
    """Read one round; a collector without anything to read has failed, as it has in an agent."""
    if why := _missing(collector, host):
        at, monotonic = clock.wall(), clock.monotonic()
        return Round(collector.name, at, monotonic, problems=(why,), reason="missing")
    return read_round(collector, host, clock).round


def _missing(collector: Collector, host: Host) -> str:
    try:
        return collector.missing(host)
    except Exception:  # of a plug-in; its round then says what is wrong
        return ""


def _report(rounds: Sequence[Round], clock: Clock) -> Round:
    readings = [Reading(health.INFO, (__version__,), 1.0)]
    for found in rounds:
        name = (found.collector,)
        readings.append(Reading(health.COLLECTOR_OK, name, float(not found.reason)))
        readings.append(Reading(health.COLLECTOR_SECONDS, name, found.seconds))
    return Round(HEALTH, clock.wall(), clock.monotonic(), 0.0, tuple(readings))
