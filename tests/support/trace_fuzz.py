# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damage containers in all ways, and check that their reader takes it."""

from __future__ import annotations

import resource
import signal
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from stripewise.core.errors import StripewiseError
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers._join import evidence_of
from stripewise.evidence.containers.container import blocks, scan_records
from stripewise.evidence.trace import expand
from support.containers import parse_container, store_of
from support.trace_samples import mixed_container

SECONDS_PER_INPUT = 20
MORE_MEMORY_BYTES = 3 << 30

_NUMBERS = (
    *(0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 63, 64, 80, 184, 248, 4096, 65535, 1 << 20),
    *(1 << 31, (1 << 32) - 1, 1 << 40, (1 << 62) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1),
)


def mutated(data: bytes, random: Random) -> bytes:
    """A damaged copy; one to four things are wrong with it."""
    damaged = bytearray(data)
    for _ in range(random.randint(1, 4)):
        random.choice((_flip, _number, _record, _record, _record, _block, _cut))(damaged, random)
    return bytes(damaged)


def check_input(data: bytes) -> str:
    """Read a container as far as commands do; the return value is what came of it.

    Raises:
        Exception: Anything but one clear error of ours.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evidence_of([parse_container(data, events=True)])
            if found.trace is not None:
                with patch("stripewise.evidence.trace._calls.MOST_CALLS", 1_000_000):
                    expand(found.trace)
    except StripewiseError as error:
        if not str(error) or "\n" in str(error):
            raise AssertionError(f"not one clear line: {error!r}") from error
        return "error"
    return "partial" if found.profile.partial or found.profile.notes else "read"


def run_inputs(first: int, count: int) -> dict[str, int]:
    """Check the inputs `first` to `first + count`, within bounds of time and memory each.

    Raises:
        AssertionError: One of them was not taken well; its number is told.
    """
    _bound_memory()
    previous = signal.signal(signal.SIGALRM, _too_long)
    outcomes: Counter[str] = Counter()
    whole = mixed_container()
    try:
        for number in range(first, first + count):
            signal.alarm(SECONDS_PER_INPUT)
            try:
                damaged = mutated(whole, Random(number))
                outcomes["same" if damaged == whole else check_input(damaged)] += 1
            except Exception as error:
                raise AssertionError(f"input {number}: {type(error).__name__}: {error}") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return dict(outcomes)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"took more than {SECONDS_PER_INPUT} s")


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_MEMORY_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _flip(data: bytearray, random: Random) -> None:
    for _ in range(random.randint(1, 8)):
        if data:
            data[random.randrange(len(data))] = random.randrange(256)


def _number(data: bytearray, random: Random) -> None:
    size = random.choice((1, 2, 4, 8))
    if len(data) >= 16:
        _store(data, random.randrange(len(data) // 8) * 8, size, random)


def _record(data: bytearray, random: Random) -> None:
    """Damage a member of a record: its size, kind, a count, whatever stands there."""
    places = _records(bytes(data))
    if places:
        size = random.choice((1, 2, 4, 4, 8))
        within = random.choice((0, 4, 6, *range(8, 128, 4)))
        place = random.choice(places) + within
        if place + size <= len(data):
            _store(data, place, size, random)


def _block(data: bytearray, random: Random) -> None:
    """Lose a page, double one, or change a block's header."""
    n_pages = len(data) // c.PAGE
    if n_pages < 2:
        return
    start = random.randrange(1, n_pages) * c.PAGE
    what = random.randrange(4)
    if what == 0:
        data[start : start + c.PAGE] = bytes(c.PAGE)
    elif what == 1:
        data[start:start] = data[start : start + c.PAGE]
    elif what == 2:
        del data[start : start + c.PAGE]
    else:
        _store(data, start + random.choice((0, 4, 6, 8, 16)), random.choice((2, 4, 8)), random)


def _cut(data: bytearray, random: Random) -> None:
    if random.random() < 0.3:
        del data[random.randrange(len(data) + 1) :]


def _store(data: bytearray, place: int, size: int, random: Random) -> None:
    value = random.choice((random.choice(_NUMBERS), random.getrandbits(64)))
    data[place : place + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _records(data: bytes) -> list[int]:
    """Where records begin, and slots."""
    found: list[int] = []
    for block in blocks(store_of(data, "")):
        start = block.offset + c.BLOCK_HEADER.itemsize
        first = c.PROCESS.itemsize if block.kind == c.BlockKind.PROCESS else 0
        offsets, _ = scan_records(data[start : block.end], first)
        found += [start, *(offsets + start).tolist()]
        if block.kind == 3:
            found += [start + 64 + 248 * i for i in range(2)]
    return found
