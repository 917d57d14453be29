# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what every collector must do, on a host of dictionaries.

class TestMine(CollectorSuite):
    collector_name = "mine"

    def host(self) -> FakeHost:
        return FakeHost(files={"/proc/mine": "reads 10"})

    def grown(self) -> FakeHost:
        return FakeHost(files={"/proc/mine": "reads 12"})
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from random import Random
from typing import Any, NamedTuple

from stripewise.centre.monitor import Histogram, Host, HostError, Kind, Reading, TargetJobs
from stripewise.centre.monitor.collectors import (
    Collector,
    CollectorSettings,
    Problem,
    collector_names,
    create_collector,
)

LONGEST_LABEL = 128
REASONS = ("missing", "denied", "slow", "malformed", "error")
_GARBAGE = b"\x00\xff{no such text: -1}\n= 7 nan\n"
_DAMAGED = 400
"""How many damaged hosts are read."""

Change = Callable[[bytes], bytes | HostError]
"""Makes another text of a text, or the error that reading it raises."""


class Taken(NamedTuple):
    """What one round gave.

    Attributes:
        readings / jobs / problems: In their order.
        error: What ended it; None: nothing did.
    """

    readings: list[Reading]
    jobs: list[TargetJobs]
    problems: list[Problem]
    error: HostError | None

    @property
    def values(self) -> dict[tuple[str, tuple[str, ...]], float | Histogram]:
        """Value by name and labels."""
        return {(one.metric.name, one.labels): one.value for one in self.readings}


def take(collector: Collector, host: Host) -> Taken:
    """Do one round, as the agent does."""
    taken = Taken([], [], [], None)
    try:
        for one in collector.collect(host):
            if isinstance(one, Reading):
                taken.readings.append(one)
            elif isinstance(one, TargetJobs):
                taken.jobs.append(one)
            else:
                taken.problems.append(one)
    except HostError as error:
        return taken._replace(error=error)
    return taken


class CollectorSuite:
    """Conformance suite; set `collector_name` or override `make`; write `host` and `grown`."""

    collector_name: str
    settings: Mapping[str, Any] = {}
    reasons: Sequence[str] = ("denied", "slow", "error", "missing")
    """With which one text of it may fail."""

    def make(self) -> Collector:
        """Return a new collector."""
        return create_collector(self.collector_name, self.settings)

    def host(self) -> Host:
        """Return a host that has what the collector reads, whole."""
        raise NotImplementedError

    def grown(self) -> Host:
        """Return the same host later: its counters have grown, and nothing began again."""
        raise NotImplementedError

    def empty(self) -> Host:
        """Return a host that has nothing to read."""
        return FakeHost()

    def changed(self, change: Change) -> Iterator[tuple[str, Host]]:
        """Yield `host` with one text changed, for each that is not empty, and that text's name.

        Override it where `host` is no `FakeHost`.
        """
        host = self.host()
        assert isinstance(host, FakeHost)
        return changed_hosts(host, change)

    def test_has_a_name_and_a_summary(self) -> None:
        """It is found by its name, and lists can show it in one line."""
        collector = self.make()
        assert re.fullmatch(r"[a-z][a-z0-9-]*", collector.name)
        assert collector.summary
        assert "\n" not in collector.summary
        if hasattr(self, "collector_name"):
            assert collector.name == self.collector_name
            assert collector.name in collector_names()

    def test_its_settings_have_defaults(self) -> None:
        """It works without a table in the configuration."""
        assert isinstance(type(self.make()).settings_class(), CollectorSettings)

    def test_a_whole_host_has_no_problems(self) -> None:
        """Everything is read, and something is there."""
        assert self.make().missing(self.host()) == ""
        taken = take(self.make(), self.host())
        assert taken.error is None
        assert taken.problems == []
        assert taken.readings or taken.jobs

    def test_its_readings_keep_the_rules(self) -> None:
        """Declared metrics, bounded labels, believable values, each once."""
        collector = self.make()
        for host in (self.host(), self.grown()):
            check_readings(collector, take(collector, host))

    def test_counters_never_fall(self) -> None:
        """On a host that only grows; a fall would be taken for a restart."""
        collector = self.make()
        first, second = take(collector, self.host()), take(collector, self.grown())
        counters = {one.metric.name for one in first.readings if one.metric.kind is Kind.COUNTER}
        later = second.values
        for key, value in first.values.items():
            if key[0] in counters:
                assert _number(later[key]) >= _number(value), key

    def test_something_grows(self) -> None:
        """Whoever writes `grown` is to let the host do something."""
        collector = self.make()
        first, second = take(collector, self.host()), take(collector, self.grown())
        assert (first.values, first.jobs) != (second.values, second.jobs)

    def test_an_empty_host_is_missing(self) -> None:
        """With a line that says what to do; and nothing is made up."""
        why = self.make().missing(self.empty())
        assert why
        assert "\n" not in why
        assert ": " in why
        taken = take(self.make(), self.empty())
        assert (taken.readings, taken.jobs) == ([], [])
        assert taken.error is None or taken.error.reason == "missing"

    def test_what_fails_is_told(self) -> None:
        """Each text by itself: refused, slow, gone; the reason reaches the round."""
        for reason in self.reasons:
            error = HostError(reason, "as the test has it")
            for name, broken in self.changed(partial(_replaced, error)):
                taken = take(self.make(), broken)
                check_readings(self.make(), taken)
                told = {problem.reason for problem in taken.problems}
                ended = taken.error.reason if taken.error else ""
                assert reason in {*told, ended} or self.is_optional(name), name
                assert "\n" not in self.make().missing(broken)

    def is_optional(self, name: str) -> bool:
        """Whether a text (path, or words of a command) may fail without a word."""
        return False

    def test_garbage_is_told(self) -> None:
        """A text that is none gives a problem or an error, and no number that was not there."""
        whole = take(self.make(), self.host()).values
        for name, broken in self.changed(lambda _: _GARBAGE):
            taken = take(self.make(), broken)
            check_readings(self.make(), taken)
            assert taken.error or taken.problems or self.is_optional(name), name
            assert set(taken.values) <= set(whole), name
            assert "\n" not in self.make().missing(broken)

    def test_damage_raises_nothing_else(self) -> None:
        """Texts that were cut, doubled, or had a number put into them; a fixed seed."""
        random = Random(20260)
        collector = self.make()
        texts = sum(1 for _ in self.changed(lambda data: data))
        for _ in range(max(2, _DAMAGED // texts)):
            for _, broken in self.changed(lambda data: _damaged(data, random)):
                check_readings(collector, take(collector, broken))

    def test_it_recovers(self) -> None:
        """A round after damage is as good as one before."""
        collector = self.make()
        for _, broken in self.changed(lambda _: _GARBAGE):
            take(collector, broken)
        again = take(collector, self.host())
        assert again.error is None
        assert again.problems == []


def check_readings(collector: Collector, taken: Taken) -> None:
    """Assert the rules of readings and problems."""
    keys = [(one.metric.name, one.labels) for one in taken.readings]
    assert len(keys) == len(set(keys)), "a value is there twice"
    for one in taken.readings:
        assert one.metric in collector.metrics, one.metric.name
        assert len(one.labels) == len(one.metric.labels), one
        for label in one.labels:
            assert isinstance(label, str)
            assert "/" not in label
            assert label.isprintable()
            assert 0 < len(label) <= LONGEST_LABEL
        _check_value(one)
    for problem in taken.problems:
        assert problem.text
        assert problem.text.isprintable(), problem.text
        assert problem.reason in ("", *REASONS)
    assert taken.error is None or taken.error.reason in REASONS


def _check_value(one: Reading) -> None:
    if isinstance(one.value, Histogram):
        bounds = [bound for bound, _ in one.value.counts]
        assert bounds == sorted(set(bounds)), one
        assert all(count >= 0 for _, count in one.value.counts), one
        assert one.value.total is None or 0 <= one.value.total < math.inf
        return
    assert 0 <= one.value < math.inf, one
    assert one.metric.unit not in ("share", "flag") or one.value <= 1, one


def _number(value: float | Histogram) -> float:
    return sum(count for _, count in value.counts) if isinstance(value, Histogram) else value


def changed_hosts(host: FakeHost, change: Change) -> Iterator[tuple[str, FakeHost]]:
    """Yield the host with one text of it changed, for each of those that are not empty."""
    for path, held in host.files.items():
        data = held.encode() if isinstance(held, str) else held
        if isinstance(data, bytes) and data:
            yield path, FakeHost({**host.files, path: change(data)}, host.commands)
    for words, printed in host.commands.items():
        if isinstance(printed, bytes) and printed:
            commands = {**host.commands, words: change(printed)}
            yield " ".join(words), FakeHost(host.files, commands)


def _replaced(error: HostError, _: bytes) -> HostError:
    return error


def _damaged(data: bytes, random: Random) -> bytes:
    """Cut a text, repeat a part of it, put another number or a letter into it, or lose a line."""
    place, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    kind = random.randrange(5)
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:end] + data[place:]
    if kind == 2:
        number = random.choice((b"-1", b"18446744073709551616", b"1e9", b"", b"\xd9\xa3", b"0"))
        return re.sub(rb"\d+", lambda _: number, data[:end], count=1) + data[end:]
    if kind == 3:
        return data[:place] + bytes([random.randrange(256)]) + data[place:]
    lines = data.split(b"\n")
    lines.pop(random.randrange(len(lines)))
    return b"\n".join(lines)


# A host of dictionaries, for tests of collectors.

_PIECE_BYTES = 16
"""Small, so that lines come in several pieces."""


class FakeHost(Host):
    """Files and commands as a test has them; both may be changed between two rounds.

    Attributes:
        files: Path to what it holds, or to the error that reading it raises.
        commands: Words to what the command prints, or the error that it raises; a pair is what
            it prints before it fails.
        given: Words and standard input of each command that was run.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes | HostError] | None = None,
        commands: Mapping[tuple[str, ...], bytes | HostError | tuple[bytes, HostError]]
        | None = None,
    ) -> None:
        """Take copies of the dictionaries."""
        self.files = dict(files or {})
        self.commands = dict(commands or {})
        self.given: list[tuple[tuple[str, ...], bytes]] = []

    def text(self, path: str) -> str:
        """Return a file."""
        held = self.files.get(path, HostError("missing", f"{path}: no such file"))
        if isinstance(held, HostError):
            raise held
        return held if isinstance(held, str) else held.decode("utf-8", "replace")

    def names(self, pattern: str) -> list[str]:
        """Return the files and their directories that a pattern matches; `*` stays in its part."""
        parts = pattern.split("/")
        return sorted(path for path in self._paths() if _is_match(path.split("/"), parts))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """Return what a command prints."""
        self.given.append((tuple(words), given))
        missing = HostError("missing", f"{words[0]}: no such command")
        held = self.commands.get(tuple(words), missing)
        printed, error = held if isinstance(held, tuple) else (held, None)
        if isinstance(printed, HostError):
            raise printed
        for start in range(0, len(printed), _PIECE_BYTES):
            yield printed[start : start + _PIECE_BYTES]
        if error is not None:
            raise error

    def _paths(self) -> set[str]:
        found = set(self.files)
        for path in self.files:
            while (path := os.path.dirname(path)) not in ("", "/"):
                found.add(path)
        return found


def _is_match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))
