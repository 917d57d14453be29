# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads Lustre's quotas: usage by users, groups and projects, and their limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Reading
from stripewise.centre.monitor.collectors._base import Problem, number
from stripewise.centre.monitor.collectors.lustre._parameters import (
    Damage,
    Parameters,
    parse_quota_master,
    parse_target,
    problem_of,
)
from stripewise.centre.monitor.collectors.lustre._stats import named_problems

TYPES = {"user": "usr", "group": "grp", "project": "prj"}
QUOTA_PATTERNS = ("osd-*.*.quota_slave.acct_*", "qmt.*.*.glb-*")
_KIB = 1024
_SHOWN = 5
_POOLS = {"dt-0x0": (metrics.QUOTA_LIMIT_BYTES, _KIB), "md-0x0": (metrics.QUOTA_LIMIT_FILES, 1)}
"""Pools of all targets; pools of some OSTs have limits of their own, which are not reported."""


class Quota:
    """Reads quotas, one type after the other, since a text may have 10^5 ids."""

    def __init__(self, most_ids: int, timeout_seconds: float) -> None:
        """Set the maximum number of ids of a type to report, the largest ones."""
        self._most = most_ids
        self._texts = LongTexts(timeout_seconds)

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | Problem]:
        """Return usage summed over the targets of this server, and limits if it is the master.

        Inodes are those of metadata targets: on storage targets Lustre counts objects, of which a
            file has several, and which count against no limit.

        A file system and type for which a target cannot be read is left out, since the sum would
        be too small.

        Raises:
            HostError: `lctl` takes too long.
        """
        for kind, short in TYPES.items():
            for fs, texts in _by_fs(names, f"quota_slave.acct_{kind}").items():
                yield from self._usage(fs, kind, self._texts.read(host, parameters, texts))
            limits = [name for name in names if _is_limit(name, short)]
            for name, lines in self._texts.read(host, parameters, limits):
                yield from self._limits(kind, name, lines)

    def _usage(
        self, fs: str, kind: str, texts: Iterable[tuple[str, Iterable[str] | Problem]]
    ) -> Iterator[Reading | Problem]:
        sums: dict[int, tuple[int, int]] = {}
        problems: list[Problem] = []
        has_files = False
        for name, lines in texts:
            found = _parsed(name, lines)
            if isinstance(found, Problem):
                problems.append(found)
                continue
            problems += named_problems(name, found.problems)
            is_metadata = found.is_supported and _is_metadata(name)
            has_files |= is_metadata
            for key, usage in found.by_id.items() if not problems else ():
                used, files = sums.get(key, (0, 0))
                more = usage.files if is_metadata else 0
                sums[key] = (used + usage.used_bytes, files + more)
        if problems:
            yield from problems[:_SHOWN]
            yield Problem(
                f"quota of {fs}: {kind}s are left out, since a sum that lacks a target is too "
                "small"
            )
            return
        yield from self._usage_readings(fs, kind, sums, has_files)

    def _usage_readings(
        self, fs: str, kind: str, sums: Mapping[int, tuple[int, int]], has_files: bool
    ) -> Iterator[Reading | Problem]:
        kept = nlargest(self._most, sums.items(), key=lambda item: (item[1], -item[0]))
        yield from self._left_out(fs, kind, len(sums), "use space")
        for key, (used, files) in sorted(kept):
            labels = (fs, kind, str(key))
            yield Reading(metrics.QUOTA_USED_BYTES, labels, used)
            if has_files:
                yield Reading(metrics.QUOTA_USED_FILES, labels, files)

    def _limits(
        self, kind: str, name: str, lines: Iterable[str] | Problem
    ) -> Iterator[Reading | Problem]:
        _, master, pool, _ = name.split(".", 3)
        fs = parse_quota_master(master)
        if not fs or isinstance(lines, Problem):
            yield lines if isinstance(lines, Problem) else Problem(f"{name}: no quota master")
            return
        try:
            found = parse_quota_limits(lines)
        except HostError as error:
            if error.reason == "slow":
                raise
            yield problem_of(name, error)
            return
        yield from named_problems(name, found.problems)
        yield from self._limit_readings(fs, kind, pool, found.by_id)

    def _limit_readings(
        self, fs: str, kind: str, pool: str, limits: Mapping[int, IdLimits]
    ) -> Iterator[Reading | Problem]:
        """Return limits that are set; id 0 has defaults for others, and 0 means no limit."""
        metric, unit = _POOLS[pool]
        found = {key: each for key, each in limits.items() if key and (each.hard or each.soft)}
        kept = nlargest(self._most, found.items(), key=lambda item: (item[1][:2], -item[0]))
        yield from self._left_out(fs, kind, len(found), "have limits")
        for key, each in sorted(kept):
            for limit, value in (("hard", each.hard), ("soft", each.soft)):
                if value:
                    yield Reading(metric, (fs, kind, str(key), limit), value * unit)

    def _left_out(self, fs: str, kind: str, count: int, what: str) -> Iterator[Problem]:
        if count > self._most:
            yield Problem(
                f"{count} {kind}s of {fs} {what}, but only the largest {self._most} are reported: "
                "raise most_ids to see more"
            )


def _parsed(name: str, lines: Iterable[str] | Problem) -> QuotaUsage | Problem:
    if isinstance(lines, Problem):
        return Problem(f"{name}: {lines.text}", lines.reason)
    try:
        return parse_quota_usage(lines)
    except HostError as error:
        if error.reason == "slow":
            raise
        return problem_of(name, error)


def _is_metadata(name: str) -> bool:
    target = parse_target(name.split(".")[1])
    return target is not None and target.target.startswith("MDT")


def _is_limit(name: str, short: str) -> bool:
    parts = name.split(".")
    return parts[0] == "qmt" and parts[-1] == f"glb-{short}" and parts[2] in _POOLS


def _by_fs(names: Sequence[str], ending: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        device, _, rest = name.partition(".")
        target = parse_target(rest.partition(".")[0])
        if device.startswith("osd-") and target and rest.endswith(f".{ending}"):
            found.setdefault(target.fs, []).append(name)
    return found


# Long texts as lines: small ones are requested together, others streamed one by one.

_LINE_BYTES = 4096
_GROUP_BYTES = 2 << 20
"""Maximum total size of texts that are requested together."""


class LongTexts:
    """Reads parameters line by line, and remembers how long each was."""

    def __init__(self, timeout_seconds: float) -> None:
        """Set the time limit for a text that is requested separately."""
        self._timeout_seconds = timeout_seconds
        self._sizes: dict[str, int] = {}

    def read(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[tuple[str, Iterable[str] | Problem]]:
        """Return the lines of each text, to be consumed before the next, or why there are none.

        Streamed lines raise HostError if they cannot be read.

        Raises:
            HostError: `lctl` takes too long.
        """
        small = [name for name in names if self._sizes.get(name, _GROUP_BYTES) < _GROUP_BYTES]
        for group in _groups(small, self._sizes):
            yield from self._together(host, parameters, group)
        for name in sorted(set(names) - set(small)):
            pieces = parameters.pieces(host, name, self._timeout_seconds)
            yield name, self._counted(name, lines_of(pieces))

    def _together(
        self, host: Host, parameters: Parameters, group: Sequence[str]
    ) -> Iterator[tuple[str, Iterable[str] | Problem]]:
        values, problems = parameters.read(host, group)
        why = problems[0] if problems else Problem("it is gone")
        for name in group:
            text = values.pop(name, None)
            if text is None:
                yield name, why
            else:
                yield name, self._counted(name, lines_of([text.encode()]))

    def _counted(self, name: str, lines: Iterable[str]) -> Iterator[str]:
        size = 0
        self._sizes.pop(name, None)
        for line in lines:
            size += len(line)
            yield line
        self._sizes[name] = size


def lines_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Split pieces of a text into lines with their ends; an endless line is cut off."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield f"{line.decode('utf-8', 'replace')}\n"
        if len(rest) > _LINE_BYTES:
            yield rest[:_LINE_BYTES].decode("utf-8", "replace")
            rest = b""
    if rest:
        yield rest.decode("utf-8", "replace")


def _groups(names: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Group names so that the texts of each group are small together."""
    group: list[str] = []
    total = 0
    for name in names:
        if group and total + sizes[name] > _GROUP_BYTES:
            yield group
            group, total = [], 0
        group.append(name)
        total += sizes[name]
    if group:
        yield group


# Quotas: usage of users, groups and projects on a target, and their limits at the master.
#
#     usr_accounting:                               osd-*.*.quota_slave.acct_user
#     - id:      0
#       usage:   { inodes:                  209, kbytes:             2616 }
#
#     global_pool0_dt_usr                           qmt.*.dt-0x0.glb-usr
#     - id:      0
#       limits:  { hard: 0, soft: 0, granted: 0, time: 604800 }
#
# Both texts may have 10^5 entries, so they are read line by line.

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
    """Usage of one id on one target: inodes, and space in bytes."""

    files: int
    used_bytes: int


class IdLimits(NamedTuple):
    """Limits of one id, as in the text: KiB of a data pool, inodes of a metadata pool."""

    hard: int
    soft: int
    granted: int
    time: int


@dataclass(frozen=True)
class QuotaUsage:
    """Content of one accounting text.

    Attributes:
        by_id: Usage by id.
        is_supported: False if the target does not count this.
        problems: What was left out.
    """

    by_id: Mapping[int, Usage]
    is_supported: bool = True
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuotaLimits:
    """Content of one text of limits: limits by id, and what was left out."""

    by_id: Mapping[int, IdLimits]
    problems: tuple[str, ...] = ()


def parse_quota_usage(lines: Iterable[str]) -> QuotaUsage:
    """Parse the lines of an accounting text, each with its newline."""
    found = _Entries(_USAGE)
    for line in lines:
        found.take(line)
    usage = {key: Usage(value[0], value[1] * KIB) for key, value in found.finish().items()}
    return QuotaUsage(usage, found.is_supported, found.damage.problems())


def parse_quota_limits(lines: Iterable[str]) -> QuotaLimits:
    """Parse the lines of a text of limits, each with its newline."""
    found = _Entries(_LIMITS)
    for line in lines:
        found.take(line)
    limits = {key: IdLimits(*value) for key, value in found.finish().items()}
    return QuotaLimits(limits, found.damage.problems())


class _Entries:
    """Numbers by id; an id that occurs twice, or has no numbers, is left out."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.damage = Damage()
        self.is_supported = True
        self._pattern = pattern
        self._numbers: dict[int, tuple[int, ...]] = {}
        self._bad: set[int] = set()
        self._opened: int | None = None
        self._is_begun = False

    def take(self, whole: str) -> None:
        """Process the next line."""
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
        """Return the numbers that were found."""
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
