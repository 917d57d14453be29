# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of Lustre: no exception, and no number that is not there, or lost without a word.

A slow and strict reader finds what a damaged text says as it stands; what is believed must be a
part of that, and all of it where no problem is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from math import inf
from random import Random

import pytest

from stripewise.monitor.texts.lustre import (
    parse_brw_stats,
    parse_count,
    parse_export,
    parse_health,
    parse_mount,
    parse_namespace,
    parse_quota_limits,
    parse_quota_usage,
    parse_recovery_status,
    parse_stats,
    parse_target,
    parse_version,
    parse_word,
)
from support.amounts import share_of
from support.lustre_servers import VERSIONS, parameters
from support.mutations import mutate

MUTATIONS = 100_000
BRW_TITLES = {
    "pages": "pages per bulk r/w rpcs", "discontiguous_pages": "discontiguous pages rpcs",
    "discontiguous_blocks": "discontiguous blocks rpcs", "fragments": "disk fragmented I/Os ios",
    "in_flight": "disk I/Os in flight ios", "io_milliseconds": "I/O time (1/1000s) ios",
    "io_bytes": "disk I/O size ios", "block_map_milliseconds": "block maps msec maps",
}  # fmt: skip
SCALES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@cache
def texts(*endings: str) -> tuple[str, ...]:
    return tuple(
        str(text)
        for version in VERSIONS
        for name, text in parameters(version).items()
        if name.endswith(endings)
    )


def is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and int(word) < 1 << 64


def check_stats(text: str) -> None:
    found = parse_stats(text)
    names = Counter(line.split(" ")[0] for line in text.split("\n")[:-1] if " samples [" in line)
    said = {}
    for line in text.split("\n")[:-1]:
        words = line.split()
        if len(words) >= 4 and words[2] == "samples" and is_number(words[1]):
            told = int(words[6]) if len(words) > 6 and is_number(words[6]) else None
            said[words[0]] = (int(words[1]), told)
    for name, row in found.rows.items():
        assert names[name] == 1
        assert said[name] == (row.samples, row.total)
    if found.is_whole:
        assert found.rows.keys() == said.keys()
        assert text.endswith("\n")


def check_brw_stats(text: str) -> None:
    found = parse_brw_stats(text)
    said: dict[str, list[tuple[str, int, int]]] = {}
    current: list[tuple[str, int, int]] = []
    titles = {
        f"{title} % cum % | {title.split()[-1]} % cum %": name
        for name, title in BRW_TITLES.items()
    }
    for before, line in pairwise(["", *text.split("\n")[:-1]]):
        title = " ".join(line.split())
        words = line.split()
        if title in titles and before.split() == ["read", "|", "write"]:
            current = said.setdefault(titles[title], [])
        elif title in titles:
            current = []
        elif words == ["read", "|", "write"]:
            current = []
        elif len(words) == 8 and words[4] == "|" and is_number(words[1]) and is_number(words[5]):
            current.append((words[0].rstrip(":"), int(words[1]), int(words[5])))
    for name, buckets in found.sections.items():
        rows = said[name]
        assert [count for _, count in buckets.read] == [read for _, read, _ in rows]
        assert [count for _, count in buckets.write] == [write for *_, write in rows]
        for (bound, _), (key, *_) in zip(buckets.read, rows, strict=True):
            value = int(key.rstrip("KMG")) * SCALES.get(key[-1], 1)
            assert bound == value or (bound == inf and value in (31, 1 << 31))
    if not found.problems:
        assert found.sections.keys() == said.keys()


def quota_lines(text: str) -> Iterator[tuple[str, str]]:
    return pairwise(text.split("\n"))


def check_quota(text: str) -> None:
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    usage, limits = parse_quota_usage(lines), parse_quota_limits(lines)
    pairs = [
        (int(first.split()[2]), [int(word.strip(",")) for word in second.split()
                                 if is_number(word.strip(","))])
        for first, second in quota_lines(text)
        if first.startswith("- id: ") and is_number(" ".join(first.split()[2:]))
    ]  # fmt: skip
    ids = Counter(key for key, _ in pairs)
    for key, used in usage.by_id.items():
        assert (key, [used.files, used.used_bytes // 1024]) in pairs
        assert ids[key] == 1
    for key, limit in limits.by_id.items():
        assert (key, list(limit)) in pairs
        assert ids[key] == 1
    if not usage.problems and usage.is_supported:
        assert len(usage.by_id) == text.count("\n") // 2


def check_recovery(text: str) -> None:
    found = parse_recovery_status(text)
    lines = text.split("\n")[:-1]
    for label, count in (found.clients or {}).items():
        (line,) = (line for line in lines if line.startswith(f"{label}_clients: "))
        assert (
            line.partition(": ")[2].partition("/")[0]
            == f"{line.partition(': ')[2]}"[: len(line.partition(": ")[2].partition("/")[0])]
        )
        assert int(line.partition(": ")[2].partition("/")[0]) == count
    if found.state:
        assert [line for line in lines if line.startswith("status: ")].count(
            f"status: {found.state.upper()}"
        ) == 1
    for name, value in (
        ("time_remaining", found.remaining_seconds),
        ("recovery_duration", found.duration_seconds),
    ):
        if value is not None:
            (line,) = (line for line in lines if line.startswith(f"{name}: "))
            assert int(line.partition(": ")[2]) == value


def check_value(text: str) -> None:
    count = parse_count(text)
    if count is not None:
        assert text.endswith("\n")
        assert is_number(text[:-1])
        assert int(text) == count
    version = parse_version(text)
    assert version in text
    assert version.isascii()
    assert parse_health(text) in (True, False, None)
    word = parse_word(text)
    assert not word or text == f"{word}\n"
    for parse in (parse_target, parse_namespace, parse_mount, parse_export):
        parse(text.rstrip("\n"))


CHECKS: dict[str, tuple[Callable[[str], None], tuple[str, ...], float]] = {
    "stats": (check_stats, (".stats", "md_stats"), 0.4),
    "brw_stats": (check_brw_stats, ("brw_stats",), 0.3),
    "quota": (check_quota, ("acct_user", "acct_group", "glb-usr", "glb-grp"), 0.1),
    "recovery": (check_recovery, ("recovery_status",), 0.1),
    "values": (check_value, ("version", "health_check", "num_exports", "kbytesfree", "jobid_name"),
               0.1),
}  # fmt: skip


def run(kind: str, count: int, seed: int) -> None:
    check, endings, _ = CHECKS[kind]
    random = Random(seed)
    originals = [text.encode() for text in texts(*endings)]
    for text in originals:
        check(text.decode())
    for index in range(count):
        damaged = mutate(random.choice(originals), random).decode("utf-8", "replace")
        try:
            check(damaged)
        except Exception as error:
            raise AssertionError(f"{kind} {seed} {index}: {error!r} in {damaged!r}") from error


@pytest.mark.parametrize("kind", CHECKS)
def test_some_damaged_texts(kind: str) -> None:
    run(kind, 300, seed=1)


@pytest.mark.long
@pytest.mark.ci
@pytest.mark.parametrize("kind", CHECKS)
def test_many_damaged_texts(kind: str) -> None:
    run(kind, share_of(round(MUTATIONS * CHECKS[kind][2])), seed=2)
