# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads processors, memory and network interfaces of the host from /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    Collector,
    CollectorSettings,
    Problem,
    damages,
    once,
    shown,
    whole,
    whole_lines,
    wholes,
)

_STAT, _LOAD, _MEMORY, _NETWORK = (
    "/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/net/dev",
)  # fmt: skip
_PHYSICAL = "/sys/class/net/*/device"
_AMOUNTS = (
    ("MemTotal", metrics.HOST_MEMORY_BYTES),
    ("MemAvailable", metrics.HOST_AVAILABLE_BYTES),
    ("Dirty", metrics.HOST_DIRTY_BYTES),
)
_IDLE = ("idle", "iowait")
_SHOWN_INTERFACES = 8


class HostSettings(CollectorSettings):
    """Settings in [collectors.host].

    Attributes:
        interfaces: Names or patterns of network interfaces: "ib*", "bond0"; empty for all hardware
            interfaces.
    """

    interfaces: tuple[str, ...] = ()


class HostFigures(Collector):
    """Processors, load, memory and network of this host.

    Time of guests is included in user and nice, as in the kernel. The kernel may reduce idle and
    iowait a little; the counters then keep their values, since a fall would be taken for a
    restart. Bonds, bridges, VLANs and interfaces of containers move the bytes of hardware again
    and are left out unless named. RDMA traffic is not included in these counters.
    """

    name = "host"
    summary = "processors, memory and network of this host, from /proc"
    metrics = metrics.metrics_named("host_")
    settings_class = HostSettings
    settings: HostSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        self._ticks_a_second = os.sysconf("SC_CLK_TCK")
        self._last: Mapping[str, int] = {}
        self._highest: dict[str, int] = {}

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, or ""."""
        if any(host.names(path) for path in (_STAT, _LOAD, _MEMORY, _NETWORK)):
            return ""
        return f"{_STAT} is not there: mount /proc"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read everything once; a file that cannot be read does not affect the others."""
        errors = []
        parts: tuple[tuple[str, Callable[[str, Host], Iterator[Reading | Problem]]], ...] = (
            (_STAT, self._processors),
            (_LOAD, _load),
            (_MEMORY, _memory),
            (_NETWORK, self._network),
        )
        for path, part in parts:
            try:
                yield from part(host.text(path), host)
            except HostError as error:
                errors.append(error)
                yield Problem(str(error), error.reason)
            except ValueError as error:
                yield Problem(f"{path}: {error}", "malformed")
        if len(errors) == len(parts):
            raise errors[0]

    def _processors(self, text: str, host: Host) -> Iterator[Reading | Problem]:
        found = read_stat(text)
        for mode, ticks in self._rising(found.ticks).items():
            yield Reading(metrics.HOST_CPU_SECONDS, (mode,), ticks / self._ticks_a_second)
        share = busy_share(self._last, found.ticks)
        self._last = found.ticks
        if share is not None:
            yield Reading(metrics.HOST_BUSY_SHARE, (), share)
        if found.boot is None:
            yield Problem(f"{_STAT}: btime is not there", "malformed")
        else:
            yield Reading(metrics.HOST_BOOT, (), found.boot)

    def _rising(self, ticks: Mapping[str, int]) -> Mapping[str, int]:
        """Return counters that never fall, except by over half, as when all are restarted."""
        for mode, count in ticks.items():
            highest = self._highest.get(mode, 0)
            self._highest[mode] = count if count < highest // 2 else max(count, highest)
        return {mode: self._highest[mode] for mode in ticks}

    def _network(self, text: str, host: Host) -> Iterator[Reading | Problem]:
        found, problems = read_net_dev(text)
        yield from damages(_NETWORK, problems)
        wanted = self._wanted(found, host)
        if self.settings.interfaces and not wanted:
            yield Problem(_no_interface(self.settings.interfaces, found))
        for one in wanted:
            yield Reading(metrics.NETWORK_RECEIVED, (one.name,), one.received_bytes)
            yield Reading(metrics.NETWORK_SENT, (one.name,), one.sent_bytes)
            yield Reading(metrics.NETWORK_ERRORS, (one.name, "receive"), one.receive_errors)
            yield Reading(metrics.NETWORK_ERRORS, (one.name, "send"), one.send_errors)

    def _wanted(self, found: list[Interface], host: Host) -> list[Interface]:
        patterns = self.settings.interfaces
        if patterns:
            return [one for one in found if any(fnmatchcase(one.name, each) for each in patterns)]
        physical = {path.split("/")[4] for path in host.names(_PHYSICAL)}
        return [one for one in found if one.name in physical]


def _no_interface(patterns: tuple[str, ...], found: list[Interface]) -> str:
    there = [one.name for one in found[:_SHOWN_INTERFACES]]
    shown = ", ".join((*there, *(("...",) if len(found) > len(there) else ()))) or "none"
    return (
        f"{_NETWORK}: no interface is called {' or '.join(patterns)}, only {shown}: change"
        f" `interfaces` of [collectors.host]"
    )


def busy_share(before: Mapping[str, int], after: Mapping[str, int]) -> float | None:
    """Return the share of time in which processors were neither idle nor waiting for I/O.

    Returns:
        A value from 0 to 1, or None if there is no reading before, or no time between them.
    """
    if not before or before.keys() != after.keys():
        return None
    grown = {mode: max(0, after[mode] - before[mode]) for mode in after}
    total = sum(grown.values())
    if not total or sum(after.values()) < sum(before.values()):
        return None
    return 1 - sum(grown[mode] for mode in _IDLE if mode in grown) / total


def _load(text: str, host: Host) -> Iterator[Reading | Problem]:
    yield Reading(metrics.HOST_LOAD, (), read_loadavg(text))


def _memory(text: str, host: Host) -> Iterator[Reading | Problem]:
    found, problems = read_meminfo(text)
    yield from damages(_MEMORY, problems)
    for name, metric in _AMOUNTS:
        if name in found:
            yield Reading(metric, (), found[name])


# Texts of the host: `/proc/stat`, `/proc/loadavg`, `/proc/meminfo`, `/proc/net/dev`.
#
# Source: Documentation/filesystems/proc.rst of Linux 6.12, net/core/net-procfs.c.

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Modes in the line "cpu"; the two further ones, for guests, are part of user and nice."""
_LEAST_MODES = 4
_LOAD_HOST = re.compile(
    r"((?:0|[1-9]\d{0,9})\.\d\d) \d{1,10}\.\d\d \d{1,10}\.\d\d \d{1,10}/\d{1,10} \d{1,10}\n",
    re.ASCII,
)
AMOUNTS = ("MemTotal", "MemAvailable", "Dirty")
_ALWAYS = ("MemTotal", "Dirty")
"""Fields that all kernels report; the other one exists since 3.14."""
_AMOUNT = re.compile(r"\w+: +(\d+) kB", re.ASCII)
_COUNTS = "bytes packets errs drop fifo"
_NET_DEV = (
    f"face {_COUNTS} frame compressed multicast {_COUNTS} colls carrier compressed"
).split()
"""Column titles in its second line."""


class Processors(NamedTuple):
    """Content of `/proc/stat`.

    Attributes:
        ticks: Time of all processors by mode, in ticks of the kernel (USER_HZ a second).
        boot: Start of the host, in seconds since 1970; None if not reported.
    """

    ticks: dict[str, int]
    boot: int | None


class Interface(NamedTuple):
    """Counters of a network interface, from its line of `/proc/net/dev`.

    Attributes:
        name: Name of the interface.
        received_bytes, sent_bytes: Bytes moved.
        receive_errors, send_errors: Packets that had errors or were dropped.
    """

    name: str
    received_bytes: int
    receive_errors: int
    sent_bytes: int
    send_errors: int


def read_stat(text: str) -> Processors:
    """Parse `/proc/stat`.

    Raises:
        ValueError: It has no line "cpu", or an invalid one.
    """
    ticks, boots, widths = [], [], set()
    for line in whole_lines(text)[0]:
        key, _, rest = line.partition(" ")
        if key == "cpu":
            ticks.append(_modes(rest))
        elif key == "btime":
            boots.append(whole(rest))
        if line.startswith("cpu"):
            widths.add(len(line.split()))
    if len(ticks) != 1:
        raise ValueError(f"{len(ticks)} lines of all processors, not 1")
    if len(widths) != 1:
        raise ValueError("lines of processors that do not have the same number of modes")
    return Processors(ticks[0], boots[0] if len(boots) == 1 else None)


def _modes(rest: str) -> dict[str, int]:
    """Parse the line "cpu", which has two blanks before its counters and one between them."""
    counts = wholes(rest.removeprefix(" "))
    if len(counts) < _LEAST_MODES or not rest.startswith(" "):
        raise ValueError(f"{len(counts)} modes of processors, not {_LEAST_MODES} or more")
    return dict(zip(MODES, counts, strict=False))


def read_loadavg(text: str) -> float:
    """Return the load average over one minute.

    Raises:
        ValueError: There is none.
    """
    found = _LOAD_HOST.fullmatch(text)
    if found is None:
        raise ValueError(f"{shown(text.strip())} is not a load average")
    return float(found[1])


def read_meminfo(text: str) -> tuple[dict[str, int], list[str]]:
    """Return bytes by the kernel's names, and what was left out, one sentence each."""
    found = []
    lines, problems = whole_lines(text)
    for number, line in enumerate(lines, 1):
        name = line.partition(":")[0]
        if name not in AMOUNTS:
            continue
        try:
            amount = _AMOUNT.fullmatch(line)
            if amount is None:
                raise ValueError(f"{shown(line.strip())} is not an amount")
            found.append((name, whole(amount[1]) << 10))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one[0])
    there = {name for name, _ in found}
    if not problems:
        problems += [f"{name} is not there" for name in _ALWAYS if name not in there]
    return dict(kept), problems + doubled


def read_net_dev(text: str) -> tuple[list[Interface], list[str]]:
    """Return interfaces, and what was left out, one sentence each."""
    found = []
    lines, problems = whole_lines(text)
    if " ".join(lines[1:2]).replace("|", " ").split() != _NET_DEV:
        return [], [*problems, "its columns are not those that are known"]
    for number, line in enumerate(lines[2:], 3):
        if not line.strip():
            continue
        try:
            found.append(_interface(line))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one.name)
    return kept, problems + doubled


def _interface(line: str) -> Interface:
    name, colon, rest = line.rpartition(":")
    name, words = name.strip(" "), [word for word in rest.split(" ") if word]
    if not colon or not name.isascii() or not name.isprintable() or not 0 < len(name) < 16:
        raise ValueError(f"{shown(name)} is not an interface")
    if "/" in name or " " in name or len(words) != 16:
        raise ValueError(f"{shown(name)} has {len(words)} columns, not 16")
    counts = list(map(whole, words))
    return Interface(name, counts[0], counts[2] + counts[3], counts[8], counts[10] + counts[11])
