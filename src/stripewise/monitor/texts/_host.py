# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of the host: `/proc/stat`, `/proc/loadavg`, `/proc/meminfo`, `/proc/net/dev`.

Source: Documentation/filesystems/proc.rst of Linux 6.12, net/core/net-procfs.c.
"""

from __future__ import annotations

from typing import NamedTuple

from stripewise.monitor.texts._numbers import fraction, once, shown, whole

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Of the line "cpu"; the two that follow, of guests, are a part of user and nice."""
_LEAST_MODES = 4
AMOUNTS = ("MemTotal", "MemAvailable", "Dirty")
"""The second is not told by kernels before 3.14."""


class Processors(NamedTuple):
    """What `/proc/stat` tells.

    Attributes:
        ticks: Time of all processors by mode, in ticks of the kernel (USER_HZ a second).
        boot: When the host was started, in seconds since 1970; None: not told.
    """

    ticks: dict[str, int]
    boot: int | None


class Interface(NamedTuple):
    """Counters of a network interface, from its line of `/proc/net/dev`.

    Attributes:
        name: Of it.
        received_bytes, sent_bytes: Moved.
        receive_errors, send_errors: Packets with errors, and packets that were dropped.
    """

    name: str
    received_bytes: int
    receive_errors: int
    sent_bytes: int
    send_errors: int


def read_stat(text: str) -> Processors:
    """Read `/proc/stat`.

    Raises:
        ValueError: It has no line "cpu", or not one that can be believed.
    """
    ticks, boots = [], []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key == "cpu":
            ticks.append(_modes(rest.split()))
        elif key == "btime":
            boots.append(whole(rest.strip()))
    if len(ticks) != 1:
        raise ValueError(f"{len(ticks)} lines of all processors, not 1")
    return Processors(ticks[0], boots[0] if len(boots) == 1 else None)


def _modes(words: list[str]) -> dict[str, int]:
    if len(words) < _LEAST_MODES:
        raise ValueError(f"{len(words)} modes of processors, not {_LEAST_MODES} or more")
    return dict(zip(MODES, map(whole, words), strict=False))


def read_loadavg(text: str) -> float:
    """Return the load average over one minute.

    Raises:
        ValueError: There is none.
    """
    words = text.split()
    if len(words) != 5:
        raise ValueError(f"{len(words)} words, not 5")
    return fraction(words[0])


def read_meminfo(text: str) -> tuple[dict[str, int], list[str]]:
    """Return bytes by the kernel's names, and what was left out, a sentence each."""
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        name, _, rest = line.partition(":")
        words = rest.split()
        if name not in AMOUNTS:
            continue
        try:
            if len(words) != 2 or words[1] != "kB":
                raise ValueError(f"{shown(line.strip())} is no amount")
            found.append((name, whole(words[0]) << 10))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one[0])
    if not found and not problems:
        problems.append("MemTotal is not there")
    return dict(kept), problems + doubled


def read_net_dev(text: str) -> tuple[list[Interface], list[str]]:
    """Return interfaces, and what was left out, a sentence each."""
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (number <= 2 and "|" in line):
            continue
        try:
            found.append(_interface(line))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one.name)
    return kept, problems + doubled


def _interface(line: str) -> Interface:
    name, colon, rest = line.rpartition(":")
    name, words = name.strip(), rest.split()
    if not colon or not name.isascii() or not name.isprintable() or not 0 < len(name) < 16:
        raise ValueError(f"{shown(name)} is no interface")
    if "/" in name or " " in name or len(words) != 16:
        raise ValueError(f"{shown(name)} has {len(words)} columns, not 16")
    counts = list(map(whole, words))
    return Interface(name, counts[0], counts[2] + counts[3], counts[8], counts[10] + counts[11])
