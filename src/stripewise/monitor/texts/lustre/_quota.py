# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Quota: what users, groups and projects have on a target, and their limits at the master.

    usr_accounting:                               osd-*.*.quota_slave.acct_user
    - id:      0
      usage:   { inodes:                  209, kbytes:             2616 }

    global_pool0_dt_usr                           qmt.*.dt-0x0.glb-usr
    - id:      0
      limits:  { hard: 0, soft: 0, granted: 0, time: 604800 }

Both texts may have 10^5 entries, so they are read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from stripewise.monitor.texts.lustre._damage import Damage, number

KIB = 1024
_TITLE = re.compile(
    r"(?:usr|grp|prj|unknown)_accounting:|global_index_copy:|global_pool\d+_(?:dt|md)_\w{1,8}:?",
    re.ASCII,
)
_ID = re.compile(r"- id:\s+(\d+)", re.ASCII)
_USAGE = re.compile(r"\s+usage:\s+\{ inodes:\s+(\d+), kbytes:\s+(\d+) \}", re.ASCII)
_LIMITS = re.compile(
    r"\s+limits:\s+\{ hard:\s+(\d+), soft:\s+(\d+), granted:\s+(\d+), time:\s+(\d+) \}", re.ASCII
)


class Usage(NamedTuple):
    """What one id has on one target: inodes, and space in bytes."""

    files: int
    used_bytes: int


class Limits(NamedTuple):
    """Limits of one id, as the text has them: KiB of a data pool, inodes of a metadata pool."""

    hard: int
    soft: int
    granted: int
    time: int


@dataclass(frozen=True)
class QuotaUsage:
    """One text of accounting.

    Attributes:
        by_id: Of ids.
        is_supported: False: the target does not count this.
        problems: What was left out.
    """

    by_id: Mapping[int, Usage]
    is_supported: bool = True
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuotaLimits:
    """One text of limits: by id, and what was left out."""

    by_id: Mapping[int, Limits]
    problems: tuple[str, ...] = ()


def parse_quota_usage(lines: Iterable[str]) -> QuotaUsage:
    """Parse the lines of a text of accounting, each with its end."""
    found = _Entries(_USAGE)
    for line in lines:
        found.take(line)
    usage = {key: Usage(value[0], value[1] * KIB) for key, value in found.finish().items()}
    return QuotaUsage(usage, found.is_supported, found.damage.problems())


def parse_quota_limits(lines: Iterable[str]) -> QuotaLimits:
    """Parse the lines of a text of limits, each with its end."""
    found = _Entries(_LIMITS)
    for line in lines:
        found.take(line)
    limits = {key: Limits(*value) for key, value in found.finish().items()}
    return QuotaLimits(limits, found.damage.problems())


class _Entries:
    """Numbers by id; an id that is there twice, or has no numbers, is left out."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.damage = Damage()
        self.is_supported = True
        self._pattern = pattern
        self._numbers: dict[int, tuple[int, ...]] = {}
        self._bad: set[int] = set()
        self._opened: int | None = None
        self._is_begun = False

    def take(self, whole: str) -> None:
        """Take the next line."""
        line = whole.removesuffix("\n")
        is_first, self._is_begun = not self._is_begun, True
        opened, self._opened = self._opened, None
        if match := self._pattern.fullmatch(line):
            if opened is not None and line != whole:
                self._add(opened, [number(digits) for digits in match.groups()], line)
                return
        elif match := _ID.fullmatch(line):
            if opened is None and line != whole:
                self._open(number(match[1]), line)
                return
        elif is_first and whole == "not supported\n":
            self.is_supported = False
            return
        elif is_first and line != whole and _TITLE.fullmatch(line):
            return
        self.damage.add("not a line of quota, or not at its place", line)
        if match and match.re is _ID:
            self._open(number(match[1]), line)
        if opened is not None:
            self._bad.add(opened)

    def finish(self) -> dict[int, tuple[int, ...]]:
        """Return what was found."""
        if not self._is_begun:
            self.damage.add("the text is empty", "")
        if self._opened is not None:
            self.damage.add("the text ends after an id", str(self._opened))
        for key in self._bad:
            self._numbers.pop(key, None)
        return self._numbers

    def _open(self, key: int | None, line: str) -> None:
        if key is None:
            self.damage.add("not an id", line)
        elif key in self._numbers or key in self._bad:
            self._bad.add(key)
            self.damage.add("an id that is there twice", line)
        self._opened = key

    def _add(self, key: int, values: list[int | None], line: str) -> None:
        numbers = tuple(value for value in values if value is not None)
        if len(numbers) == len(values):
            self._numbers[key] = numbers
        else:
            self._bad.add(key)
            self.damage.add(f"a number of id {key} is beyond 64 bits", line)
