# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads targets of BeeGFS from its command-line tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import Field, field_validator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    Collector,
    CollectorSettings,
    Command,
    GivenName,
    Problem,
    Seconds,
    damages,
    fraction,
    once,
    partial_output,
    shown,
    whole,
    whole_lines,
)

_COMMANDS = (
    *("/usr/bin/beegfs", "/usr/sbin/beegfs", "/opt/beegfs/sbin/beegfs"),
    *("/usr/bin/beegfs-ctl", "/usr/sbin/beegfs-ctl", "/opt/beegfs/sbin/beegfs-ctl"),
)
"""Usual paths of the tools of 8.x and 7.x."""
_OLD = "beegfs-ctl"
_KINDS = ("storage", "meta")


class BeeGfsSettings(CollectorSettings):
    """Settings in [collectors.beegfs].

    Attributes:
        command: Absolute path of `beegfs` (8.x) or `beegfs-ctl` (7.x); "" for the usual place.
        file_systems: Name of each file system, and its management: host and port of the management
            service (8.x), or the client's configuration file (7.x); "" for the default of the
            tool.
        timeout_seconds: Time after which the tool is killed.
    """

    command: Command = ""
    file_systems: dict[GivenName, str] = Field(default_factory=lambda: {"beegfs": ""})
    timeout_seconds: Seconds = 10.0

    @field_validator("file_systems")
    @classmethod
    def _are_there(cls, places: dict[str, str]) -> dict[str, str]:
        if not places or not all(place.isprintable() for place in places.values()):
            raise ValueError("name at least one file system, each with printable text")
        return places


class BeeGfs(Collector):
    """Capacity and state of all targets of BeeGFS file systems, as their management sees them.

    One host of a file system is enough; several would report the same. Targets are called
    "storage-101" and "meta-1". A target whose server does not answer has a state but no capacity.
    7.x rounds sizes to 0.1 GiB.

    Counters of reads, writes and operations are left out, since no tool reports exact ones:
    `beegfs-ctl --clientstats` rounds bytes to six digits, and both it and `beegfs stats` sum
    servers that are restarted at different times; `--serverstats` and `beegfs stats server` only
    report rates of past seconds. BeeGFS's own beegfs-mon has them.
    """

    name = "beegfs"
    summary = "targets of BeeGFS file systems, from beegfs or beegfs-ctl"
    metrics = metrics.metrics_named("beegfs_")
    settings_class = BeeGfsSettings
    settings: BeeGfsSettings

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, or ""."""
        if self._command(host):
            return ""
        command = self.settings.command
        what = f"{command} is not" if command else "neither beegfs nor beegfs-ctl is"
        return f"{what} there: give its path as `command` of [collectors.beegfs]"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Query the targets of each file system; the failure of one does not affect the others."""
        command = self._command(host)
        if not command:
            raise HostError("missing", self.missing(host))
        errors = []
        has_any = False
        for fs in self.settings.file_systems:
            for kind in _KINDS:
                try:
                    yield from self._targets(host, command, fs, kind)
                    has_any = True
                except HostError as error:
                    errors.append(error)
                    yield Problem(f"{kind} targets of {fs}: {error}", error.reason)
                    if error.reason == "slow":  # its management service would be as slow again
                        break
        if not has_any:
            raise errors[0]

    def _command(self, host: Host) -> str:
        known = (self.settings.command,) if self.settings.command else _COMMANDS
        return next((path for path in known if host.names(path)), "")

    def _targets(
        self, host: Host, command: str, fs: str, kind: str
    ) -> Iterator[Reading | Problem]:
        is_old = command.endswith(_OLD)
        words = (old_words if is_old else words_of)(command, kind, self.settings.file_systems[fs])
        text, failure = partial_output(host, words, self.settings.timeout_seconds)
        targets, problems = (read_beegfs_table if is_old else read_beegfs_json)(text)
        yield from damages(f"{kind} targets of {fs}", problems)
        silent = [one.number for one in targets if one.total_bytes is None]
        for target in targets:
            yield from _readings(target, (fs, f"{kind}-{target.number}"))
        if silent:
            yield Problem(
                f"{kind} targets of {fs}: {len(silent)} of {len(targets)} do not report their "
                "space",
                "error",
            )
        if failure is not None and (not silent or failure.reason == "slow"):
            raise failure


def words_of(command: str, kind: str, place: str) -> tuple[str, ...]:
    """Return the command that queries `beegfs` (8.x) for targets of a kind.

    Later versions have another name for free space; the tool ignores unknown columns.
    """
    where = (f"--mgmtd-addr={place}",) if place else ()
    columns = "--columns=id,reachability,space,sfree,space_free"
    return (
        *(command, "target", "list", f"--node-type={kind}", "--state", "--capacity", columns),
        *("--raw", "--output=json", *where),
    )


def old_words(command: str, kind: str, place: str) -> tuple[str, ...]:
    """Return the command that queries `beegfs-ctl` (7.x) for targets of a kind."""
    where = (f"--cfgFile={place}",) if place else ()
    return (command, "--listtargets", f"--nodetype={kind}", "--state", "--spaceinfo", *where)


def _readings(target: BeeGfsTarget, labels: tuple[str, str]) -> Iterator[Reading]:
    if target.is_online is not None:
        yield Reading(metrics.BEEGFS_TARGET_MISSING, labels, 0 if target.is_online else 1)
    if target.total_bytes is not None and target.free_bytes is not None:
        yield Reading(metrics.BEEGFS_TARGET_TOTAL_BYTES, labels, target.total_bytes)
        yield Reading(metrics.BEEGFS_TARGET_FREE_BYTES, labels, target.free_bytes)
        yield Reading(
            metrics.BEEGFS_TARGET_USED_BYTES, labels, target.total_bytes - target.free_bytes
        )


# Targets of BeeGFS: the table of `beegfs-ctl --listtargets` (7.x), the JSON of `beegfs` (8.x).
#
# A server that does not answer reports no space: 7.x prints 0.0GiB then, 8.x "-". In 7.x, sizes
# are rounded to 0.1 GiB. The first versions of 8.x call free space "sfree", later ones
# "space_free".
#
# Source: ctl/source/modes/ModeListTargets.cpp of BeeGFS 7; ctl/internal/cmd/target/list.go and
# cmdfmt of beegfs-go (8.x).

_GIB = 1 << 30
_MOST_TARGETS = (1 << 16) - 1
_ROW = re.compile(
    r" *(\d{1,5}) +(?:(<invalid_value>)|(\S+) +(\S+)) +"
    r"((?:0|[1-9]\d{0,17})\.\d)GiB +((?:0|[1-9]\d{0,17})\.\d)GiB +\d{1,3}% +"
    r"[\d.]{3,20}M +[\d.]{3,20}M +\d{1,3}%(?: .*)?",
    re.ASCII,
)
_HEAD = ["TargetID", "Reachability", "Consistency", "Total", "Free"]
_ID = re.compile(r"(?:[a-z]{1,16}:)?(\d{1,5})", re.ASCII)
_STATES = {"online": True, "probably-offline": False, "offline": False}
_UNKNOWN = ("", "-", "unknown", "<invalid_value>")
_FREE = ("sfree", "space_free")
_SPACE = " \t\r\n"


class BeeGfsTarget(NamedTuple):
    """One target.

    Attributes:
        number: Number among the targets of its kind.
        is_online: State according to the management service; None if not reported.
        total_bytes / free_bytes: Size and free space of its disk; None if not reported.
    """

    number: int
    is_online: bool | None
    total_bytes: int | None
    free_bytes: int | None


def read_beegfs_table(text: str) -> tuple[list[BeeGfsTarget], list[str]]:
    """Parse the output of `beegfs-ctl --listtargets --state --spaceinfo`.

    Returns:
        Targets, and what was left out, one sentence each.
    """
    found = []
    lines, problems = whole_lines(text)
    has_head = False
    for number, line in enumerate(lines, 1):
        if line.split()[:5] == _HEAD:
            has_head = True
        elif line.strip() and not set(line) <= {"=", " "}:
            try:
                found.append(_row(line))
            except ValueError as error:
                problems.append(f"line {number}: {error}")
    if not has_head:
        return [], ["the output is not a known table of targets"]
    kept, doubled = once(found, lambda one: str(one.number))
    return kept, problems + doubled


def _row(line: str) -> BeeGfsTarget:
    found = _ROW.fullmatch(line)
    if found is None:
        raise ValueError(f"{shown(line.strip())} is not a target")
    total, free = (round(fraction(found[place]) * _GIB) for place in (5, 6))
    return _target(whole(found[1]), found[2] or found[3], total or None, free)


def read_beegfs_json(text: str) -> tuple[list[BeeGfsTarget], list[str]]:
    """Parse the output of `beegfs target list --raw --output=json`: pages, each an array.

    Returns:
        Targets, and what was left out, one sentence each.
    """
    found, problems = [], []
    try:
        for number, entry in enumerate(_entries(text), 1):
            try:
                found.append(_entry(entry))
            except ValueError as error:
                problems.append(f"target {number}: {error}")
    except (ValueError, RecursionError):
        problems.append("the output is not JSON throughout")
    kept, doubled = once(found, lambda one: str(one.number))
    return kept, problems + doubled


def _entries(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    place = 0
    while place < len(text):
        if text[place] in _SPACE:
            place += 1
            continue
        page, place = decoder.raw_decode(text, place)
        yield from page if isinstance(page, list) else [page]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _entry(entry: Any) -> BeeGfsTarget:
    if not isinstance(entry, dict):
        raise ValueError("is not an object")
    number = entry.get("id")
    if isinstance(number, dict):
        number = number.get("num_id")
    free_keys = [key for key in _FREE if key in entry]
    if len(free_keys) > 1:
        raise ValueError("reports its free space twice")
    total, free = (_size(entry.get(key)) for key in ("space", *(free_keys or _FREE[:1])))
    state = str(entry.get("reachability", ""))
    is_number = _ID.fullmatch(str(number))
    if is_number is None:
        raise ValueError(f"{shown(str(number))} is not a target number")
    return _target(whole(is_number[1]), state, total, free)


def _size(value: Any) -> int | None:
    text = str("" if value is None else value)
    return None if text in _UNKNOWN else whole(text)


def _target(number: int, state: str, total: int | None, free: int | None) -> BeeGfsTarget:
    if not 0 < number <= _MOST_TARGETS:
        raise ValueError(f"{number} is not a target number")
    is_online = None if state in _UNKNOWN else _STATES.get(state.lower())
    if is_online is None and state not in _UNKNOWN:
        raise ValueError(f"{shown(state)} is not a target state")
    if total is None or free is None:
        return BeeGfsTarget(number, is_online, None, None)
    if free > total:
        raise ValueError(f"free space {free} is more than the total of {total} bytes")
    return BeeGfsTarget(number, is_online, total, free)
