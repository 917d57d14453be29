# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the agent from its configuration and runs it as a service until a signal ends it.

See docs/design/monitoring.md for the design.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import queue
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from stripewise import __version__
from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import LocalHost
from stripewise.centre.monitor._privileges import give_up_root
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.agent._collecting import Clock, Collecting, Grid, StepWatch
from stripewise.centre.monitor.agent._delivering import Delivering
from stripewise.centre.monitor.agent._settings import MonitorSettings, within
from stripewise.centre.monitor.collectors._base import Collector
from stripewise.centre.monitor.collectors._registry import (
    PlugInError,
    collector_names,
    collector_problems,
    create_collector,
)
from stripewise.centre.monitor.sinks._base import Sink, create_sink, sink_class
from stripewise.core.errors import RuntimeMissingError, StorageError
from stripewise.present import printable

SINKS_BEGIN_SECONDS = 10.0
"""Time for sinks to start; a slower one keeps trying, and loses the rounds in the meantime."""
COLLECTORS_END_SECONDS = 1.0
SINKS_END_SECONDS = 3.5
"""Total time for sinks to stop: below 5 s, after which the agent may be killed."""
HEALTH = "monitor"
"""The name under which the agent reports on itself."""
Part = Collecting | Delivering
_log = logging.getLogger("stripewise.centre.monitor.agent")


class Request(Enum):
    """A request to a running agent."""

    STOP = "stop"
    RELOAD = "reload"


class Agent:
    """Running collectors and sinks.

    Args:
        collecting: Function that makes the collectors' threads, given a function that takes their
            rounds.
        delivering: The threads of the sinks.
        interval_seconds: Time between two reports of the agent on itself.
        clock: Clock of this host.
        notifier: Notifies systemd.
        close: Function that ends whatever collectors wait for.
    """

    def __init__(
        self,
        collecting: Callable[[Callable[[Round], None]], Sequence[Collecting]],
        delivering: Sequence[Delivering],
        interval_seconds: float,
        clock: Clock | None = None,
        notifier: Notifier | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock or Clock()
        self._came: queue.SimpleQueue[Round | Request] = queue.SimpleQueue()
        self._collecting = collecting(self._came.put)
        self._delivering = delivering
        self._interval_seconds = interval_seconds
        self._notifier = notifier or Notifier()
        self._close = close
        self._steps = StepWatch(self._clock)

    def ask(self, request: Request) -> None:
        """Send a request to the agent; signal handlers may call this."""
        self._came.put(request)

    def run(self) -> None:
        """Work until a stop is requested.

        Raises:
            StorageError: None of the sinks can start.
        """
        self._begin_sinks()
        for one in self._collecting:
            one.start()
        self._notifier.tell("READY=1")
        if not self._collecting:
            _log.warning("nothing is read: each collector has enabled = false; take that out")
        names = ", ".join(one.sink.name for one in self._delivering)
        _log.info("the agent runs, every %g s, to %s", self._interval_seconds, names)
        try:
            self._work()
        finally:
            self._notifier.tell("STOPPING=1")
            self._end()

    def _begin_sinks(self) -> None:
        """Start all sinks at once; those that fail are retried as long as one works."""
        for one in self._delivering:
            one.start()
        until = time.monotonic() + SINKS_BEGIN_SECONDS
        for one in self._delivering:
            while not one.has_tried(0.1) and time.monotonic() < until and self._came.empty():
                pass
        errors = [why for one in self._delivering if (why := one.why_not_started)]
        if len(errors) == len(self._delivering):
            for one in self._delivering:
                one.stop()
            raise StorageError(errors[0] if errors else "there are no sinks: configure one")

    def _work(self) -> None:
        grid = Grid(self._clock.monotonic(), self._interval_seconds)
        due = self._clock.monotonic() + min(1.0, self._interval_seconds)  # after the first rounds
        while True:
            self._notifier.tell("WATCHDOG=1")
            if self._clock.monotonic() >= due:
                self._hand_on(self.report())
                due, _ = grid.next(self._clock.monotonic())
            match self._next(due):
                case Round() as found:
                    self._hand_on(found)
                case Request.STOP:
                    return
                case Request.RELOAD:
                    _log.warning("SIGHUP: the configuration is read at the start: restart to "
                                 "change it; the agent goes on")  # fmt: skip

    def _next(self, due: float) -> Round | Request | None:
        seconds = max(0.0, due - self._clock.monotonic())
        if self._notifier.watchdog_seconds:
            seconds = min(seconds, self._notifier.watchdog_seconds / 3)
        try:
            return self._came.get(timeout=seconds)
        except queue.Empty:
            return None

    def _hand_on(self, found: Round) -> None:
        for one in self._delivering:
            one.take(found)

    def report(self) -> Round:
        """Return the agent's readings about itself."""
        if step := self._steps.look():
            _log.warning("this host's clock was set by %+.1f s", step)
        parts: tuple[Part, ...] = (*self._collecting, *self._delivering)
        for one in parts:
            one.look()
        readings = [
            Reading(metrics.INFO, (__version__,), 1.0),
            Reading(metrics.CLOCK_STEPS, (), float(self._steps.count)),
        ]
        for part in parts:
            readings += part.health()
        return Round(HEALTH, self._clock.wall(), self._clock.monotonic(), 0.0, tuple(readings))

    def _end(self) -> None:
        """Stop the collectors, pass on what they still read, and let the sinks deliver it."""
        for one in self._collecting:
            one.stop()
        self._close()
        until = time.monotonic() + COLLECTORS_END_SECONDS
        slow = [one.collector.name for one in self._collecting
                if not one.join(until - time.monotonic())]  # fmt: skip
        while not self._came.empty():
            found = self._came.get()
            if isinstance(found, Round):
                self._hand_on(found)
        for each in self._delivering:
            each.stop()
        until = time.monotonic() + SINKS_END_SECONDS
        slow += [each.sink.name for each in self._delivering
                 if not each.join(until - time.monotonic())]  # fmt: skip
        if slow:
            _log.warning("the agent ends without waiting for %s", ", ".join(slow))
        else:
            _log.info("the agent has ended")


# Notifications of a service to systemd: that it is ready, and that it still runs.
#
# Source: sd_notify(3), sd_watchdog_enabled(3) (documented).


class Notifier:
    """Notifies systemd, if it listens."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self.watchdog_seconds = _watchdog_seconds(environment) if self._address else 0.0
        """Maximum time between two keep-alive messages; 0 if none are required."""

    def tell(self, text: str) -> None:
        """Send "READY=1", "WATCHDOG=1" and so on; errors are ignored."""
        if not self._address:
            return
        address = self._address
        if address.startswith("@"):
            address = "\0" + address[1:]
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.setblocking(False)
                out.sendto(text.encode(), address)
        except OSError:
            return


def _watchdog_seconds(environment: Mapping[str, str]) -> float:
    whose = environment.get("WATCHDOG_PID", "")
    microseconds = environment.get("WATCHDOG_USEC", "")
    if not microseconds.isdecimal() or (whose and whose != str(os.getpid())):
        return 0.0
    return int(microseconds) / 1e6


# Creates collectors and sinks from the configuration.


class Chosen(NamedTuple):
    """A configured collector.

    Attributes:
        collector: The collector itself.
        is_automatic: Whether it is used only if there is something to read.
    """

    collector: Collector
    is_automatic: bool


def make_collectors(settings: MonitorSettings, path: Path | None = None) -> list[Chosen]:
    """Return the collectors that are enabled, without plug-ins that cannot be created.

    Args:
        settings: The configuration.
        path: Path of its file, to be named in errors.

    Raises:
        ConfigurationError: Settings of a collector are invalid.
    """

    def make() -> Iterator[Chosen]:
        for name in collector_names():
            enabled = settings.choice(name).enabled
            if not enabled:
                continue
            try:
                collector = create_collector(name, settings.table(name))
            except PlugInError:  # collector_problems() reports why; the rest works without it
                continue
            yield Chosen(collector, enabled == "automatic")

    return within(path, lambda: list(make()))


def make_sinks(settings: MonitorSettings, path: Path | None = None) -> list[Sink]:
    """Return the sinks; one with a setting "cluster" gets the agent's.

    Raises:
        ConfigurationError: Settings of a sink are invalid.
    """
    agent = settings.agent

    def make(name: str) -> Sink:
        table = dict(settings.sinks[name])
        if agent.cluster and "cluster" in sink_class(name).settings_class.model_fields:
            table.setdefault("cluster", agent.cluster)
        return create_sink(name, table, agent.server)

    return within(path, lambda: [make(name) for name in settings.sinks])


def ask_for_jobs(chosen: Iterable[Chosen], sinks: Iterable[Sink]) -> None:
    """Make collectors report everything that jobs did as often as some sink needs it."""
    settled_seconds = min((sink.settled_seconds for sink in sinks), default=math.inf)
    for one in chosen:
        one.collector.settled_seconds = settled_seconds


def make_agent(settings: MonitorSettings, path: Path | None = None) -> Agent:
    """Return the agent of a configuration.

    Raises:
        ConfigurationError: Settings are invalid.
        RuntimeMissingError: A sink cannot be used here.
    """
    sinks = make_sinks(settings, path)
    for sink in sinks:
        if why := sink.missing():
            raise RuntimeMissingError(f"the sink {sink.name} cannot be used: {why}")
    chosen = make_collectors(settings, path)
    ask_for_jobs(chosen, sinks)
    host, clock, interval_seconds = LocalHost(), Clock(), settings.agent.interval_seconds

    def collecting(hand_on: Callable[[Round], None]) -> Sequence[Collecting]:
        return [
            Collecting(one.collector, host, clock, interval_seconds, hand_on, one.is_automatic)
            for one in chosen
        ]

    delivering = [Delivering(sink, clock) for sink in sinks]
    return Agent(collecting, delivering, interval_seconds, clock, close=host.close)


# The agent as a service: its signals, and the user that it runs as.

_REQUESTS = {
    signal.SIGTERM: Request.STOP,
    signal.SIGINT: Request.STOP,
    signal.SIGHUP: Request.RELOAD,
}
_GARBAGE_THRESHOLDS = 20_000, 20, 20


def run_agent(settings: MonitorSettings, path: Path | None = None) -> None:
    """Run the agent until SIGTERM or SIGINT; only the main thread may call this.

    If started by root, the process executes its command line again as another user.

    Args:
        settings: The configuration.
        path: Path of its file, to be named in errors.

    Raises:
        StripewiseError: The configuration is invalid, or no sink can start.
    """
    who = give_up_root(settings.agent.user)
    agent = make_agent(settings, path)
    _log.info("%s", who)
    for problem in collector_problems():
        _log.warning("%s", printable(problem))
    with _signals(agent), _rare_garbage():
        agent.run()


@contextmanager
def _rare_garbage() -> Iterator[None]:
    """Run the garbage collector less often: a round makes tens of thousands of objects, no cycles.

    Python's default thresholds cost a sixth of the agent's time on a large server.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def _signals(agent: Agent) -> Iterator[None]:
    def take(number: int, _frame: FrameType | None) -> None:
        agent.ask(_REQUESTS[signal.Signals(number)])

    before = {number: signal.signal(number, take) for number in _REQUESTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
