# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a sink: where rounds go."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from stripewise.monitor._records import Round
from stripewise.monitor.metrics import Reading


class SinkSettings(BaseModel):
    """Settings of a sink; a member adds its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SinkError(Exception):
    """A delivery failed and may be tried again; the text says what, and the remedy."""


class Sink(ABC):
    """Where rounds go.

    `take` is called by one thread, quickly, for each round of each collector in order of time;
    `deliver` by a thread of the sink's own, again and again.

    Attributes:
        name: Short, and the name of its table in the configuration: "prometheus".
        summary: What it is, for a list.
        settings_class: Form of its table.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    settings_class: ClassVar[type[SinkSettings]]

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Take settings, and the name of this server, which goes along with every value."""
        self.settings = settings
        self.server = server

    @property
    def settled_seconds(self) -> float:
        """How often it asks for all that jobs did; infinite: never."""
        return math.inf

    @abstractmethod
    def missing(self) -> str:
        """Return why it cannot be used, with the remedy; "": it can."""

    def start(self) -> None:
        """Begin, before the first round: open a port, read what was delivered last.

        Raises:
            SinkError: It cannot begin; an address that is in use, say.
        """
        return

    @abstractmethod
    def take(self, found: Round) -> None:
        """Take a round, without waiting for anything."""

    def deliver(self) -> None:
        """Deliver what was taken, where the sink does not wait to be asked.

        Raises:
            SinkError: It failed; what was taken is kept, within bounds.
        """
        return

    def health(self) -> Sequence[Reading]:
        """Return readings of the sink's own health, beyond those that the agent makes."""
        return ()

    def stop(self) -> None:
        """Deliver what is left, if that does not take long, and end.

        Raises:
            SinkError: Something could not be delivered, and is lost; the sink has ended.
        """
        return
