# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One round: what was read is kept, whatever happens then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stripewise.centre.monitor import HostError, Reading, TargetJobs
from stripewise.centre.monitor.agent import _collecting as rounds
from stripewise.centre.monitor.agent._collecting import Clock
from stripewise.centre.monitor.collectors import Problem
from support.monitor_parts import EmptyHost, FakeCollector, thing


def read(act) -> rounds.RoundOutcome:
    return rounds.read_round(FakeCollector(act=act), EmptyHost(), Clock())


def test_a_whole_round() -> None:
    def act(_: int) -> Iterator[Reading | TargetJobs | Problem]:
        yield thing("a")
        yield TargetJobs("fs", "OST0000", count=3)
        yield Problem("/proc/x: line 3 is not a number")

    found = read(act)
    assert found.round.readings == (thing("a"),)
    assert [one.count for one in found.round.jobs] == [3]
    assert found.round.problems == ("/proc/x: line 3 is not a number",)
    assert (found.round.reason, found.problems) == ("", 1)


@pytest.mark.parametrize(
    ("error", "reason", "words"),
    [
        (HostError("denied", "brw_stats: permission denied"), "denied", "brw_stats"),
        (HostError("slow", "lctl: killed"), "slow", "lctl: killed"),
        (ValueError("no number"), "error", "ValueError: no number"),
        (MemoryError(), "error", "MemoryError"),
        (RecursionError(), "error", "RecursionError"),
        (SystemExit(3), "error", "SystemExit"),
        (KeyboardInterrupt(), "error", "KeyboardInterrupt"),
        (GeneratorExit(), "error", "GeneratorExit"),
    ],
)
def test_whatever_is_raised_ends_the_round_alone(
    error: BaseException, reason: str, words: str
) -> None:
    def act(_: int) -> Iterator[Reading]:
        yield thing("before")
        raise error

    found = read(act).round
    assert found.readings == (thing("before"),)
    assert found.reason == reason
    assert words in found.problems[0]


def test_a_problem_with_a_reason_makes_the_round_incomplete() -> None:
    def act(_: int) -> Iterator[Reading | Problem]:
        yield Problem("job_stats of OST0001: denied", "denied")
        yield thing("after")

    found = read(act).round
    assert (found.reason, found.readings) == ("denied", (thing("after"),))


def test_problems_are_counted_and_a_hundred_told() -> None:
    found = read(lambda _: (Problem(f"line {n}") for n in range(5000)))
    assert found.problems == 5000
    assert len(found.round.problems) == 100


def test_a_collector_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(_: int) -> Iterator[Reading]:
        while True:
            yield thing("x")

    monkeypatch.setattr(rounds, "MOST_ITEMS", 1000)
    assert read(act).round.reason == "malformed"


def test_reasons_stay_few_and_texts_are_texts() -> None:
    def act(_: int) -> Iterator[Problem]:
        yield Problem(None, "because of job 4711")  # type: ignore[arg-type]
        raise HostError("job 4712", "x")

    found = read(act).round
    assert found.reason == "error"
    assert found.problems == ("x", "None")


@pytest.mark.parametrize("item", [None, 3, ("a", "b"), object()])
def test_what_is_no_reading_ends_the_round(item: object) -> None:
    assert read(lambda _: iter([thing("a"), item])).round.reason == "error"


@pytest.mark.parametrize(
    "item",
    [
        thing("a")._replace(metric=None),  # type: ignore[arg-type]
        *(thing("a")._replace(labels=labels)  # type: ignore[arg-type]
          for labels in ((1,), (None,), (object(),), ({"a"},), None, "a", ["a"])),
        TargetJobs("fs", 1),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_no_sink_could_hold_goes_to_none(item: Reading | TargetJobs) -> None:
    found = read(lambda _: iter([thing("a"), item])).round
    assert (found.readings, found.jobs, found.reason) == ((thing("a"),), (), "malformed")
