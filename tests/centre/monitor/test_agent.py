# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent with collectors that fail, hang and are slow, and sinks that are down."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from stripewise.centre.monitor import HostError, Reading, metrics
from stripewise.centre.monitor.agent._agent import Agent, Request
from stripewise.centre.monitor.agent._collecting import Backoff, Clock, Collecting
from stripewise.centre.monitor.agent._delivering import Delivering
from stripewise.centre.monitor.collectors import Problem
from stripewise.centre.monitor.sinks._base import Sink
from stripewise.core.errors import StorageError
from support.monitor_parts import (
    EmptyHost,
    FakeCollector,
    FakeSink,
    SetClock,
    thing,
    value_of,
    wait_until,
)

INTERVAL_SECONDS = 0.05
STUCK_SECONDS = 1.0  # so long no thread waits for a processor


class Running:
    """An agent in a thread."""

    def __init__(
        self,
        collectors: list[FakeCollector],
        sinks: list[FakeSink],
        clock: Clock | None = None,
        is_automatic: bool = False,
        stuck_seconds: float = 60.0,
    ) -> None:
        clock = clock or Clock()

        def collecting(hand_on):
            made = [
                Collecting(one, EmptyHost(), clock, INTERVAL_SECONDS, hand_on, is_automatic)
                for one in collectors
            ]
            for one in made:
                one.stuck_seconds = stuck_seconds
                one.look_again_seconds = INTERVAL_SECONDS
            return made

        delivering = [Delivering(one, clock, Backoff(0.02, 0.1), 0.01) for one in sinks]
        for one in delivering:
            one.stuck_seconds = stuck_seconds
        self.agent = Agent(collecting, delivering, INTERVAL_SECONDS, clock)
        self.thread = threading.Thread(target=self.agent.run)

    def __enter__(self) -> Agent:
        self.thread.start()
        return self.agent

    def __exit__(self, *_: object) -> None:
        self.agent.ask(Request.STOP)
        self.thread.join(60)
        assert not self.thread.is_alive()


def latest(sink: FakeSink) -> tuple[Reading, ...]:
    reports = sink.of("monitor")
    return reports[-1].readings if reports else ()


def shown(sink: FakeSink, metric, *labels: str) -> Callable[[], float | None]:
    return lambda: value_of(latest(sink), metric, *labels)


def test_each_round_comes_to_each_sink_once_and_in_order() -> None:
    collector, sinks = FakeCollector(), [FakeSink("one"), FakeSink("two")]
    with Running([collector], sinks):
        wait_until(lambda: len(sinks[0].of("fake")) >= 5)
    for sink in sinks:
        values = [one.readings[0].value for one in sink.of("fake")]
        assert values == list(range(1, collector.rounds + 1))
        assert len(sink.threads) == 1
        assert sink.stops == 1


def test_one_that_fails_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: int) -> Iterator[Reading]:
        yield thing("kept")
        raise MemoryError

    bad, good, sink = FakeCollector(act=fail, name="bad"), FakeCollector(), FakeSink()
    with caplog.at_level(logging.INFO), Running([bad, good], [sink]):
        wait_until(lambda: len(sink.of("fake")) > 4 and len(sink.of("bad")) > 4)
        wait_until(lambda: (shown(sink, metrics.COLLECTOR_FAILURES, "bad", "error")() or 0) > 3)
        assert shown(sink, metrics.COLLECTOR_OK, "bad")() == 0
        assert shown(sink, metrics.COLLECTOR_OK, "fake")() == 1
        assert shown(sink, metrics.COLLECTOR_LAST, "bad")() is None
        assert shown(sink, metrics.COLLECTOR_FAILURES, "fake", "error")() == 0
    assert {one.readings for one in sink.of("bad")} == {(thing("kept"),)}
    said = [one.getMessage() for one in caplog.records if "collector bad" in one.getMessage()]
    assert said == ["collector bad failed (error): MemoryError: "]


def test_changes_of_state_are_told_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    def act(number: int) -> Iterator[Reading | Problem]:
        if 3 <= number < 6:
            raise HostError("denied", "x\x1b[2J: denied")
        yield thing("a", number)

    sink = FakeSink()
    with caplog.at_level(logging.INFO), Running([FakeCollector(act=act)], [sink]):
        wait_until(lambda: len(sink.of("fake")) > 9)
    said = [one.getMessage() for one in caplog.records if "collector fake" in one.getMessage()]
    assert [line.split(":")[0] for line in said] == [
        "collector fake works",
        "collector fake failed (denied)",
        "collector fake works",
    ]
    assert "\\x1b" in said[1]


def test_one_that_hangs_is_seen_and_the_rest_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    go_on = threading.Event()

    def act(number: int) -> Iterator[Reading]:
        if number == 2:
            go_on.wait(120)
        yield thing("a", number)

    hung, good, sink = FakeCollector(act=act, name="hung"), FakeCollector(), FakeSink()
    with Running([hung, good], [sink], stuck_seconds=STUCK_SECONDS):
        wait_until(lambda: shown(sink, metrics.COLLECTOR_FAILURES, "hung", "slow")() == 1)
        assert shown(sink, metrics.COLLECTOR_OK, "hung")() == 0
        wait_until(lambda: (shown(sink, metrics.COLLECTOR_SKIPPED, "hung")() or 0) >= 6)
        during = shown(sink, metrics.COLLECTOR_SKIPPED, "hung")() or 0
        assert len(sink.of("hung")) == 1
        assert len(sink.of("fake")) >= 6
        go_on.set()
        wait_until(lambda: shown(sink, metrics.COLLECTOR_OK, "hung")() == 1)
        assert (shown(sink, metrics.COLLECTOR_SKIPPED, "hung")() or 0) >= during
    assert [one.getMessage() for one in caplog.records if "does not end" in one.getMessage()]


def test_the_agent_ends_though_one_hangs(caplog: pytest.LogCaptureFixture) -> None:
    go_on = threading.Event()

    def act(_: int) -> Iterator[Reading]:
        go_on.wait(60)
        yield thing("late")

    sink = FakeSink()
    with Running([FakeCollector(act=act, name="hung"), FakeCollector()], [sink]):
        wait_until(lambda: sink.of("fake"))
    go_on.set()
    assert sink.stops == 1
    assert "without waiting for hung" in caplog.text


def test_a_slow_one_skips_rounds_and_does_not_drift() -> None:
    def act(number: int) -> Iterator[Reading]:
        time.sleep(2.5 * INTERVAL_SECONDS)
        yield thing("a", number)

    sink = FakeSink()
    with Running([FakeCollector(act=act)], [sink]):
        wait_until(lambda: len(sink.of("fake")) >= 4)
        wait_until(lambda: (shown(sink, metrics.COLLECTOR_SKIPPED, "fake")() or 0) >= 6)
    starts = [one.monotonic for one in sink.of("fake")]
    gaps = [(b - a) / INTERVAL_SECONDS for a, b in pairwise(starts)]
    assert min(gaps) > 2.5


def test_a_sink_that_comes_back_gets_everything(caplog: pytest.LogCaptureFixture) -> None:
    down, up = FakeSink("down"), FakeSink("up")
    down.is_down = True
    collector = FakeCollector()
    with caplog.at_level(logging.INFO), Running([collector], [down, up]):
        wait_until(lambda: len(up.of("fake")) > 5)
        wait_until(lambda: (shown(up, metrics.SINK_FAILURES, "down")() or 0) > 2)
        assert shown(up, metrics.SINK_OK, "down")() == 0
        assert shown(up, metrics.SINK_OK, "up")() == 1
        assert shown(up, metrics.SINK_LAST, "up")() is not None
        down.is_down = False
        wait_until(lambda: down.of("fake"))
        wait_until(lambda: shown(up, metrics.SINK_OK, "down")() == 1)
    values = [one.readings[0].value for one in down.of("fake")]
    assert values == list(range(1, collector.rounds + 1))
    said = [one.getMessage() for one in caplog.records if "sink down" in one.getMessage()]
    assert said == [
        "sink down cannot deliver: http://nobody: connection refused: start it",
        "sink down can deliver again",
    ]


def test_a_sink_that_ends_while_it_is_down_is_not_said_to_deliver(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that gives up quietly at its end has delivered nothing."""
    down, up = FakeSink("down"), FakeSink("up")
    down.is_down = True
    monkeypatch.setattr(down, "stop", lambda: None)
    with caplog.at_level(logging.INFO), Running([FakeCollector()], [down, up]):
        wait_until(lambda: down.attempts > 1)
    said = [one.getMessage() for one in caplog.records if "sink down" in one.getMessage()]
    assert said == ["sink down cannot deliver: http://nobody: connection refused: start it"]


def test_no_sink_that_can_begin_is_an_error() -> None:
    sink = FakeSink()
    sink.cannot_begin = "127.0.0.1:9823 is in use: give another"
    agent = Agent(lambda _: [], [Delivering(sink, Clock())], 1.0)
    with pytest.raises(StorageError, match="9823 is in use: give another"):
        agent.run()


@pytest.mark.parametrize("collectors", [[], [FakeCollector()]])
def test_an_agent_that_reads_nothing_says_so(
    collectors: list[FakeCollector], caplog: pytest.LogCaptureFixture
) -> None:
    sink = FakeSink()
    with caplog.at_level(logging.INFO), Running(collectors, [sink]):
        wait_until(lambda: bool(sink.of("monitor")))
    said = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    told = "nothing is read: each collector has enabled = false; take that out"
    assert said == ([] if collectors else [told])


def test_one_reading_is_one(caplog: pytest.LogCaptureFixture) -> None:
    sink = FakeSink()
    with caplog.at_level(logging.INFO), Running([FakeCollector()], [sink]):
        wait_until(lambda: bool(sink.of("fake")))
    assert "collector fake works: 1 reading in " in caplog.text


def test_a_sink_that_cannot_begin_yet_is_tried_again_and_its_loss_counted() -> None:
    late, up = FakeSink("late"), FakeSink("up")
    late.cannot_begin = "no database: start it"
    with Running([FakeCollector()], [late, up]):
        wait_until(lambda: len(up.of("fake")) > 3)
        wait_until(lambda: (shown(up, metrics.SINK_LOST, "late")() or 0) > 3)
        late.cannot_begin = ""
        wait_until(lambda: late.of("fake"))
    assert late.of("fake")[0].readings[0].value > 1
    assert len(late.delivered) < len(up.delivered)


def test_a_sink_that_raises_anything_loses_its_round_and_that_is_counted() -> None:
    class Broken(FakeSink):
        def take(self, found) -> None:
            raise KeyError("bug")

    broken, up = Broken("broken"), FakeSink("up")
    with Running([FakeCollector()], [broken, up]):
        wait_until(lambda: (shown(up, metrics.SINK_LOST, "broken")() or 0) > 3)
        assert shown(up, metrics.SINK_OK, "broken")() == 0


def test_what_a_sink_tells_of_itself_is_told_once() -> None:
    sink = FakeSink()
    sink.own = [
        Reading(metrics.SINK_QUEUED, ("fake-sink",), 7.0),
        Reading(metrics.SINK_LOST, ("fake-sink",), 5.0),
        Reading(metrics.SINK_OK, ("fake-sink",), 0.0),
    ]
    with Running([FakeCollector()], [sink]):
        wait_until(lambda: sink.of("monitor"))
    assert value_of(latest(sink), metrics.SINK_QUEUED, "fake-sink") == 7
    assert value_of(latest(sink), metrics.SINK_LOST, "fake-sink") == 5
    assert value_of(latest(sink), metrics.SINK_OK, "fake-sink") == 0


def test_a_sink_that_waits_to_be_asked_tells_no_time_of_delivery() -> None:
    class PageRequest(FakeSink):
        deliver = Sink.deliver

        def stop(self) -> None:
            return

    request, up = PageRequest("asked"), FakeSink("up")
    with Running([FakeCollector()], [request, up]):
        wait_until(lambda: shown(up, metrics.SINK_LAST, "up")() is not None)
        assert shown(up, metrics.SINK_OK, "asked")() == 1
        assert shown(up, metrics.SINK_LAST, "asked")() is None


def test_steps_of_the_clock_are_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    clock = SetClock()
    agent = Agent(lambda _: [], [], 15.0, clock)  # type: ignore[arg-type]
    assert value_of(agent.report().readings, metrics.CLOCK_STEPS) == 0
    clock.wall_seconds -= 90
    assert value_of(agent.report().readings, metrics.CLOCK_STEPS) == 1
    clock.pass_by(15)
    assert value_of(agent.report().readings, metrics.CLOCK_STEPS) == 1
    assert "clock was set by -90.0 s" in caplog.text


def test_what_comes_later_is_found_and_what_is_not_there_is_no_failure() -> None:
    later, sink = FakeCollector(name="later"), FakeSink()
    later.why_missing = "no Lustre is mounted here: mount one"
    with Running([later], [sink], is_automatic=True):
        wait_until(lambda: len(sink.of("monitor")) > 3)
        assert shown(sink, metrics.COLLECTOR_OK, "later")() is None
        assert later.rounds == 0
        later.why_missing = ""
        wait_until(lambda: shown(sink, metrics.COLLECTOR_OK, "later")() == 1)


def test_its_own_interval_goes_before_the_agents() -> None:
    settings = FakeCollector.settings_class(interval_seconds=60.0)
    one = Collecting(FakeCollector(settings), EmptyHost(), Clock(), 15.0, lambda _: None)
    assert one.interval_seconds == 60.0


def test_a_hangup_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sink = FakeSink()
    with Running([FakeCollector()], [sink]) as agent:
        agent.ask(Request.RELOAD)
        wait_until(lambda: "restart" in caplog.text)
        before = len(sink.of("fake"))
        wait_until(lambda: len(sink.of("fake")) > before + 2)


def test_a_sink_that_hangs_is_seen_and_the_others_go_on() -> None:
    go_on = threading.Event()

    class Hangs(FakeSink):
        def deliver(self) -> None:
            if self.attempts == 0 and self.waiting:
                self.attempts = 1
                go_on.wait(120)
            super().deliver()

    hung, up = Hangs("hung"), FakeSink("up")
    with Running([FakeCollector()], [hung, up], stuck_seconds=STUCK_SECONDS):
        wait_until(lambda: shown(up, metrics.SINK_FAILURES, "hung")() == 1)
        assert shown(up, metrics.SINK_OK, "hung")() == 0
        before = len(up.of("fake"))
        wait_until(lambda: len(up.of("fake")) > before + 2)
        go_on.set()
        wait_until(lambda: shown(up, metrics.SINK_OK, "hung")() == 1)
    assert len(hung.of("fake")) == len(up.of("fake"))


@pytest.mark.extended
def test_the_agent_ends_while_a_sink_still_tries_to_begin() -> None:
    go_on = threading.Event()

    class Tries(FakeSink):
        def start(self) -> None:
            go_on.wait(60)

    up = FakeSink("up")
    with Running([FakeCollector()], [Tries("tries"), up]):
        pass
    go_on.set()
    assert up.stops == 1


def test_one_that_hangs_when_it_looks_whether_there_is_something_is_seen() -> None:
    go_on = threading.Event()

    class Looks(FakeCollector):
        def missing(self, host) -> str:
            go_on.wait(120)
            return ""

    sink = FakeSink()
    with Running([Looks(name="looks")], [sink], None, True, STUCK_SECONDS):
        wait_until(lambda: shown(sink, metrics.COLLECTOR_OK, "looks")() == 0)
        assert shown(sink, metrics.COLLECTOR_FAILURES, "looks", "slow")() == 1
        go_on.set()
        wait_until(lambda: shown(sink, metrics.COLLECTOR_OK, "looks")() == 1)


def test_a_round_that_breaks_after_it_was_read_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def tell(self, outcome) -> None:
        calls.append(outcome)
        if len(calls) < 3:
            raise MemoryError

    monkeypatch.setattr(Collecting, "_tell", tell)
    sink = FakeSink()
    with Running([FakeCollector()], [sink]):
        wait_until(lambda: sink.of("fake"))
        wait_until(lambda: shown(sink, metrics.COLLECTOR_OK, "fake")() == 1)
        assert shown(sink, metrics.COLLECTOR_FAILURES, "fake", "error")() == 2
