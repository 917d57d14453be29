# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What an agent of a configuration could read and reach here."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stripewise import __version__
from stripewise.monitor._agent import HEALTH
from stripewise.monitor._build import Chosen
from stripewise.monitor._clock import Clock
from stripewise.monitor._host import Host
from stripewise.monitor._records import Round
from stripewise.monitor._rounds import read_round
from stripewise.monitor.metrics import Reading, health
from stripewise.monitor.sinks import Sink, SinkError


@dataclass(frozen=True)
class CollectorCheck:
    """What one collector finds here.

    Attributes:
        name: Of it.
        state: "works", "part" (something was left out), "failed", "nothing" (there is nothing to
            read here, and it is automatic).
        why: What is missing, and the remedy.
        readings: How many.
        seconds: How long they took.
        found: Names of what was found, by label: file systems ("fs"), targets, devices.
        jobs: Jobs on targets, each counted on each target.
        problems: What was left out, a sentence each.
    """

    name: str
    state: str
    why: str = ""
    readings: int = 0
    seconds: float = 0.0
    found: dict[str, list[str]] = field(default_factory=dict)
    jobs: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class SinkCheck:
    """Whether a sink can be reached.

    Attributes:
        name: Of it.
        state: "works", "failed", "in use" (its address is taken, maybe by the running agent).
        why: What is wrong, and the remedy.
    """

    name: str
    state: str
    why: str = ""


@dataclass(frozen=True)
class MonitorCheck:
    """All of a check.

    Attributes:
        server: Name of this host in all that is reported.
        who: As whom the agent reads.
        collectors: Of the configuration.
        sinks: Of the configuration.
        plug_ins: Why plug-ins cannot be used.
    """

    server: str
    who: str
    collectors: tuple[CollectorCheck, ...]
    sinks: tuple[SinkCheck, ...]
    plug_ins: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether something is read, nothing that is there fails, and all sinks are reached."""
        states = [one.state for one in self.collectors if one.state != "nothing"]
        return (
            bool(states)
            and not self.plug_ins
            and all(state == "works" for state in states)
            and all(one.state != "failed" for one in self.sinks)
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "good": self.is_good}


SLOW_SECONDS = 20.0
"""Of a collector that is checked, after which it is named (assumed): who waits wants to know."""
_NAMED = ("fs", "target", "device", "interface")


def check_collectors(
    chosen: Sequence[Chosen], host: Host, tell: Callable[[str], None] = lambda text: None
) -> tuple[CollectorCheck, ...]:
    """Read one round of each collector, and tell what it found.

    Args:
        chosen: Which.
        host: What they read.
        tell: Takes a sentence, in another thread, while a collector reads for long: it may hang.
    """
    return tuple(_watched(one, host, tell) for one in chosen)


def _watched(one: Chosen, host: Host, tell: Callable[[str], None]) -> CollectorCheck:
    text = f"{one.collector.name} has been reading for {SLOW_SECONDS:g} s and is still waited for"
    timer = threading.Timer(SLOW_SECONDS, tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        return _check_collector(one, host)
    finally:
        timer.cancel()


def _check_collector(one: Chosen, host: Host) -> CollectorCheck:
    name = one.collector.name
    try:
        why = one.collector.missing(host)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return CollectorCheck(name, "failed", why)
    if why:
        return CollectorCheck(name, "nothing" if one.is_automatic else "failed", why)
    found = read_round(one.collector, host, Clock()).round
    state = "works" if not found.reason else "part" if found.readings else "failed"
    return CollectorCheck(
        name, state, found.problems[0] if found.reason and found.problems else "",
        len(found.readings), found.seconds, _names(found),
        sum(jobs.count for jobs in found.jobs), found.problems,
    )  # fmt: skip


def _names(found: Round) -> dict[str, list[str]]:
    values: dict[str, set[str]] = {}
    for label, value in _labels(found.readings):
        if label in _NAMED:
            values.setdefault(label, set()).add(value)
    return {label: sorted(values[label]) for label in _NAMED if label in values}


def _labels(readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
    """Yield labels with their values; targets by the whole name, since file systems share them."""
    for reading in readings:
        named = dict(zip(reading.metric.labels, reading.labels, strict=False))
        if "target" in named and "fs" in named:
            named["target"] = f"{named['fs']}-{named['target']}"
        yield from named.items()


def check_sinks(sinks: Sequence[Sink]) -> tuple[SinkCheck, ...]:
    """Begin each sink, deliver the version of the agent, and end it again."""
    return tuple(_check_sink(one) for one in sinks)


def _check_sink(sink: Sink) -> SinkCheck:
    clock = Clock()
    if why := sink.missing():
        return SinkCheck(sink.name, "failed", why)
    version = Reading(health.INFO, (__version__,), 1.0)
    try:
        sink.start()
        try:
            sink.take(Round(HEALTH, clock.wall(), clock.monotonic(), readings=(version,)))
            sink.deliver()
        finally:
            sink.stop()
    except SinkError as error:
        state = "in use" if _is_in_use(error) else "failed"
        return SinkCheck(sink.name, state, str(error))
    except Exception as error:
        return SinkCheck(sink.name, "failed", f"{type(error).__name__}: {error}")
    return SinkCheck(sink.name, "works")


def _is_in_use(error: BaseException) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE
