# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The host itself: processors, memory, network interfaces, from `/proc`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._shared import damages
from stripewise.monitor.metrics import Reading
from stripewise.monitor.metrics import others as m
from stripewise.monitor.texts import (
    Interface,
    read_loadavg,
    read_meminfo,
    read_net_dev,
    read_stat,
)

_STAT, _LOAD, _MEMORY, _NETWORK = (
    "/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/net/dev",
)  # fmt: skip
_PHYSICAL = "/sys/class/net/*/device"
_AMOUNTS = (
    ("MemTotal", m.HOST_MEMORY_BYTES),
    ("MemAvailable", m.HOST_AVAILABLE_BYTES),
    ("Dirty", m.HOST_DIRTY_BYTES),
)
_IDLE = ("idle", "iowait")
_SHOWN_INTERFACES = 8


class HostSettings(CollectorSettings):
    """[collectors.host].

    Attributes:
        interfaces: Names or patterns of network interfaces: "ib*", "bond0"; none: those that are
            hardware.
    """

    interfaces: tuple[str, ...] = ()


class HostFigures(Collector):
    """Processors, load, memory and network of this host.

    Time of guests is in user and nice, as the kernel has it.  The kernel may take back a little of
    idle and iowait; the counters stay where they were then, since a fall would be taken for a
    restart.  Bonds, bridges, VLANs and interfaces of containers move the bytes of hardware again
    and are left out unless named.  Traffic by RDMA passes these counters by.
    """

    name = "host"
    summary = "processors, memory and network of this host, from /proc"
    metrics = m.OF_HOST
    settings_class = HostSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Take its settings."""
        super().__init__(settings)
        self._ticks_a_second = os.sysconf("SC_CLK_TCK")
        self._last: Mapping[str, int] = {}
        self._highest: dict[str, int] = {}

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read."""
        if any(host.names(path) for path in (_STAT, _LOAD, _MEMORY, _NETWORK)):
            return ""
        return f"{_STAT} is not there: mount /proc"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read everything once; a file that cannot be read does not keep the others back."""
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
            yield Reading(m.HOST_CPU_SECONDS, (mode,), ticks / self._ticks_a_second)
        share = busy_share(self._last, found.ticks)
        self._last = found.ticks
        if share is not None:
            yield Reading(m.HOST_BUSY_SHARE, (), share)
        if found.boot is None:
            yield Problem(f"{_STAT}: btime is not there", "malformed")
        else:
            yield Reading(m.HOST_BOOT, (), found.boot)

    def _rising(self, ticks: Mapping[str, int]) -> Mapping[str, int]:
        """Return counters that do not fall but by more than a half, as where all began again."""
        for mode, count in ticks.items():
            highest = self._highest.get(mode, 0)
            self._highest[mode] = count if count < highest // 2 else max(count, highest)
        return {mode: self._highest[mode] for mode in ticks}

    def _network(self, text: str, host: Host) -> Iterator[Reading | Problem]:
        found, problems = read_net_dev(text)
        yield from damages(_NETWORK, problems)
        wanted = self._wanted(found, host)
        assert isinstance(self.settings, HostSettings)
        if self.settings.interfaces and not wanted:
            yield Problem(_no_interface(self.settings.interfaces, found))
        for one in wanted:
            yield Reading(m.NETWORK_RECEIVED, (one.name,), one.received_bytes)
            yield Reading(m.NETWORK_SENT, (one.name,), one.sent_bytes)
            yield Reading(m.NETWORK_ERRORS, (one.name, "receive"), one.receive_errors)
            yield Reading(m.NETWORK_ERRORS, (one.name, "send"), one.send_errors)

    def _wanted(self, found: list[Interface], host: Host) -> list[Interface]:
        assert isinstance(self.settings, HostSettings)
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
    """Return the share of the time between that processors were neither idle nor waiting for I/O.

    Returns:
        From 0 to 1; None: there is no reading before, or no time between.
    """
    if not before or before.keys() != after.keys():
        return None
    grown = {mode: max(0, after[mode] - before[mode]) for mode in after}
    total = sum(grown.values())
    if not total or sum(after.values()) < sum(before.values()):
        return None
    return 1 - sum(grown[mode] for mode in _IDLE if mode in grown) / total


def _load(text: str, host: Host) -> Iterator[Reading | Problem]:
    yield Reading(m.HOST_LOAD, (), read_loadavg(text))


def _memory(text: str, host: Host) -> Iterator[Reading | Problem]:
    found, problems = read_meminfo(text)
    yield from damages(_MEMORY, problems)
    for name, metric in _AMOUNTS:
        if name in found:
            yield Reading(metric, (), found[name])
