# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contains the conformance suite for collectors, with a fake host made of dictionaries.

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
"""Number of damaged hosts that are read."""

Change = Callable[[bytes], bytes | HostError]
"""Function that changes a text, or returns the error that reading it raises."""


class Taken(NamedTuple):
    """Result of one round of a collector.

    Attributes:
        readings / jobs / problems: Results of the round, in order.
        error: Error that ended the round; None if it was complete.
    """

    readings: list[Reading]
    jobs: list[TargetJobs]
    problems: list[Problem]
    error: HostError | None

    @property
    def values(self) -> dict[tuple[str, tuple[str, ...]], float | Histogram]:
        """Values by name and labels."""
        return {(one.metric.name, one.labels): one.value for one in self.readings}


def take(collector: Collector, host: Host) -> Taken:
    """Perform one round of a collector, as the agent does."""
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
    """Reasons with which a round may report the failure of a text."""

    def make(self) -> Collector:
        """Return a new collector."""
        return create_collector(self.collector_name, self.settings)

    def host(self) -> Host:
        """Return a host that contains everything the collector reads."""
        raise NotImplementedError

    def grown(self) -> Host:
        """Return the same host at a later time, with larger counters and without restarts."""
        raise NotImplementedError

    def empty(self) -> Host:
        """Return a host on which there is nothing to read."""
        return FakeHost()

    def changed(self, change: Change) -> Iterator[tuple[str, Host]]:
        """Yield the host with one text changed, and that text's name, for each nonempty text.

        Override this method if `host` is not a `FakeHost`.
        """
        host = self.host()
        assert isinstance(host, FakeHost)
        return changed_hosts(host, change)

    def test_has_a_name_and_a_summary(self) -> None:
        """The collector is registered by its name and has a one-line summary."""
        collector = self.make()
        assert re.fullmatch(r"[a-z][a-z0-9-]*", collector.name)
        assert collector.summary
        assert "\n" not in collector.summary
        if hasattr(self, "collector_name"):
            assert collector.name == self.collector_name
            assert collector.name in collector_names()

    def test_its_settings_have_defaults(self) -> None:
        """The collector works without a table in the configuration."""
        assert isinstance(type(self.make()).settings_class(), CollectorSettings)

    def test_a_whole_host_has_no_problems(self) -> None:
        """A complete host gives readings and no problems."""
        assert self.make().missing(self.host()) == ""
        taken = take(self.make(), self.host())
        assert taken.error is None
        assert taken.problems == []
        assert taken.readings or taken.jobs

    def test_its_readings_keep_the_rules(self) -> None:
        """Readings have declared metrics, bounded labels and plausible values, and are unique."""
        collector = self.make()
        for host in (self.host(), self.grown()):
            check_readings(collector, take(collector, host))

    def test_counters_never_fall(self) -> None:
        """Counters do not decrease on a growing host, which would look like a restart."""
        collector = self.make()
        first, second = take(collector, self.host()), take(collector, self.grown())
        counters = {one.metric.name for one in first.readings if one.metric.kind is Kind.COUNTER}
        later = second.values
        for key, value in first.values.items():
            if key[0] in counters:
                assert _number(later[key]) >= _number(value), key

    def test_something_grows(self) -> None:
        """At least one counter increases from `host` to `grown`."""
        collector = self.make()
        first, second = take(collector, self.host()), take(collector, self.grown())
        assert (first.values, first.jobs) != (second.values, second.jobs)

    def test_an_empty_host_is_missing(self) -> None:
        """An empty host gives the reason "missing" with a remedy, and no readings."""
        why = self.make().missing(self.empty())
        assert why
        assert "\n" not in why
        assert ": " in why
        taken = take(self.make(), self.empty())
        assert (taken.readings, taken.jobs) == ([], [])
        assert taken.error is None or taken.error.reason == "missing"

    def test_what_fails_is_told(self) -> None:
        """Each text that is refused, slow or gone gives a problem with the reason."""
        for reason in self.reasons:
            error = HostError(reason, "as the test has it")
            for name, broken in self.changed(partial(_replaced, error)):
                taken = take(self.make(), broken)
                check_readings(self.make(), taken)
                reasons = {problem.reason for problem in taken.problems}
                ended = taken.error.reason if taken.error else ""
                assert reason in {*reasons, ended} or self.is_optional(name), name
                assert "\n" not in self.make().missing(broken)

    def is_optional(self, name: str) -> bool:
        """Return whether a text (a path, or the words of a command) may fail silently."""
        return False

    def test_garbage_is_told(self) -> None:
        """Garbage gives a problem or an error, and no invented numbers."""
        whole = take(self.make(), self.host()).values
        for name, broken in self.changed(lambda _: _GARBAGE):
            taken = take(self.make(), broken)
            check_readings(self.make(), taken)
            assert taken.error or taken.problems or self.is_optional(name), name
            assert set(taken.values) <= set(whole), name
            assert "\n" not in self.make().missing(broken)

    def test_damage_raises_nothing_else(self) -> None:
        """Texts that are cut, repeated or altered (with a fixed seed) raise no other errors."""
        random = Random(20260)
        collector = self.make()
        texts = sum(1 for _ in self.changed(lambda data: data))
        for _ in range(max(2, _DAMAGED // texts)):
            for _, broken in self.changed(lambda data: _damaged(data, random)):
                check_readings(collector, take(collector, broken))

    def test_it_recovers(self) -> None:
        """A round after damage gives the same result as one before."""
        collector = self.make()
        for _, broken in self.changed(lambda _: _GARBAGE):
            take(collector, broken)
        again = take(collector, self.host())
        assert again.error is None
        assert again.problems == []


def check_readings(collector: Collector, taken: Taken) -> None:
    """Assert that readings and problems comply with the rules."""
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
    """Yield the host with one text changed, for each nonempty text."""
    for path, content in host.files.items():
        data = content.encode() if isinstance(content, str) else content
        if isinstance(data, bytes) and data:
            yield path, FakeHost({**host.files, path: change(data)}, host.commands)
    for words, printed in host.commands.items():
        if isinstance(printed, bytes) and printed:
            commands = {**host.commands, words: change(printed)}
            yield " ".join(words), FakeHost(host.files, commands)


def _replaced(error: HostError, _: bytes) -> HostError:
    return error


def _damaged(data: bytes, random: Random) -> bytes:
    """Cut a text, repeat a part of it, insert a number or a letter, or remove a line."""
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


# A fake host made of dictionaries, for tests of collectors.

_PIECE_BYTES = 16
"""Small size, so that lines are split into several pieces."""


class FakeHost(Host):
    """A fake host with files and commands, both of which a test may change between rounds.

    Attributes:
        files: Path to the content of the file, or to the error that reading it raises.
        commands: Words of a command to its output or the error that it raises; a pair is the
            output before it fails with the error.
        given: Words and standard input of each command that was run.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes | HostError] | None = None,
        commands: Mapping[tuple[str, ...], bytes | HostError | tuple[bytes, HostError]]
        | None = None,
    ) -> None:
        """Copy the dictionaries."""
        self.files = dict(files or {})
        self.commands = dict(commands or {})
        self.given: list[tuple[tuple[str, ...], bytes]] = []

    def text(self, path: str) -> str:
        """Return the content of a file."""
        content = self.files.get(path, HostError("missing", f"{path}: no such file"))
        if isinstance(content, HostError):
            raise content
        return content if isinstance(content, str) else content.decode("utf-8", "replace")

    def names(self, pattern: str) -> list[str]:
        """Return the files and directories that match a pattern; `*` does not match a slash."""
        parts = pattern.split("/")
        return sorted(path for path in self._paths() if _is_match(path.split("/"), parts))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        """Yield the output of a command in pieces."""
        self.given.append((tuple(words), given))
        missing = HostError("missing", f"{words[0]}: no such command")
        content = self.commands.get(tuple(words), missing)
        printed, error = content if isinstance(content, tuple) else (content, None)
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
