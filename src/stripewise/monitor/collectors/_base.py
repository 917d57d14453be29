# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a collector: one kind of counters, read and named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from stripewise.monitor._host import Host
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.metrics import Metric, Reading


@dataclass(frozen=True)
class Problem:
    """Something that was left out of a round, in one sentence; the rest of the round counts.

    Attributes:
        text: Which file or parameter, what is wrong.
        reason: As of `Round.reason` if the round is not complete without it; "": it is.
    """

    text: str
    reason: str = ""


class CollectorSettings(BaseModel):
    """Settings that every collector has; a member may add its own.

    Attributes:
        interval_seconds: From one round to the next; 0: as the agent has it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    interval_seconds: float = Field(default=0.0, ge=0.0, le=3600.0)


class Collector(ABC):
    """One kind of counters.

    One object lives as long as the agent and is used by one thread at a time; it may remember what
    it needs from round to round.

    Attributes:
        name: Short, and the name of its table in the configuration: "lustre-server".
        summary: What it reads, for a list.
        metrics: All that it can report.
        settings_class: Form of its table in the configuration.
        is_repeated: Its rounds follow one another, and somebody looks at growth: sums over parts
            that come and go begin at zero.
        settled_seconds: How often all that jobs did is asked for (`TargetJobs.is_settled`);
            0: in each round.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    settings_class: ClassVar[type[CollectorSettings]] = CollectorSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Take its settings, an instance of `settings_class`."""
        self.settings = settings
        self.is_repeated = False
        self.settled_seconds = 0.0

    @abstractmethod
    def missing(self, host: Host) -> str:
        """Return why there is nothing to read on a host, with the remedy; "": there is."""

    @abstractmethod
    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read everything once.

        What can be read is given although something else cannot: that is a `Problem`.

        Raises:
            HostError: Nothing more can be read in this round.
        """
