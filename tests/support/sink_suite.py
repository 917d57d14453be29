# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every sink must do; subclass it, and say which one, and with which settings.

class TestMine(SinkSuite):
    sink_name = "mine"

    def settings(self, directory: Path) -> dict[str, Any]:
        return {"path": str(directory / "mine")}
"""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stripewise.centre.monitor import (
    METRICS,
    Histogram,
    JobEntry,
    Kind,
    Metric,
    OperationCount,
    Reading,
    Round,
    TargetJobs,
    metrics,
)
from stripewise.centre.monitor.sinks._base import (
    Sink,
    SinkError,
    create_sink,
    sink_class,
    sink_names,
)
from stripewise.core.errors import ConfigurationError

_START = 1_790_000_000.0
_MANY = 300


def sample_round(number: int, collector: str = "sample") -> Round:
    """Return a round with a reading of every metric, and a job; the next is 15 s later."""
    entry = JobEntry("4711", None, None, {"read_bytes": OperationCount(1 + number, "bytes", 4096)})
    jobs = TargetJobs("scratch", "OST0000", (entry,), (), 1, number == 0)
    readings = tuple(_sample(metric, number) for metric in METRICS)
    at = 15.0 * number
    return Round(collector, _START + at, 1000.0 + at, 0.1, readings, (jobs,))


def _sample(metric: Metric, number: int) -> Reading:
    labels = tuple(f"{label}-1" for label in metric.labels)
    if metric.kind is Kind.HISTOGRAM:
        return Reading(metric, labels, Histogram(((1.0, number), (math.inf, 1)), 5.0 * number))
    return Reading(metric, labels, number)


def strange_rounds() -> list[Round]:
    """Return rounds that no collector should give, and that one may."""
    metric = METRICS[0]
    labels = tuple("a" for _ in metric.labels)
    readings: list[tuple[Reading, ...]] = [
        (),
        (Reading(metric, labels, 1), Reading(metric, labels, 2)),
        (Reading(metric, labels, math.nan), Reading(metric, labels, math.inf)),
        (Reading(metric, labels, -1), Reading(metric, labels, 10**400)),
        (Reading(metric, (), 1),),
        (Reading(metric, labels, Histogram(((2.0, 1), (1.0, -1)))),),
        *((Reading(metric, tuple(text for _ in labels), 1),) for text in _TEXTS),
    ]
    made = [Round("strange", _START + n, 10.0 + n, readings=r) for n, r in enumerate(readings)]
    failed = Round("strange", _START, 5.0, problems=("\x1b[1m\n",), reason="slow")
    return [*made, failed, Round("strange", _START - 7200.0, 90.0)]


_TEXTS = ("", "\\", '"', "a b,c=d", "\n", "\r\n", "\x00", "é\u2028", "\ud800", "a" * 10_000)


def end(sink: Sink) -> None:
    """End a sink; that something could not be delivered is no fault of it."""
    with suppress(SinkError):
        sink.stop()


class SinkSuite:
    """Conformance suite; set `sink_name`, and override `settings`."""

    sink_name: str

    def settings(self, directory: Path) -> dict[str, Any]:
        """Return settings that work, or that fail only at delivery; a directory is its own."""
        return {}

    def make(self, directory: Path) -> Sink:
        """Return the sink; it has not started."""
        return create_sink(self.sink_name, self.settings(directory), "server-1")

    def test_has_a_name_and_a_summary(self, tmp_path: Path) -> None:
        """It is found by its name, and lists can show it in one line."""
        assert self.sink_name in sink_names()
        member = sink_class(self.sink_name)
        assert member.name == self.sink_name
        assert member.summary
        assert "\n" not in member.summary
        assert self.make(tmp_path).server == "server-1"

    def test_an_unknown_key_is_one_line(self, tmp_path: Path) -> None:
        """With the table and the key."""
        settings = {**self.settings(tmp_path), "no_such_key": 1}
        with pytest.raises(ConfigurationError, match="no_such_key") as caught:
            create_sink(self.sink_name, settings, "server-1")
        assert str(caught.value).startswith(f"[sinks.{self.sink_name}]: ")
        assert "\n" not in str(caught.value)

    def test_missing_is_one_line(self, tmp_path: Path) -> None:
        """What stands against its use."""
        assert "\n" not in self.make(tmp_path).missing()

    def test_it_takes_rounds_and_ends(self, tmp_path: Path) -> None:
        """The usual life; a delivery may fail, but only as the contract says."""
        sink = self.make(tmp_path)
        sink.start()
        for number in range(3):
            sink.take(sample_round(number))
            sink.take(sample_round(number, "another"))
            with suppress(SinkError):
                sink.deliver()
        self.check_health(sink)
        end(sink)

    def test_it_ends_without_having_begun(self, tmp_path: Path) -> None:
        """The agent may end at any time."""
        end(self.make(tmp_path))

    def test_it_begins_again(self, tmp_path: Path) -> None:
        """Nothing of it is left when it has ended."""
        for _ in range(2):
            sink = self.make(tmp_path)
            sink.start()
            sink.take(sample_round(0))
            end(sink)

    def test_taking_does_not_need_deliveries(self, tmp_path: Path) -> None:
        """Rounds that nobody takes away are dropped at some time, and counted."""
        sink = self.make(tmp_path)
        sink.start()
        for number in range(_MANY):
            sink.take(sample_round(number))
        told = {one.metric: one.value for one in sink.health()}
        if metrics.SINK_QUEUED in told:
            waiting, lost = told[metrics.SINK_QUEUED], told[metrics.SINK_LOST]
            assert waiting + lost == _MANY  # type: ignore[operator]
        end(sink)

    def test_strange_rounds_do_not_disturb(self, tmp_path: Path) -> None:
        """They raise nothing, and what is sound afterwards still counts."""
        sink = self.make(tmp_path)
        sink.start()
        for found in strange_rounds():
            sink.take(found)
        sink.take(sample_round(1))
        with suppress(SinkError):
            sink.deliver()
        self.check_health(sink)
        end(sink)

    def check_health(self, sink: Sink) -> None:
        """See that what it tells of itself can be reported."""
        told = sink.health()
        keys = [(one.metric.name, one.labels) for one in told]
        assert len(set(keys)) == len(keys)
        for one in told:
            assert one.metric in METRICS
            assert len(one.labels) == len(one.metric.labels)
            assert sink.name in one.labels
            assert not isinstance(one.value, Histogram)
            assert math.isfinite(one.value)
            assert one.value >= 0
