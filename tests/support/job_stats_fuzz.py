# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of job_stats: what the reader believes of them is what stands there."""

from __future__ import annotations

import re
from random import Random

from stripewise.centre.monitor._records import JobEntry
from stripewise.centre.monitor.collectors import JobsRead, JobStatsReader
from support.job_stats_reference import Entry, reference
from support.job_stats_text import BARE, MDT_ROWS, OST_ROWS, VERSIONS, Target
from support.mutations import mutate

NUMBERS = (2**63, 2**64 - 1, 2**64, 10**20 - 1, 10**20)
IDS = (b"4711", b"4712", b"dd.0", b"a b", b"user:1", b"@x", b"\xc3\xa9", b"\xff\\", b"9")


def fuzz(first: int, cases: int) -> list[str]:
    """Damage texts; return what went wrong, a line each."""
    return [line for seed in range(first, first + cases) for line in check(seed)]


def check(seed: int) -> list[str]:
    """Read a good text, the same damaged, and a good one again."""
    random = Random(seed)
    target = a_target(random)
    reader = JobStatsReader()
    good = reader.read([target.text()])
    assert not good.problems
    assert good.count == len(good.changed)
    some_work(target, random)
    text = target.text()
    damaged = mutate(text, random, most=3)
    damaged = random.choice((same, swap_rows, other_number))(damaged, random)
    try:
        read = reader.read(pieces(damaged, random))
        after = reader.read([text])
    except Exception as error:
        return [f"{seed}: {error!r}"]
    return [f"{seed}: {line}" for line in (*_wrong(read, damaged), *_after(after))]


def a_target(random: Random) -> Target:
    """Return a target with a few jobs."""
    target = Target(random.choice(VERSIONS), random.choice((OST_ROWS, MDT_ROWS)))
    for _ in range(random.randint(1, 12)):
        some_work(target, random)
    return target


def some_work(target: Target, random: Random) -> None:
    """Let a job do something."""
    name = random.choice(target.names)
    target.work(random.choice(IDS), name, random.choice((0, 1, 4096, 10**6, 2**30)),
                random.choice((1, 7, 10**5)))  # fmt: skip


def pieces(text: bytes, random: Random) -> list[bytes]:
    """Cut a text anywhere."""
    cuts = sorted(random.randrange(len(text) + 1) for _ in range(random.randint(0, 5)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def same(text: bytes, random: Random) -> bytes:
    """Leave a text as it is."""
    return text


def other_number(text: bytes, random: Random) -> bytes:
    """Put another number in place of one."""
    found = random.choice(list(re.finditer(rb"\d+", text)) or [None])
    if found is None:
        return text
    number = int(found[0]) if len(found[0]) < 30 else 0
    other = random.choice((number + 1, number - 1, 2 * number, 0, *NUMBERS))
    return text[: found.start()] + b"%d" % other + text[found.end() :]


def swap_rows(text: bytes, random: Random) -> bytes:
    """Lose, double or move whole lines, as a torn read does."""
    lines = text.split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[place : place + random.randint(1, 20)]
        case 1:
            lines[other:other] = lines[place : place + random.randint(1, 40)]
        case _:
            lines.insert(other, lines.pop(place))
    return b"\n".join(lines)


def said(entry: JobEntry) -> tuple[object, ...]:
    """Return an entry as the reference has it."""
    counts = {name: tuple(count) for name, count in entry.operations.items()}
    return entry.snapshot_at, entry.start_at, counts


def _wrong(read: JobsRead, text: bytes) -> list[str]:
    found = reference(b"\n" + text)
    there = {printed: entries[0] for printed, entries in found.items() if len(entries) == 1}
    wrong = [f"invented {entry}" for entry in read.changed if not _stands(entry, there)]
    if len({entry.tag for entry in read.changed}) != len(read.changed):
        wrong.append("the same tag twice")
    if read.count != sum(map(len, found.values())):
        wrong.append(f"{read.count} entries instead of {sum(map(len, found.values()))}")
    if any(entry is None for entries in found.values() for entry in entries) and not read.problems:
        wrong.append("damage without a word")
    if read.gone:
        wrong.append(f"gone after one reading: {read.gone}")
    return wrong


def _stands(entry: JobEntry, there: dict[bytes, Entry | None]) -> bool:
    """Whether an entry stands in the text, under its id if that is printed as it is."""
    bare = [printed for printed in there if printed.strip(b' "') == entry.tag.encode()]
    if entry.tag.encode().strip(bytes(BARE)) == b"" and len(bare) == 1:
        return said(entry) == there[bare[0]]
    return said(entry) in there.values()


def _after(read: JobsRead) -> list[str]:
    return ["gone after damage"] if set(read.gone) & {entry.tag for entry in read.changed} else []
