# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Queries `lctl` for parameters of Lustre, and parses names, single values and recovery status."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._privileges import rights_remedy
from stripewise.centre.monitor.collectors._base import Problem, number, partial_output

_TARGET = re.compile(r"([A-Za-z0-9_-]{1,64})-((?:OST|MDT)[0-9a-fA-F]{4})", re.ASCII)
_NAMESPACE = re.compile(r"(?:filter|mdt)-(.+)_UUID", re.ASCII)
_MOUNT = re.compile(r"([A-Za-z0-9_-]{1,64})-[0-9a-fA-F]{6,16}", re.ASCII)
_MASTER = re.compile(r"([A-Za-z0-9_-]{1,64})-QMT[0-9a-fA-F]{4}", re.ASCII)
_EXPORT = re.compile(r"(?:obdfilter|mdt)\.([^.]+)\.exports\.(.+)\.stats", re.ASCII)
_CLIENT = re.compile(r"[0-9A-Za-z.:_-]{1,64}@[0-9a-z]{1,16}", re.ASCII)


class TargetName(NamedTuple):
    """A target by file system and name: "scratch", "OST0004"."""

    fs: str
    target: str


def parse_target(name: str) -> TargetName | None:
    """Split "scratch-OST0004", where the file system may contain dashes; None if not a target."""
    found = _TARGET.fullmatch(name)
    return TargetName(found[1], found[2]) if found else None


def parse_namespace(name: str) -> TargetName | None:
    """Return the target of a server's lock namespace, "filter-scratch-OST0004_UUID"."""
    found = _NAMESPACE.fullmatch(name)
    return parse_target(found[1]) if found else None


def parse_mount(name: str) -> str:
    """Return the file system of a mount, "scratch-ffff97e895d31000", or "" if it is not one."""
    found = _MOUNT.fullmatch(name)
    return found[1] if found else ""


def parse_quota_master(name: str) -> str:
    """Return the file system of a quota master, "scratch-QMT0000", or "" if it is not one."""
    found = _MASTER.fullmatch(name)
    return found[1] if found else ""


def parse_export(name: str) -> tuple[TargetName, str] | None:
    """Return target and NID of "obdfilter.scratch-OST0004.exports.10.0.0.7@tcp.stats"."""
    found = _EXPORT.fullmatch(name)
    target = parse_target(found[1]) if found else None
    if not found or not target or not _CLIENT.fullmatch(found[2]):
        return None
    return target, found[2]


# Parameters with one value: counts, the version, health.

_VERSION = re.compile(r"(?:lustre: *)?([0-9][0-9A-Za-z._+~-]{0,63})", re.ASCII)


def parse_count(text: str) -> int | None:
    """Return the count in a text, or None if it is not a count.

    The text must end with a newline: without it, digits may be lost.
    """
    value, end, rest = text.partition("\n")
    return None if not end or rest else number(value)


def parse_version(text: str) -> str:
    """Return Lustre's version, "2.15.5"; "" if the text has none, or its line is incomplete.

    Old ones print "lustre: 2.12.9" and more lines.
    """
    line, end, _ = text.partition("\n")
    found = _VERSION.fullmatch(line.strip(" "))
    return found[1] if found and end else ""


def parse_health(text: str) -> bool | None:
    """Return whether Lustre reports to be healthy, or None if it reports neither."""
    if text.strip(" \n") == "healthy":
        return True
    is_bad = "NOT HEALTHY" in text or "LBUG" in text or "reported unhealthy" in text
    return False if is_bad else None


# Invalid lines: all are counted, and a few of them are shown.

_SHOWN = 5
_EXCERPT_CHARACTERS = 60


def excerpt(line: str) -> str:
    """Return the beginning of a line, printable and quoted."""
    cut = line[:_EXCERPT_CHARACTERS]
    return ascii(cut) + ("..." if len(line) > len(cut) else "")


class Damage:
    """Collects what was left out of one text."""

    def __init__(self) -> None:
        self.count = 0
        self._sentences: list[str] = []

    def add(self, why: str, line: str) -> None:
        """Record that a line was left out, and why."""
        self.count += 1
        if len(self._sentences) < _SHOWN:
            self._sentences.append(f"{why}: {excerpt(line)}")

    def problems(self) -> tuple[str, ...]:
        """Return the problems as sentences; the last one counts those that are not shown."""
        more = self.count - len(self._sentences)
        rest = (f"{more} more lines were left out",) if more else ()
        return (*self._sentences, *rest)


def whole_lines(text: str, damage: Damage) -> list[str]:
    """Split a text into lines; an incomplete last line is left out."""
    lines = text.split("\n")
    if torn := lines.pop():
        damage.add("the text ends within a line", torn)
    return lines


# Recovery of a target after a restart: *.*.recovery_status.
#
#     status: RECOVERING
#     time_remaining: 119
#     connected_clients: 3/7
#     completed_clients: 3
#     evicted_clients: 0
#
# Afterwards: "status: COMPLETE", "recovery_duration: 150", "completed_clients: 8/8". A target that
# had no clients reports "status: INACTIVE".

STATES = ("inactive", "waiting", "waiting_for_clients", "recovering", "complete")
"""States that Lustre is known to print, in lower case."""
_STATUS = re.compile(r"status: ([A-Z_]{1,32})", re.ASCII)
_LINE = re.compile(r"([A-Za-z_][A-Za-z_ -]{0,39}): (.*)", re.ASCII)
_SHARE = re.compile(r"(\d{1,20})(?:/\d{1,20})?", re.ASCII)
_CLIENTS = {
    "connected_clients": "connected",
    "completed_clients": "completed",
    "evicted_clients": "evicted",
}
_SECONDS = ("time_remaining", "recovery_duration")


@dataclass(frozen=True)
class Recovery:
    """Content of one recovery status.

    Attributes:
        state: State in lower case: "complete", "recovering", ...; "" if not reported.
        clients: Counts of "connected", "completed" and "evicted" clients.
        remaining_seconds / duration_seconds: Times of the recovery; None if not reported.
        problems: What was left out.
    """

    state: str = ""
    clients: Mapping[str, int] | None = None
    remaining_seconds: int | None = None
    duration_seconds: int | None = None
    problems: tuple[str, ...] = ()


def parse_recovery_status(text: str) -> Recovery:
    """Parse the status of a recovery."""
    damage = Damage()
    states: list[str] = []
    numbers: dict[str, int] = {}
    doubled: set[str] = set()
    for line in whole_lines(text, damage):
        if line.startswith("status: "):
            status = _STATUS.fullmatch(line)
            states.append(status[1].lower() if status else "")
        elif found := _LINE.fullmatch(line):
            _add(found, line, numbers, doubled, damage)
        else:
            damage.add("not a line of recovery_status", line)
    state = states[0] if len(states) == 1 else ""
    if not state:
        damage.add("recovery_status has not one status", text)
    for name in doubled:
        numbers.pop(name, None)
    clients = {label: numbers[name] for name, label in _CLIENTS.items() if name in numbers}
    return Recovery(
        state, clients,
        numbers.get("time_remaining"), numbers.get("recovery_duration"), damage.problems(),
    )  # fmt: skip


def _add(
    found: re.Match[str], line: str, numbers: dict[str, int], doubled: set[str], damage: Damage
) -> None:
    name = found[1]
    if name not in _CLIENTS and name not in _SECONDS:
        return
    share = _SHARE.fullmatch(found[2]) if name in _CLIENTS else None
    value = number(share[1] if share else found[2])
    if value is None:
        damage.add("not a number", line)
    if name in numbers or value is None:
        doubled.add(name)
        if value is not None:
            damage.add("a line that is there twice", line)
        return
    numbers[name] = value


# Parameters as `lctl` prints them.
#
# A call of `lctl` is expensive, and a hundred targets have thousands of parameters: names are
# listed now and then, and many parameters are queried in one call, whose output is split by the
# names. Texts contain strings that users choose, so a text might pretend to be another parameter.
# An answer is only accepted if `lctl` did not fail, and each requested name begins a line once, in
# the requested order; otherwise each parameter is queried separately. `lctl` fails if it cannot
# print one of them, so that nothing can replace a parameter that is gone.
#
# Texts that are empty or do not end with a newline are queried separately as well: before 2.16,
# `lctl` prints nothing for the former, and the next name directly after the latter.
#
# The parameter "version" is requested last in each call: a list that does not end with it is
# incomplete.

LAST = "version"
"""Parameter that exists on each server and client, for all users."""
_LIST_SECONDS = 60.0
_RETRY_SECONDS = 600.0
_MOST_NAMES = 500
_NAME = re.compile(r"[0-9A-Za-z_.@:+-]{1,255}")
_COMMAND = re.compile(r"[^\s\x00-][^\s\x00]{0,4095}")


def _one_word(command: str) -> str:
    if not _COMMAND.fullmatch(command):
        raise ValueError(
            "give the command's name or path, without arguments or spaces, such as /usr/sbin/lctl"
        )
    return command


LctlCommand = Annotated[str, AfterValidator(_one_word)]
"""A command of one word that is not an option."""


class Parameters:
    """The parameters that match some patterns on one host.

    Attributes:
        names: Names as last listed, in order, without duplicates.
    """

    def __init__(
        self,
        lctl: str,
        patterns: Sequence[str],
        timeout_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.names: tuple[str, ...] = ()
        self._lctl = lctl
        self._patterns = tuple(patterns)
        self._timeout_seconds = timeout_seconds
        self._monotonic = monotonic
        self._listed_at: float | None = None
        self._is_fresh = False
        self._unreadable: dict[str, HostError] = {}
        self._apart: set[str] = set()
        self._retry_at = 0.0

    def begin(self, host: Host) -> None:
        """Begin a round, listing the names if that is due.

        Raises:
            HostError: They cannot be listed, or there is no Lustre.
        """
        now = self._monotonic()
        self._is_fresh = False
        if now >= self._retry_at:
            self._unreadable.clear()
            self._apart.clear()
            self._retry_at = now + _RETRY_SECONDS
        if self._listed_at is None or now - self._listed_at >= _LIST_SECONDS:
            self._list(host)

    def read(self, host: Host, names: Sequence[str]) -> tuple[dict[str, str], list[Problem]]:
        """Return texts by name, each with its last newline, and what could not be read.

        Raises:
            HostError: `lctl` takes too long, or cannot be run.
        """
        values: dict[str, str] = {}
        problems: list[Problem] = []
        for part, part_problems in self.parts(host, names):
            values |= part
            problems += part_problems
        return values, problems

    def parts(
        self, host: Host, names: Sequence[str]
    ) -> Iterator[tuple[dict[str, str], list[Problem]]]:
        """Read in parts, so that many texts are not in memory at once."""
        apart = [name for name in names if name in self._apart]
        left_out = {*self._unreadable, *apart}
        wanted = [name for name in names if name not in left_out]
        if apart:
            yield self._alone(host, apart)
        for start in range(0, max(1, len(wanted)), _MOST_NAMES):
            yield self._part(host, wanted[start : start + _MOST_NAMES])
        if denied := [name for name in names if name in self._unreadable]:
            yield {}, self._unreadable_problems(denied)

    def pieces(self, host: Host, name: str, timeout_seconds: float) -> Iterator[bytes]:
        """Return one text that may be large, in pieces.

        Raises:
            HostError: The text cannot be read, which may occur in the middle of it.
        """
        return host.pieces([self._lctl, "get_param", "-n", name], timeout_seconds)

    def _list(self, host: Host) -> None:
        output, error = self._run(host, "list_param", *self._patterns, LAST)
        *found, torn = output.split("\n")
        if not found:
            raise self._nothing(error)
        if found[-1] != LAST or torn:
            raise HostError("error", f"{self._lctl} list_param ended before its time")
        before = set(self.names)
        self.names = tuple(dict.fromkeys(name for name in found[:-1] if _NAME.fullmatch(name)))
        self._unreadable = {
            name: error
            for name, error in self._unreadable.items()
            if reason_of(error) == "denied" and name in before
        }
        self._listed_at = self._monotonic()
        self._is_fresh = True

    def _nothing(self, error: HostError | None) -> HostError:
        if error is not None and error.reason == "missing":
            return HostError("missing", f"{error}; the setting lctl names it")
        why = f" ({error})" if error is not None else ""
        return HostError(
            "denied" if error is not None and error.reason == "denied" else "missing",
            f"{self._lctl} lists no parameters of Lustre{why}: load its modules (modprobe "
            "lustre), or leave this collector out",
        )

    def _part(self, host: Host, names: Sequence[str]) -> tuple[dict[str, str], list[Problem]]:
        values = self._together(host, names)
        if values is None and not self._is_fresh:
            self._list(host)
            listed = set(self.names)
            names = [name for name in names if name in listed]
            values = self._together(host, names)
        if values is not None:
            return values, []
        return self._alone(host, names)

    def _together(self, host: Host, names: Sequence[str]) -> dict[str, str] | None:
        output, error = self._run(host, "get_param", *names, LAST)
        return None if error is not None else split(output, (*names, LAST))

    def _alone(self, host: Host, names: Sequence[str]) -> tuple[dict[str, str], list[Problem]]:
        values: dict[str, str] = {}
        problems: list[Problem] = []
        error: HostError | None = None
        reasons = len(self._unreadable) + len(self._apart)
        for name in names:
            output, error = self._run(host, "get_param", "-n", name)
            if error is not None:
                self._unreadable[name] = error
                continue
            values[name] = output
            if not output.endswith("\n"):
                self._apart.add(name)
        if not values and error is not None and error.reason == "missing":
            raise error
        if reasons == len(self._unreadable) + len(self._apart) and not set(names) <= self._apart:
            problems.append(Problem(
                f"{self._lctl} get_param: the answer does not have the names that were asked, in "
                "their order; each parameter was asked by itself"))  # fmt: skip
        return values, problems

    def _unreadable_problems(self, names: Sequence[str]) -> list[Problem]:
        """Report once for each kind of parameter what cannot be read."""
        kinds = Counter(name.rpartition(".")[2] for name in names)
        problems = []
        for kind, count in kinds.items():
            name = next(name for name in names if name.endswith(f".{kind}") or name == kind)
            more = f" and {count - 1} more" if count > 1 else ""
            problems.append(problem_of(f"{name}{more}", self._unreadable[name]))
        return problems

    def _run(self, host: Host, *words: str) -> tuple[str, HostError | None]:
        """Return the output of `lctl`, and its error if it failed.

        It fails, after printing the rest, if a pattern matches nothing.
        """
        try:
            text, error = partial_output(host, [self._lctl, *words], self._timeout_seconds)
        except HostError as raised:
            text, error = "", raised
        if error is not None and error.reason in ("slow", "malformed"):
            raise error
        return text, error


def reason_of(error: HostError) -> str:
    """Return the reason of an error of `lctl`, which is only in the text of the error."""
    return "denied" if "ermission denied" in str(error) else error.reason


def problem_of(name: str, error: HostError) -> Problem:
    """Return the problem that a parameter cannot be read, with the remedy if there is one."""
    reason = reason_of(error)
    remedy = f"; {rights_remedy()}" if reason == "denied" else ""
    return Problem(f"{name}: {error}{remedy}", reason)


def split(output: str, names: Sequence[str]) -> dict[str, str] | None:
    """Split an answer of `lctl get_param` into texts by name.

    "name=value" is a text of one line; only "name=" begins a text of several lines. The result is
    None if the answer does not have exactly these names, once each and in this order.
    """
    if not output.endswith("\n"):
        return None
    wanted = set(names)
    starts: list[tuple[int, str]] = []
    lines = output.split("\n")
    for place, line in enumerate(lines):
        name, equals, _ = line.partition("=")
        if equals and name in wanted:
            starts.append((place, name))
    if [name for _, name in starts] != list(names) or starts[0][0] != 0:
        return None
    ends = [place for place, _ in starts[1:]] + [len(lines) - 1]
    values = {}
    for (start, name), end in zip(starts, ends, strict=True):
        first = lines[start][len(name) + 1 :]
        if first and end > start + 1:
            return None
        kept = lines[start + 1 : end] if not first else [first]
        values[name] = "".join(f"{line}\n" for line in kept)
    return values
