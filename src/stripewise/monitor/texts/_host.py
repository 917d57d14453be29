# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of the host: `/proc/stat`, `/proc/loadavg`, `/proc/meminfo`, `/proc/net/dev`.

Source: Documentation/filesystems/proc.rst of Linux 6.12, net/core/net-procfs.c.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stripewise.monitor.texts._numbers import once, shown, whole, whole_lines, wholes

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Of the line "cpu"; the two that follow, of guests, are a part of user and nice."""
_LEAST_MODES = 4
_LOAD = re.compile(
    r"((?:0|[1-9]\d{0,9})\.\d\d) \d{1,10}\.\d\d \d{1,10}\.\d\d \d{1,10}/\d{1,10} \d{1,10}\n",
    re.ASCII,
)
AMOUNTS = ("MemTotal", "MemAvailable", "Dirty")
_ALWAYS = ("MemTotal", "Dirty")
"""The other is not told by kernels before 3.14."""
_AMOUNT = re.compile(r"\w+: +(\d+) kB", re.ASCII)
_COUNTS = "bytes packets errs drop fifo"
_NET_DEV = (
    f"face {_COUNTS} frame compressed multicast {_COUNTS} colls carrier compressed"
).split()
"""What its second line calls the columns."""


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
    """Read the line "cpu", which has two blanks before its counters, and then one each."""
    counts = wholes(rest.removeprefix(" "))
    if len(counts) < _LEAST_MODES or not rest.startswith(" "):
        raise ValueError(f"{len(counts)} modes of processors, not {_LEAST_MODES} or more")
    return dict(zip(MODES, counts, strict=False))


def read_loadavg(text: str) -> float:
    """Return the load average over one minute.

    Raises:
        ValueError: There is none.
    """
    found = _LOAD.fullmatch(text)
    if found is None:
        raise ValueError(f"{shown(text.strip())} is no load average")
    return float(found[1])


def read_meminfo(text: str) -> tuple[dict[str, int], list[str]]:
    """Return bytes by the kernel's names, and what was left out, a sentence each."""
    found = []
    lines, problems = whole_lines(text)
    for number, line in enumerate(lines, 1):
        name = line.partition(":")[0]
        if name not in AMOUNTS:
            continue
        try:
            amount = _AMOUNT.fullmatch(line)
            if amount is None:
                raise ValueError(f"{shown(line.strip())} is no amount")
            found.append((name, whole(amount[1]) << 10))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one[0])
    there = {name for name, _ in found}
    if not problems:
        problems += [f"{name} is not there" for name in _ALWAYS if name not in there]
    return dict(kept), problems + doubled


def read_net_dev(text: str) -> tuple[list[Interface], list[str]]:
    """Return interfaces, and what was left out, a sentence each."""
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
        raise ValueError(f"{shown(name)} is no interface")
    if "/" in name or " " in name or len(words) != 16:
        raise ValueError(f"{shown(name)} has {len(words)} columns, not 16")
    counts = list(map(whole, words))
    return Interface(name, counts[0], counts[2] + counts[3], counts[8], counts[10] + counts[11])
