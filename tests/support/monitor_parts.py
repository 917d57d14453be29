# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collectors, sinks, clocks and a host for tests of the agent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from stripewise.centre.monitor import Host, HostError, Metric, Reading, Round, TargetJobs, counter
from stripewise.centre.monitor.collectors import Collector, CollectorSettings, Problem
from stripewise.centre.monitor.sinks._base import Sink, SinkError, SinkSettings

THINGS = counter("fake_things", "operations", "Things.", ("which",))


def thing(which: str, value: float = 1.0) -> Reading:
    return Reading(THINGS, (which,), value)


class SetClock:
    """Clocks that stand still until they are set."""

    def __init__(self, wall: float = 1_800_000_000.0, monotonic: float = 100.0) -> None:
        self.wall_seconds = wall
        self.monotonic_seconds = monotonic

    def wall(self) -> float:
        return self.wall_seconds

    def monotonic(self) -> float:
        return self.monotonic_seconds

    def pass_by(self, seconds: float) -> None:
        self.wall_seconds += seconds
        self.monotonic_seconds += seconds


class EmptyHost(Host):
    """A host on which there is nothing."""

    def text(self, path: str) -> str:
        raise HostError("missing", f"{path}: there is no such file")

    def names(self, pattern: str) -> list[str]:
        return []

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        raise HostError("missing", f"there is no program {words[0]}")
        yield b""


class FakeSettings(CollectorSettings):
    """Settings of a fake."""

    size: int = 1


class FakeCollector(Collector):
    """Does in each round what a function says; by default it counts its rounds."""

    name = "fake"
    summary = "a fake"
    metrics: tuple[Metric, ...] = (THINGS,)  # type: ignore[misc]
    settings_class = FakeSettings

    def __init__(
        self,
        settings: CollectorSettings | None = None,
        act: Callable[[int], Iterator[Reading | TargetJobs | Problem]] | None = None,
        name: str = "fake",
    ) -> None:
        super().__init__(settings or FakeSettings())
        self.name = name  # type: ignore[misc]
        self.rounds = 0
        self.why_missing = ""
        self._act = act

    def missing(self, host: Host) -> str:
        return self.why_missing

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        self.rounds += 1
        if self._act is None:
            yield thing("rounds", self.rounds)
        else:
            yield from self._act(self.rounds)


class FakeSink(Sink):
    """Keeps what it takes, and delivers it unless it is down."""

    name = "fake-sink"
    summary = "a fake"
    settings_class = SinkSettings

    def __init__(self, name: str = "fake-sink", server: str = "here") -> None:
        super().__init__(SinkSettings(), server)
        self.name = name  # type: ignore[misc]
        self.is_down = False
        self.cannot_begin = ""
        self.own: list[Reading] = []
        self.waiting: list[Round] = []
        self.delivered: list[Round] = []
        self.threads: set[int] = set()
        self.attempts = 0
        self.stops = 0

    def missing(self) -> str:
        return ""

    def start(self) -> None:
        if self.cannot_begin:
            raise SinkError(self.cannot_begin)

    def take(self, found: Round) -> None:
        self.threads.add(threading.get_ident())
        self.waiting.append(found)

    def deliver(self) -> None:
        self.attempts += 1
        if self.is_down:
            raise SinkError("http://nobody: connection refused: start it")
        while self.waiting:
            self.delivered.append(self.waiting.pop(0))

    def health(self) -> Sequence[Reading]:
        return self.own

    def stop(self) -> None:
        self.stops += 1
        self.deliver()

    def of(self, collector: str) -> list[Round]:
        return [one for one in self.delivered if one.collector == collector]


def wait_until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds, and fail if it never does."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)


def value_of(readings: Sequence[Reading], metric: Metric, *labels: str) -> float | None:
    """The value of a metric; None: it is not there."""
    found = [one.value for one in readings if one.metric == metric and one.labels == labels]
    assert len(found) < 2, "told twice"
    return float(found[0]) if found else None  # type: ignore[arg-type]
