# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collectors and sinks out of the configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stripewise.errors import RuntimeMissingError
from stripewise.monitor._agent import Agent
from stripewise.monitor._clock import Clock
from stripewise.monitor._collecting import Collecting
from stripewise.monitor._delivering import Delivering
from stripewise.monitor._local_host import LocalHost
from stripewise.monitor._records import Round
from stripewise.monitor._settings import MonitorSettings, within
from stripewise.monitor.collectors import Collector, PlugInError, collector_names, create_collector
from stripewise.monitor.sinks import Sink, create_sink, sink_class


class Chosen(NamedTuple):
    """A collector of the configuration.

    Attributes:
        collector: Of it.
        is_automatic: Used only where there is something to read.
    """

    collector: Collector
    is_automatic: bool


def make_collectors(settings: MonitorSettings, path: Path | None = None) -> list[Chosen]:
    """Make the collectors that are not switched off, but plug-ins that cannot be made.

    Args:
        settings: The configuration.
        path: Of its file, to be named in errors.

    Raises:
        ConfigurationError: Settings of one are not right.
    """

    def make() -> Iterator[Chosen]:
        for name in collector_names():
            enabled = settings.choice(name).enabled
            if not enabled:
                continue
            try:
                collector = create_collector(name, settings.table(name))
            except PlugInError:  # collector_problems() says why, and the rest works without it
                continue
            yield Chosen(collector, enabled == "automatic")

    return within(path, lambda: list(make()))


def make_sinks(settings: MonitorSettings, path: Path | None = None) -> list[Sink]:
    """Make the sinks; one that has a setting "cluster" gets the agent's.

    Raises:
        ConfigurationError: Settings of one are not right.
    """
    agent = settings.agent

    def make(name: str) -> Sink:
        table = dict(settings.sinks[name])
        if agent.cluster and "cluster" in sink_class(name).settings_class.model_fields:
            table.setdefault("cluster", agent.cluster)
        return create_sink(name, table, agent.server)

    return within(path, lambda: [make(name) for name in settings.sinks])


def ask_for_jobs(chosen: Iterable[Chosen], sinks: Iterable[Sink]) -> None:
    """Let collectors give all that jobs did as often as a sink wants it."""
    settled_seconds = min((sink.settled_seconds for sink in sinks), default=math.inf)
    for one in chosen:
        one.collector.settled_seconds = settled_seconds


def make_agent(settings: MonitorSettings, path: Path | None = None) -> Agent:
    """Make the agent of a configuration.

    Raises:
        ConfigurationError: Settings are not right.
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
