# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sends every round to InfluxDB 1.x or 2.x, VictoriaMetrics, or what speaks as they do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from stripewise.monitor._records import Round
from stripewise.monitor.metrics import Reading, health
from stripewise.monitor.sinks._base import Sink, SinkError, SinkSettings
from stripewise.monitor.sinks._influx_client import InfluxClient, Refused
from stripewise.monitor.sinks._influx_settings import InfluxSettings, TargetSettings
from stripewise.monitor.sinks._lines import LineWriter
from stripewise.monitor.sinks._queue import Packed, RoundQueue, pack
from stripewise.text import plural

_LAST_SECONDS = 3.0
"""What delivering may take at the end."""


class _Target:
    """One database, and what waits for it."""

    def __init__(self, settings: TargetSettings, whole: InfluxSettings) -> None:
        self.url = settings.url
        self.client = InfluxClient(settings)
        self.queue = RoundQueue(whole.queue_rounds, whole.queue_bytes)
        self._batch_bytes = whole.batch_bytes

    def deliver(self, timeout_seconds: float, until: float) -> str:
        """Deliver what waits, until a time of the monotonic clock.

        Returns:
            What the database refused, in one line; "": nothing.

        Raises:
            SinkError: It failed; what was not taken is kept.
        """
        refused, first = 0, ""
        while time.monotonic() < until and (batch := self.queue.take(self._batch_bytes)):
            try:
                said = self._send(batch, timeout_seconds)
            except BaseException:
                self.queue.give_back(batch)
                raise
            self.queue.settle(len(said))
            refused += len(said)
            first = first or next(iter(said), "")
        if not refused:
            return ""
        return f"{self.url} refused {plural(refused, 'round')}, which are dropped: {first}"

    def _send(self, batch: Sequence[Packed], timeout_seconds: float) -> list[str]:
        """Send rounds together; if the database refuses, each by itself.

        Returns:
            For each round that was refused, why.
        """
        pieces = [piece for found in batch for piece in found.pieces]
        if len(batch) > 1 and pieces:
            try:
                self.client.write(b"".join(pieces), timeout_seconds)
                return []
            except Refused:
                pass  # one of them is bad: which?
        said = [self._send_one(found, timeout_seconds) for found in batch]
        return [one for one in said if one]

    def _send_one(self, found: Packed, timeout_seconds: float) -> str:
        said = ""
        for piece in found.pieces:
            try:
                self.client.write(piece, timeout_seconds)
            except Refused as error:
                said = said or str(error)
        return said


class InfluxSink(Sink):
    """Sends lines."""

    name: ClassVar[str] = "influx"
    summary: ClassVar[str] = "sends all values to InfluxDB 1.x or 2.x, or VictoriaMetrics"
    settings_class: ClassVar[type[SinkSettings]] = InfluxSettings
    settings: InfluxSettings

    def __init__(self, settings: SinkSettings, server: str) -> None:
        """Take settings; nothing is sent before `deliver`."""
        super().__init__(settings, server)
        self._writer = LineWriter(server)
        self._targets = [_Target(one, self.settings) for one in self.settings.targets]

    def missing(self) -> str:
        """Return which file of a secret or of certificates cannot be used."""
        for target in self._targets:
            try:
                target.client.check()
            except SinkError as error:
                return str(error)
        return ""

    def take(self, found: Round) -> None:
        """Take a round: it is packed now, since lines are many times as large."""
        packed = pack(self._writer.lines(found), self.settings.batch_bytes)
        if packed.pieces:
            for target in self._targets:
                target.queue.put(packed)

    def deliver(self) -> None:
        """Deliver what waits to every database; one that fails does not stop the others."""
        self._deliver(self.settings.timeout_seconds, float("inf"))

    def stop(self) -> None:
        """Try once more, for a short time."""
        timeout_seconds = min(_LAST_SECONDS, self.settings.timeout_seconds)
        try:
            self._deliver(timeout_seconds, time.monotonic() + _LAST_SECONDS)
        except SinkError as error:
            left = sum(len(target.queue) for target in self._targets)
            if not left:
                raise  # it says what was refused
            raise SinkError(f"{plural(left, 'round')} could not be delivered: {error}") from error

    def _deliver(self, timeout_seconds: float, until: float) -> None:
        failures = []
        for target in self._targets:
            try:
                failures.append(target.deliver(timeout_seconds, until))
            except SinkError as error:
                failures.append(str(error))
        if said := [failure for failure in failures if failure]:
            raise SinkError("; ".join(said))

    def health(self) -> Sequence[Reading]:
        """Return what waits, what was lost, and what was left out; of all databases together."""
        labels = (self.name,)
        return (
            Reading(health.SINK_QUEUED, labels, sum(len(one.queue) for one in self._targets)),
            Reading(health.SINK_LOST, labels, sum(one.queue.lost for one in self._targets)),
            Reading(health.SINK_PROBLEMS, labels, self._writer.problems),
        )
