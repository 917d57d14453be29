# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The suite finds what is wrong: collectors that do each wrong thing fail the test of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stripewise.centre.monitor import Host, HostError, Reading, counter, level
from stripewise.centre.monitor.collectors import Collector, CollectorSettings, Problem
from stripewise.testing.collector_suite import CollectorSuite, FakeHost

READS = counter("mine_reads", "operations", "Reads.", ("fs",))
SHARE = level("mine_share", "share", "Share.")
PATH = "/proc/mine"


class Good(Collector):
    name = "mine"
    summary = "one of a test"
    metrics = (READS, SHARE)

    def missing(self, host: Host) -> str:
        return "" if host.names(PATH) else f"{PATH} is not there: load the module"

    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        words = host.text(PATH).split()
        try:
            fs, number = words
            yield from self.readings(fs, int(number))
        except ValueError:
            yield Problem(f"{PATH} is damaged", "malformed")

    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        if fs.isalpha() and fs.isascii() and len(fs) < 9 and 0 <= number < 1 << 64:
            yield Reading(READS, (fs,), number)
        else:
            raise ValueError


def suite_of(kind: type[Collector]) -> CollectorSuite:
    class Suite(CollectorSuite):
        def make(self) -> Collector:
            return kind(CollectorSettings())

        def host(self) -> FakeHost:
            return FakeHost({PATH: "home 10\n"})

        def grown(self) -> FakeHost:
            return FakeHost({PATH: "home 12\n"})

    return Suite()


TESTS = sorted(name for name in dir(CollectorSuite) if name.startswith("test_"))


class TestGood(CollectorSuite):
    make, host, grown = (vars(type(suite_of(Good)))[name] for name in ("make", "host", "grown"))


class OtherMetric(Good):
    metrics = (SHARE,)


class PathLabel(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, ("/home",), number)


class LongLabel(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, ("x" * 129,), number)


class FewLabels(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, (), number)


class Twice(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, (fs,), number)
        yield Reading(READS, (fs,), number)


class Infinite(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, (fs,), float("inf"))


class TooMuch(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(SHARE, (), 1.5)


class Falls(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, (fs,), max(0, 20 - number))


class Still(Good):
    def readings(self, fs: str, number: int) -> Iterator[Reading]:
        yield Reading(READS, (fs,), 7)


class Raises(Good):
    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        fs, number = host.text(PATH).split()
        yield from self.readings(fs, int(number))


class Silent(Good):
    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        yield from (one for one in super().collect(host) if isinstance(one, Reading))


class Deaf(Good):
    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        try:
            yield from super().collect(host)
        except HostError:
            yield Problem("nothing")


class MakesUp(Good):
    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        if not host.names(PATH):
            yield Reading(READS, ("home",), 0)
        yield from super().collect(host)


class NoRemedy(Good):
    def missing(self, host: Host) -> str:
        return "" if host.names(PATH) else "not there"


class MissingRaises(Good):
    def missing(self, host: Host) -> str:
        return "" if not host.names(PATH) or host.text(PATH) else "empty: write something"


class Bears(Good):
    """Never gets over damage."""

    damaged = False

    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        for one in super().collect(host):
            self.damaged = self.damaged or isinstance(one, Problem)
            yield one
        if self.damaged:
            yield Problem("once damaged", "malformed")


WRONG: tuple[tuple[type[Collector], str], ...] = (
    (OtherMetric, "test_its_readings_keep_the_rules"),
    (PathLabel, "test_its_readings_keep_the_rules"),
    (LongLabel, "test_its_readings_keep_the_rules"),
    (FewLabels, "test_its_readings_keep_the_rules"),
    (Twice, "test_its_readings_keep_the_rules"),
    (Infinite, "test_its_readings_keep_the_rules"),
    (TooMuch, "test_its_readings_keep_the_rules"),
    (Falls, "test_counters_never_fall"),
    (Still, "test_something_grows"),
    (Raises, "test_damage_raises_nothing_else"),
    (Silent, "test_garbage_is_told"),
    (Deaf, "test_what_fails_is_told"),
    (MakesUp, "test_an_empty_host_is_missing"),
    (NoRemedy, "test_an_empty_host_is_missing"),
    (MissingRaises, "test_what_fails_is_told"),
    (Bears, "test_it_recovers"),
)


@pytest.mark.parametrize(("kind", "test"), WRONG, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_wrong_fails(kind: type[Collector], test: str) -> None:
    assert test in TESTS
    with pytest.raises((AssertionError, ValueError, HostError)):
        getattr(suite_of(kind), test)()
