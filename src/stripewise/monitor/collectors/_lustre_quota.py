# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Quota: readings of what users, groups and projects have on this server, and of limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest

from stripewise.monitor._host import Host, HostError
from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lctl import Parameters, problem_of
from stripewise.monitor.collectors._long_texts import LongTexts
from stripewise.monitor.collectors._lustre_stats import told
from stripewise.monitor.metrics import Reading, lustre
from stripewise.monitor.texts.lustre import (
    Limits,
    QuotaUsage,
    parse_quota_limits,
    parse_quota_master,
    parse_quota_usage,
    parse_target,
)

TYPES = {"user": "usr", "group": "grp", "project": "prj"}
QUOTA_PATTERNS = ("osd-*.*.quota_slave.acct_*", "qmt.*.*.glb-*")
_KIB = 1024
_SHOWN = 5
_POOLS = {"dt-0x0": (lustre.QUOTA_LIMIT_BYTES, _KIB), "md-0x0": (lustre.QUOTA_LIMIT_FILES, 1)}
"""Pools of all targets; pools of some OSTs have limits of their own, which are not reported."""


class Quota:
    """Reads quota, one type after the other, since a text may have 10^5 ids."""

    def __init__(self, most_ids: int, timeout_seconds: float) -> None:
        """Report at most so many ids of a type, the largest."""
        self._most = most_ids
        self._texts = LongTexts(timeout_seconds)

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | Problem]:
        """Return usage summed over the targets of this server, and limits if it is the master.

        Inodes are those of metadata targets: Lustre counts the objects of storage targets there,
        too, of which a file has several, and which count against no limit.

        A file system and type of which one target cannot be read is left out, since the sum
        would be too small.

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
            problems += told(name, found.problems)
            is_metadata = found.is_supported and _is_metadata(name)
            has_files |= is_metadata
            for key, usage in found.by_id.items() if not problems else ():
                used, files = sums.get(key, (0, 0))
                more = usage.files if is_metadata else 0
                sums[key] = (used + usage.used_bytes, files + more)
        if problems:
            yield from problems[:_SHOWN]
            yield Problem(
                f"quota of {fs}: {kind}s are left out, since a sum without a target is too small"
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
            yield Reading(lustre.QUOTA_USED_BYTES, labels, used)
            if has_files:
                yield Reading(lustre.QUOTA_USED_FILES, labels, files)

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
        yield from told(name, found.problems)
        yield from self._limit_readings(fs, kind, pool, found.by_id)

    def _limit_readings(
        self, fs: str, kind: str, pool: str, limits: Mapping[int, Limits]
    ) -> Iterator[Reading | Problem]:
        """Return limits that are set; those of id 0 are defaults for others, 0 is no limit."""
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
                f"{count} {kind}s of {fs} {what}, and the largest {self._most} are reported: "
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
