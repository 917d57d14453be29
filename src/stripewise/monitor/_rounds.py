# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One round of one collector: everything is kept that was read before something failed."""

from __future__ import annotations

import logging
from typing import NamedTuple

from stripewise.monitor._clock import Clock
from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import Round, TargetJobs
from stripewise.monitor.collectors import Collector, Problem
from stripewise.monitor.metrics import Metric, Reading

REASONS = ("missing", "denied", "slow", "malformed", "error")
"""All that a label ever holds, whatever a plug-in calls it."""
MOST_ITEMS = 1_000_000
"""Readings and targets of one round; a collector that gives more is broken (assumed)."""
_MOST_TEXTS = 100
_log = logging.getLogger("stripewise.monitor")


class Outcome(NamedTuple):
    """A round, and what is told of it.

    Attributes:
        round: What was read; at most 100 of its problems in words.
        problems: How many there were.
    """

    round: Round
    problems: int


class _Found:
    """What a round has so far."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.jobs: list[TargetJobs] = []
        self.texts: list[str] = []
        self.problems = 0
        self.reason = ""

    def take(self, item: Reading | TargetJobs | Problem) -> None:
        """Sort one item in; sinks can rely on it, whatever a plug-in gives."""
        if isinstance(item, Reading):
            if not isinstance(item.metric, Metric):
                raise HostError("malformed", "a reading is of no metric")
            _check_texts(item.labels)
            self.readings.append(item)
        elif isinstance(item, TargetJobs):
            _check_texts((item.fs, item.target))
            self.jobs.append(item)
        else:
            self.problems += 1
            self.reason = self.reason or (_known(item.reason) if item.reason else "")
            if len(self.texts) < _MOST_TEXTS:
                self.texts.append(str(item.text))
        if len(self.readings) + len(self.jobs) + self.problems > MOST_ITEMS:
            raise HostError("malformed", f"more than {MOST_ITEMS:,} readings in one round")

    def fail(self, reason: str, text: str) -> None:
        """Take what ended the round: it comes first, since it tells most."""
        self.reason = _known(reason)
        self.texts.insert(0, text)


def _check_texts(labels: object) -> None:
    try:
        if isinstance(labels, tuple):
            "".join(labels)  # the fastest way to see that they are texts
            return
    except TypeError:
        pass
    raise HostError("malformed", "a reading has labels that are no texts")


def _known(reason: str) -> str:
    return reason if reason in REASONS else "error"


def read_round(collector: Collector, host: Host, clock: Clock) -> Outcome:
    """Read everything once; whatever a collector raises ends this round and nothing else."""
    found = _Found()
    at, monotonic = clock.wall(), clock.monotonic()
    try:
        for item in collector.collect(host):
            found.take(item)
    except HostError as error:
        found.fail(error.reason, str(error))
    except BaseException as error:  # a plug-in may raise anything, even SystemExit
        _log.debug("the collector %s failed", collector.name, exc_info=True)
        found.fail("error", f"{type(error).__name__}: {error}")
    whole = Round(
        collector.name, at, monotonic, clock.monotonic() - monotonic,
        tuple(found.readings), tuple(found.jobs), tuple(found.texts), found.reason,
    )  # fmt: skip
    return Outcome(whole, found.problems)
