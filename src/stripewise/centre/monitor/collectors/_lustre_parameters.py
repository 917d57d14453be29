# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses Lustre's parameters: names of targets and mounts, single values, recovery status."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from stripewise.centre.monitor.collectors._base import number

_TARGET = re.compile(r"([A-Za-z0-9_-]{1,64})-((?:OST|MDT)[0-9a-fA-F]{4})", re.ASCII)
_NAMESPACE = re.compile(r"(?:filter|mdt)-(.+)_UUID", re.ASCII)
_MOUNT = re.compile(r"([A-Za-z0-9_-]{1,64})-[0-9a-fA-F]{6,16}", re.ASCII)
_MASTER = re.compile(r"([A-Za-z0-9_-]{1,64})-QMT[0-9a-fA-F]{4}", re.ASCII)
_EXPORT = re.compile(r"(?:obdfilter|mdt)\.([^.]+)\.exports\.(.+)\.stats", re.ASCII)
_CLIENT = re.compile(r"[0-9A-Za-z.:_-]{1,64}@[0-9a-z]{1,16}", re.ASCII)


class TargetName(NamedTuple):
    """A target: "scratch", "OST0004"."""

    fs: str
    target: str


def parse_target(name: str) -> TargetName | None:
    """Split "scratch-OST0004"; the file system's name may hold dashes.  None: not a target."""
    found = _TARGET.fullmatch(name)
    return TargetName(found[1], found[2]) if found else None


def parse_namespace(name: str) -> TargetName | None:
    """Return the target of a server's namespace of locks, "filter-scratch-OST0004_UUID"."""
    found = _NAMESPACE.fullmatch(name)
    return parse_target(found[1]) if found else None


def parse_mount(name: str) -> str:
    """Return the file system of a mount, "scratch-ffff97e895d31000"; "": not one."""
    found = _MOUNT.fullmatch(name)
    return found[1] if found else ""


def parse_quota_master(name: str) -> str:
    """Return the file system of a quota master, "scratch-QMT0000"; "": not one."""
    found = _MASTER.fullmatch(name)
    return found[1] if found else ""


def parse_export(name: str) -> tuple[TargetName, str] | None:
    """Return target and NID of "obdfilter.scratch-OST0004.exports.10.0.0.7@tcp.stats"."""
    found = _EXPORT.fullmatch(name)
    target = parse_target(found[1]) if found else None
    if not found or not target or not _CLIENT.fullmatch(found[2]):
        return None
    return target, found[2]


# Parameters of one value: counts, the version, health.

_VERSION = re.compile(r"(?:lustre: *)?([0-9][0-9A-Za-z._+~-]{0,63})", re.ASCII)


def parse_count(text: str) -> int | None:
    """Return the count that a text is; None: it is none.

    The text ends with a line break: without it, digits may be lost.
    """
    value, end, rest = text.partition("\n")
    return None if not end or rest else number(value)


def parse_version(text: str) -> str:
    """Return Lustre's version, "2.15.5"; "": the text has none, or its line has no end.

    Old ones print "lustre: 2.12.9" and more lines.
    """
    line, end, _ = text.partition("\n")
    found = _VERSION.fullmatch(line.strip(" "))
    return found[1] if found and end else ""


def parse_health(text: str) -> bool | None:
    """Return whether Lustre says that it is healthy; None: it says neither."""
    if text.strip(" \n") == "healthy":
        return True
    is_bad = "NOT HEALTHY" in text or "LBUG" in text or "reported unhealthy" in text
    return False if is_bad else None


# Lines that could not be believed: counted all, and a few of them shown.

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
        """Note that a line was left out, and why."""
        self.count += 1
        if len(self._sentences) < _SHOWN:
            self._sentences.append(f"{why}: {excerpt(line)}")

    def problems(self) -> tuple[str, ...]:
        """Return sentences; the last one counts those that are not shown."""
        more = self.count - len(self._sentences)
        rest = (f"{more} more lines were left out",) if more else ()
        return (*self._sentences, *rest)


def whole_lines(text: str, damage: Damage) -> list[str]:
    """Split a text into lines; a last line without its end is torn and left out."""
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
# After it: "status: COMPLETE", "recovery_duration: 150", "completed_clients: 8/8".  A target that
# no client was connected to says "status: INACTIVE".

STATES = ("inactive", "waiting", "waiting_for_clients", "recovering", "complete")
"""Those that Lustre is known to print, in lower case."""
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
    """One text.

    Attributes:
        state: In lower case: "complete", "recovering", ...; "": not told.
        clients: "connected", "completed", "evicted": how many.
        remaining_seconds / duration_seconds: Of recovery; None: not told.
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
